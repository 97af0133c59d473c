"""A capture's HTML to a page: decoded, parsed once, walked once.

What comes out: blocks with their DOM paths, tokens, and the shape of the tree.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from lxml import etree

from dbce_spark.charset import decode
from dbce_spark.config import PageConfig
from dbce_spark.model import Blocks
from dbce_spark.tokens import hashed, tokens

BLOCK_TAGS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html isindex legend li listing main menu nav noframes ol"
    " p plaintext pre section summary table tbody td tfoot th thead tr ul xmp".split()
)
"""Elements that begin and end a block (HTML Rendering 15.3: display other than inline)."""

DROPPED_TAGS = frozenset(
    "applet audio canvas datalist frame head iframe input noscript object optgroup option script select style svg"
    " template textarea video".split()
)
"""Elements that go with all they hold: scripts, styles, what is embedded, the machinery of forms (thesis 2.2).

Not <embed>, which has no content, but to libxml2 holds whatever follows it.
"""

MAX_DEPTH = 2048
"""libxml2 drops what lies deeper, without an error, even with `huge_tree`."""

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_.-]*")
_NEWLINE = "\n"
_INLINE, _LINK, _BREAK, _DROPPED, _BLOCK, _PRE = range(6)
"""What the walk does at a tag; from _BLOCK on, blocks end there."""
kind_of = {
    **dict.fromkeys(BLOCK_TAGS, _BLOCK),
    **dict.fromkeys(DROPPED_TAGS, _DROPPED),
    "a": _LINK,
    "br": _BREAK,
    "pre": _PRE,
}.get
_ELEMENT, _PATH, _SEEN, _KIND, _TAG, _NTH, _XPATH = range(7)
"""A frame of the walk: the element's index, its tag path, how many children of each tag were seen, its kind, its tag,
which of its parent's children with that tag it is, and its XPath ("" until a block asks for it). A list, not an object:
there are a thousand a page."""
_DROPPED_FRAME: list[Any] = [-1, 0, None, _INLINE, "", 0, ""]


class PageError(ValueError):
    """The HTML gives no page: the message says why."""


class NoText(PageError):
    """Parsed, but there is no word in it."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The shape of a page without its text: one entry an element that was not dropped, in document order.

    `parents` are indexes into these lists (-1 for the root); `paths` are indexes into `path_names`, the distinct tag
    paths ("html/body/div"). This is all that template shingles are made of.
    """

    parents: list[int]
    paths: list[int]
    path_names: list[str]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one walk over a page gives."""

    charset: str
    charset_source: str
    title: str
    flags: tuple[str, ...]
    blocks: Blocks
    tree: Tree


def parse(html: bytes, declared_charset: str, config: PageConfig) -> Parsed:
    """A page from its HTML.

    Raises:
        PageError: larger than allowed, not parseable, or (NoText) without a word.
    """
    decoded = decode(html, declared_charset)
    root = parse_tree(decoded.html)
    walk = _Walk(root)
    if not walk.texts:
        raise NoText("no word outside scripts, styles and forms")
    blocks = walk.blocks()
    flags = {
        "charset_errors": decoded.lossy,
        "deep": max(name.count("/") for name in walk.path_names) >= MAX_DEPTH - 2,
        "too_many_tokens": len(blocks.tokens) > config.max_tokens,
    }
    return Parsed(
        charset=decoded.charset,
        charset_source=decoded.source,
        title=_title(root),
        flags=tuple(name for name, is_set in flags.items() if is_set),
        blocks=blocks,
        tree=Tree(walk.parents, walk.paths, walk.path_names),
    )


def parse_tree(html: bytes) -> Any:
    """The root element of a page in UTF-8, without comments.

    Raises:
        PageError: lxml finds no element in it.
    """
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True, collect_ids=False
    )
    try:
        root = etree.fromstring(html, parser)
    except (etree.LxmlError, ValueError) as error:
        raise PageError(f"lxml: {error}") from error
    if root is None:
        raise PageError("lxml: no element found")
    return root


def _title(root: Any) -> str:
    return " ".join((root.findtext("head/title") or root.findtext(".//title") or "").split())


class _Walk:
    """The one pass over the DOM. Iterative, so that depth costs no stack; lists, so that a page costs no objects."""

    def __init__(self, root: Any):
        self.parents: list[int] = []
        self.paths: list[int] = []
        self.path_names: list[str] = []
        self.texts: list[str] = []
        self.xpaths: list[str] = []
        self.link_words: list[int] = []
        self._parts: list[str] = []
        self._links = 0
        self._link_words = 0
        self._pre = 0
        self._run(root)

    def _run(self, root: Any) -> None:
        """Plain names and few calls: this loop is a third of the time that a page takes."""
        parts, parents, paths = self._parts, self.parents, self.paths
        children_of_path: list[dict[str, int]] = [{}]
        frame: list[Any] = [-1, 0, None, _INLINE, "", 0, ""]
        stack = [frame]
        walker = etree.iterwalk(root, events=("start", "end"))
        for event, element in walker:
            if event == "start":
                tag = element.tag
                kind = kind_of(tag, _INLINE)
                seen = frame[_SEEN]
                if seen is None:
                    seen = frame[_SEEN] = {}
                seen[tag] = nth = seen.get(tag, 0) + 1
                if kind == _DROPPED:
                    walker.skip_subtree()
                    stack.append(_DROPPED_FRAME)
                    continue
                if kind:
                    self._enter(kind, stack)
                siblings = children_of_path[frame[_PATH]]
                path = siblings.get(tag)
                if path is None:
                    path = siblings[tag] = self._new_path(frame[_PATH], tag)
                    children_of_path.append({})
                parents.append(frame[_ELEMENT])
                frame = [len(paths), path, None, kind, tag, nth, ""]
                paths.append(path - 1)
                stack.append(frame)
                text = element.text
            else:
                kind = stack[-1][_KIND]
                if kind:
                    self._leave(kind, stack)
                stack.pop()
                frame = stack[-1]
                text = element.tail
            if text and (parts or not text.isspace()):
                parts.append(text)
                if self._links:
                    self._link_words += len(tokens(text))
        if parts:
            self._flush(stack)

    def _enter(self, kind: int, stack: list[list[Any]]) -> None:
        if kind >= _BLOCK:
            if self._parts:
                self._flush(stack)
            self._pre += kind == _PRE
        elif kind == _LINK:
            self._links += 1

    def _leave(self, kind: int, stack: list[list[Any]]) -> None:
        if kind >= _BLOCK:
            if self._parts:
                self._flush(stack)
            self._pre -= kind == _PRE
        elif kind == _LINK:
            self._links -= 1
        elif kind == _BREAK:
            self._line_break(stack)

    def _new_path(self, parent: int, tag: str) -> int:
        """Paths are numbered from 1 during the walk; 0 is the place above the root."""
        self.path_names.append(f"{self.path_names[parent - 1]}/{tag}" if parent else tag)
        return len(self.path_names)

    def _line_break(self, stack: list[list[Any]]) -> None:
        """One <br> is white space; two with nothing between end a paragraph, as they did before anyone wrote <p>."""
        for part in reversed(self._parts):
            if part is _NEWLINE:
                self._flush(stack)
                return
            if not part.isspace():
                self._parts.append(_NEWLINE)
                return

    def _flush(self, stack: list[list[Any]]) -> None:
        raw = "".join(self._parts)
        self._parts.clear()
        link_words, self._link_words = self._link_words, 0
        split = raw.split()
        if not split:
            return
        text = raw.rstrip().strip("\n\r") if self._pre else " ".join(split)
        self.texts.append(text)
        self.link_words.append(link_words)
        self.xpaths.append(_xpath(stack))

    def blocks(self) -> Blocks:
        text = "\n".join(self.texts)
        lengths = np.fromiter(map(len, self.texts), np.int32, len(self.texts))
        starts = np.concatenate(([0], np.cumsum(lengths + 1)[:-1])).astype(np.int32)
        token_starts, hashes = hashed(text)
        words = np.diff(np.searchsorted(token_starts, starts), append=len(hashes)).astype(np.int32)
        return Blocks(
            text=text,
            starts=starts,
            ends=starts + lengths,
            xpaths=self.xpaths,
            words=words,
            # A word in two pieces, as in <a>w</a><a>ord</a>, was counted twice.
            link_words=np.minimum(np.array(self.link_words, np.int32), words),
            tokens=hashes,
        )


def _xpath(stack: list[list[Any]]) -> str:
    """The path of the innermost block-level element on the stack; each step is written once, and kept in its frame."""
    at = len(stack) - 1
    while at > 1 and stack[at][_KIND] < _BLOCK:
        at -= 1
    known = at
    while known > 0 and not stack[known][_XPATH]:
        known -= 1
    xpath: str = stack[known][_XPATH]
    for frame in stack[known + 1 : at + 1]:
        xpath = frame[_XPATH] = f"{xpath}/{_node_test(frame[_TAG])}[{frame[_NTH]}]"
    return xpath


@lru_cache(maxsize=4096)
def _node_test(tag: str) -> str:
    """A tag as XPath can name it: one such as <o:p>, whose prefix no page declares, only by its string."""
    if _PLAIN_NAME.fullmatch(tag):
        return tag
    quote = "'" if '"' in tag else '"'
    return f"*[name()={quote}{tag}{quote}]"
