"""Parse HTML to a DOM tree, within limits of what lxml may take for it."""

import contextlib
import re
from collections.abc import Mapping
from typing import Any

from lxml import etree

from dbce_spark.config import PageConfig
from dbce_spark.html.formula_copies import drop_copies
from dbce_spark.html.scriptless_text import take_in_scriptless
from dbce_spark.html.stray_parts import take_in_stray_parts
from dbce_spark.html.untagged_text import as_code
from dbce_spark.model import RejectReason

MAX_DEPTH = 2048
"""At an element deeper than this, libxml2 stops reading, and only its log has it: all that follows is lost too."""

_LONG_TAG = 15_000
"""Bytes without an end of a tag that make a page suspect. A tag without them has so few attributes (each takes three
bytes) that libxml2 is through in 0.2 s; 2 % of the gold pages have them, mostly drawings and data in one attribute."""
_FED = 1 << 18
"""Bytes that libxml2 is given at a time: it reads all of them, even where its target has raised an error."""
_NO_FRAMES = re.compile(rb"(</?no)frames\b", re.IGNORECASE)
_EMPTY_SCRIPT = re.compile(rb"<(script|style)((?:\s[^<>]*)?)/>(?=.*?<(/)?\1\b)(?(3)|(?!))", re.IGNORECASE | re.DOTALL)
"""A tag that libxml2 takes for a whole element, and browsers for the start of what ends at the next end tag. Where
another starts before that, the slash is meant."""
_TITLE_END = re.compile(rb"</title", re.IGNORECASE)
_OPEN_TITLE = re.compile(rb"<title\b[^<>]*>[^<]*(?=<)", re.IGNORECASE)
_NOT_AS_MEANT = re.compile(rb"<[/nNsS][nNoOcCtT](?:[oO]?[fF][rR]|[^<>]*/>)")
"""The beginning of what either of these finds, and of little else: for nearly all pages one look is enough."""
_NO_TAG = re.compile(rb"<(?:script|style|[^a-z])", re.IGNORECASE)


class PageError(ValueError):
    """The HTML gives no page, for the reason in the message; `reason` is the one that it is counted under."""

    def __init__(self, message: str, reason: RejectReason = RejectReason.PARSER_FAILED):
        super().__init__(message)
        self.reason = reason


def parse_tree(html: bytes) -> Any:
    """Parse the root element of a page in UTF-8, without comments.

    Raises:
        PageError: lxml finds no element in it.
    """
    return parse_dom(html)[0]


def parse_dom(html: bytes) -> tuple[Any, bool]:
    """Parse the root element of a page in UTF-8, without comments and with each formula once; return it, and whether
    libxml2 stopped before the end.

    Raises:
        PageError: lxml finds no element in it.
    """
    root, is_cut = parse_written(html)
    drop_copies(root)
    return root, is_cut


def parse_written(html: bytes) -> tuple[Any, bool]:
    """Parse a page as `parse_dom` does, but with all copies of a formula: readers' labels are of these texts.

    Raises:
        PageError: lxml finds no element in it.
    """
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True, collect_ids=False
    )
    html = _as_meant(html)
    try:
        root = etree.fromstring(html, parser)
        if root is not None and root.find("body") is None and (mended := _with_title_end(html)) != html:
            root = etree.fromstring(mended, parser)
    except (etree.LxmlError, ValueError) as error:
        raise PageError(f"lxml: {error}") from error
    if root is None:
        raise PageError("lxml: no element found", RejectReason.NO_TEXT)
    take_in_stray_parts(root)
    take_in_scriptless(root)
    last = parser.error_log.last_error
    return root, last is not None and last.message.startswith("Excessive depth")


def parse_unrepaired(html: str) -> Any:
    """Parse the root element of a page as libxml2 has it: comments stay, and stray parts lie where it leaves them. None
    of a page without an element."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    return etree.fromstring(html.encode("utf-8", "replace"), parser) if html.strip() else None


def measure(html: bytes, config: PageConfig) -> None:
    """Refuse HTML that would keep libxml2 busy for long; nothing can interrupt it.

    Its time grows with the number of tags, and with the square of that of attributes on one. Most pages are too short,
    and their tags too, for either to matter; nothing else is checked of those.

    Raises:
        PageError: it has more tags, or more attributes on one, than `config` allows.
    """
    if len(html) > config.max_tags:
        tags = html.count(b"<")
        if tags > config.max_tags:
            raise PageError(f"{tags} tags; page.max_tags is {config.max_tags}", RejectReason.TOO_MANY_TAGS)
    if len(html) > config.trusted_bytes or _has_long_tag(html):
        target: Any = _AttributeCount(config.max_attributes)
        parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, target=target)
        meant = _with_title_end(_as_meant(html))
        with contextlib.suppress(etree.LxmlError, _Deep):  # what is wrong besides shows when it is parsed
            for start in range(0, len(meant), _FED):
                parser.feed(meant[start : start + _FED])
            parser.close()


def _as_meant(html: bytes) -> bytes:
    """Make <noscript> of <noframes>, which libxml2 has as text with its tags, start tags of <script .../> and
    <style .../> that have a content, and code of text without a tag."""
    html = as_code(html)
    if not _NOT_AS_MEANT.search(html):
        return html
    html = _NO_FRAMES.sub(rb"\1script", html)
    return _EMPTY_SCRIPT.sub(rb"<\1\2>", html)


def _with_title_end(html: bytes) -> bytes:
    """End a title that never ends before the next tag."""
    return html if _TITLE_END.search(html) else _OPEN_TITLE.sub(rb"\g<0></title>", html)


def _has_long_tag(html: bytes) -> bool:
    for start in range(0, len(html) - _LONG_TAG, _LONG_TAG):
        end = start + _LONG_TAG
        if html.find(b">", start, end) < 0 and not _NO_TAG.match(html, max(0, html.rfind(b"<", 0, end))):
            return True
    return False


class _Deep(Exception):
    """The depth at which libxml2 stops."""


class _AttributeCount:
    """A parser target that counts attributes. libxml2 then builds no tree, which is where many attributes take long."""

    def __init__(self, limit: int):
        self._limit = limit
        self._depth = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if len(attributes) > self._limit:
            message = f"<{tag}> has {len(attributes)} attributes; page.max_attributes is {self._limit}"
            raise PageError(message, RejectReason.TOO_MANY_ATTRIBUTES)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Deep

    def end(self, tag: str) -> None:
        self._depth -= 1

    def close(self) -> None:
        """Do nothing; the target of a parser must have it."""
