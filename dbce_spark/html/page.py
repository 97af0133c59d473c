"""Parsing of a capture's HTML to a page: decoded, parsed once, walked once.

The result: blocks with their DOM paths, tokens, and the shape of the tree.
"""

import contextlib
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from lxml import etree

from dbce_spark.config import PageConfig
from dbce_spark.html.charset import decode
from dbce_spark.html.closing_links import Closing, closing_text, cut_closing, recurring
from dbce_spark.html.metadata import Declared, declared
from dbce_spark.html.stray_parts import take_in
from dbce_spark.html.tokens import begins_word, hashed, token_counts, turns_upper
from dbce_spark.model import Blocks, RejectReason

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

Text before and behind one joins, so none of them is a block.

Not <embed>, which has no content, but to libxml2 holds whatever follows it.
"""

JOINED_TAGS = frozenset("sub sup wbr".split())
"""Elements in a line that no word begins or ends at."""

MAX_DEPTH = 2048
"""At an element deeper than this, libxml2 stops reading, and only its log has it: all that follows is lost too."""

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_.-]*")


class _Break(str):
    """The mark of a <br> among the parts of a text. No plain string: Python has but one newline, and a page may have it
    as well."""


_NEWLINE = _Break("\n")
_INLINE, _LINK, _JOINED, _BREAK, _DROPPED, _BLOCK, _PRE = range(7)
"""Kinds of tags for the walk; from _BLOCK on, blocks end there."""
kind_of = {
    **dict.fromkeys(BLOCK_TAGS, _BLOCK),
    **dict.fromkeys(DROPPED_TAGS, _DROPPED),
    "a": _LINK,
    "br": _BREAK,
    "pre": _PRE,
    **dict.fromkeys(JOINED_TAGS, _JOINED),
}.get
_LONG_TAG = 15_000
"""Bytes without an end of a tag that make a page suspect. A tag without them has so few attributes (each takes three
bytes) that libxml2 is through in 0.2 s; 2 % of the gold pages have them, mostly drawings and data in one attribute."""
_NO_TAG = re.compile(rb"<(?:script|style|[^a-z])", re.IGNORECASE)
_CONTROLS = frozenset("input select textarea".split())
_FOREIGN = frozenset(("nofollow", "ugc"))
_OTHERS = ("id", "role", "itemprop", "itemtype")
SlotName = str | tuple[str | None, ...]
"""The name that distinguishes a slot from others under the same: a tag, alone or followed by its class, or by its class
(None: it has none) and the id, role of WAI-ARIA, itemprop and itemtype of schema.org, as the page has them.

Inline elements are distinguished by their tag alone.
"""


class PageError(ValueError):
    """The HTML gives no page, for the reason in the message; `reason` is the one that it is counted under."""

    def __init__(self, message: str, reason: RejectReason = RejectReason.PARSER_FAILED):
        super().__init__(message)
        self.reason = reason


class NoText(PageError):
    """Parsed, but there is no word in it."""


@dataclass(frozen=True, slots=True)
class PageTree:
    """The shape of a page without its text: one entry an element that was not dropped, in document order.

    `parents` are indexes into these lists (-1 for the root). A slot is a place in a template: elements of one name
    under elements of one slot. `slots` are indexes into the three lists of slots: the slot above (-1 for the root's),
    the index of its tag path in `path_names` ("html/body/div"), its name. `firsts` and `lasts` give which blocks begin
    within an element: from, and up to but not including. `holders` and `nths` have one entry a block: the innermost
    block-level element it is in, and which of its parent's children with that tag that is. `controls`, `text_areas`,
    `foreign_links`, `place_links` and `links` have one entry each form control, each of these to write a text in, each
    link that the site does not vouch for (`rel` with nofollow or ugc), each to a place within a page and each link at
    all: the block it stands before, or in. `hrefs` are the targets of `links`, as written.
    """

    parents: list[int]
    slots: list[int]
    slot_parents: list[int]
    slot_paths: list[int]
    slot_names: list[SlotName]
    path_names: list[str]
    firsts: list[int]
    lasts: list[int]
    holders: list[int]
    nths: list[int]
    controls: list[int]
    text_areas: list[int]
    foreign_links: list[int]
    place_links: list[int]
    links: list[int]
    hrefs: list[str]

    @property
    def paths(self) -> list[int]:
        """List the index of each element's tag path."""
        return [self.slot_paths[slot] for slot in self.slots]


@dataclass(frozen=True, slots=True)
class Parsed:
    """The result of one walk over a page. `url` is what it was fetched from, "" if that is unknown."""

    url: str
    charset: str
    charset_source: str
    declared: Declared
    flags: tuple[str, ...]
    blocks: Blocks
    token_starts: npt.NDArray[np.intp]  # of each token, in characters of the page text
    tree: PageTree


def parse(html: bytes, declared_charset: str, config: PageConfig, url: str = "") -> Parsed:
    """Parse a page from its HTML, and the URL that it was fetched from if that is known.

    Raises:
        PageError: too large for one of the limits in `config`, not parseable, or (NoText) without a word.
    """
    if len(html) > config.max_html_bytes:
        message = f"{len(html)} bytes of HTML; page.max_html_bytes is {config.max_html_bytes}"
        raise PageError(message, RejectReason.TOO_LARGE)
    decoded = decode(html, declared_charset)
    _measure(decoded.html, config)
    root, is_cut = _parse(decoded.html)
    walk = _Walk(root, config.max_path_chars)
    if not walk.texts:
        if is_cut:
            raise PageError(f"no word above depth {MAX_DEPTH}, where libxml2 stops", RejectReason.TOO_DEEP)
        raise NoText("no word outside scripts, styles and forms", RejectReason.NO_TEXT)
    blocks, token_starts = walk.blocks()
    flags = {
        "charset_errors": decoded.lossy,
        "deep": is_cut,
        "too_many_blocks": len(blocks) > config.max_blocks,
        "too_many_tokens": len(blocks.tokens) > config.max_tokens,
    }
    return Parsed(
        url=url,
        charset=decoded.charset,
        charset_source=decoded.source,
        declared=declared(root, decoded.html),
        flags=tuple(name for name, is_set in flags.items() if is_set),
        blocks=blocks,
        token_starts=token_starts,
        tree=walk.tree(),
    )


def parse_tree(html: bytes) -> Any:
    """Parse the root element of a page in UTF-8, without comments.

    Raises:
        PageError: lxml finds no element in it.
    """
    return _parse(html)[0]


def _parse(html: bytes) -> tuple[Any, bool]:
    """Parse the root element; return it, and whether libxml2 stopped before the end."""
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True, collect_ids=False
    )
    try:
        root = etree.fromstring(html, parser)
    except (etree.LxmlError, ValueError) as error:
        raise PageError(f"lxml: {error}") from error
    if root is None:
        raise PageError("lxml: no element found")
    take_in(root)
    last = parser.error_log.last_error
    return root, last is not None and last.message.startswith("Excessive depth")


def _measure(html: bytes, config: PageConfig) -> None:
    """Refuse HTML that would keep libxml2 busy for long; nothing can interrupt it.

    Its time grows with the number of tags, and with the square of that of attributes on one. Most pages are too short,
    and their tags too, for either to matter; nothing else is checked of those.
    """
    if len(html) > config.max_tags:
        tags = html.count(b"<")
        if tags > config.max_tags:
            raise PageError(f"{tags} tags; page.max_tags is {config.max_tags}", RejectReason.TOO_MANY_TAGS)
    if len(html) > config.trusted_bytes or _has_long_tag(html):
        target: Any = _AttributeCount(config.max_attributes)
        parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, target=target)
        with contextlib.suppress(etree.LxmlError, _Deep):  # what is wrong besides shows when it is parsed
            etree.fromstring(html, parser)


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


class _Walk:
    """The one pass over the DOM. Iterative, so that depth costs no stack; lists, so that a page costs no objects."""

    def __init__(self, root: Any, max_path_chars: int):
        self._max_path_chars = max_path_chars
        self._path_chars = 0
        self.parents: list[int] = []
        self.slots: list[int] = []
        self.slot_parents: list[int] = []
        self.slot_paths: list[int] = []
        self.slot_names: list[SlotName] = []
        self.path_names: list[str] = []
        self.firsts: list[int] = []
        self.lasts: list[int] = []
        self.holders: list[int] = []
        self.controls: list[int] = []
        self.text_areas: list[int] = []
        self.foreign_links: list[int] = []
        self.place_links: list[int] = []
        self.links: list[int] = []
        self.hrefs: list[str] = []
        self.texts: list[str] = []
        self.link_texts: list[str] = []
        self.link_texts_in: list[int] = []  # of each of these, the block
        self.element_nths: list[int] = []
        self._path_of: dict[tuple[int, str], int] = {}
        self._steps: list[str] = []  # of each path its last step, as XPath writes it
        self._parts: list[str] = []
        self._linked: list[int] = []  # of parts: those in links
        self._link_places: list[int] = []  # of links: the part that comes next
        self._closings: list[Closing] = []
        self._touching: list[int] = []  # of parts: where an element begins right behind the end of another
        self._pre = 0
        self._run(root)
        if chosen := recurring(self._closings, self.link_texts):
            self._set_apart(chosen)

    def _run(self, root: Any) -> None:
        """Walk the tree with plain names and few calls: this loop is a third of the time that a page takes.

        An element's number of children gives its end; asking for events at its start and end costs more.
        """
        parts, texts, parents, slots = self._parts, self.texts, self.parents, self.slots
        linked, touching = self._linked, self._touching
        firsts, lasts, nths = self.firsts, self.lasts, self.element_nths
        slot_parents, slot_paths, slot_names = self.slot_parents, self.slot_paths, self.slot_names
        path_of = self._path_of
        slots_under: list[dict[SlotName, int] | None] = []  # below each slot; most have none
        around: list[Any] = []
        # Of the innermost element that is still open: itself, how many children are to come, its index and kind, the
        # index of the block-level element around its text, its slot, the slots below it, and how many children of each
        # tag were seen. Here: of the place above the root, where no number of children is the last.
        parent, to_come, above, kind_above, holder = None, 0, -1, _INLINE, 0
        slot_above, under, seen = -1, dict[SlotName, int](), dict[str, int]()
        dropped, to_drop, links = None, 0, 0
        ended = -1  # how many parts there were at the end of the element before, if no text stands behind it
        for element in root.iter("*"):
            if to_drop:
                to_drop += len(element) - 1
                if to_drop:
                    continue
                element = dropped
            elif (kind := kind_of(tag := element.tag, _INLINE)) == _DROPPED:
                if tag in _CONTROLS:
                    self._note_control(tag)
                if to_drop := len(element):
                    dropped = element
                    continue
            else:
                key: SlotName = tag
                if kind >= _BLOCK:
                    ended = -1
                    if parts:
                        self._flush(holder)
                    if kind == _PRE:
                        self._pre += 1
                    if attributes := element.items():
                        key = _key(tag, attributes)
                else:
                    if ended == len(parts) and ended:
                        touching.append(ended)
                    if kind == _JOINED:
                        parts.append("")
                    elif kind == _LINK:
                        links += 1
                        self._note_link(element)
                slot = under.get(key)
                if slot is None:
                    slot = under[key] = len(slot_names)
                    path_above = slot_paths[slot_above] if slot_above >= 0 else -1
                    path = path_of.get((path_above, tag))
                    if path is None:
                        path = self._new_path(path_above, tag)
                    slot_parents.append(slot_above)
                    slot_paths.append(path)
                    slot_names.append(key)
                    slots_under.append(None)
                index = len(slots)
                seen[tag] = nth = seen.get(tag, 0) + 1
                nths.append(nth)
                slots.append(slot)
                parents.append(above)
                firsts.append(len(texts))
                lasts.append(0)
                text = element.text
                if text and (parts or not text.isspace()):
                    parts.append(text)
                    if links:
                        linked.append(len(parts) - 1)
                if children := len(element):
                    around.append((parent, to_come, above, kind_above, holder, slot_above, under, seen))
                    parent, to_come, above, kind_above, slot_above = element, children, index, kind, slot
                    below = slots_under[slot]
                    if below is None:
                        below = slots_under[slot] = {}
                    under, seen = below, {}
                    if kind >= _BLOCK:
                        holder = index
                    continue
                if kind == _BLOCK:  # most elements; a call each would cost as much as all else here
                    if parts:
                        self._flush(index)
                elif kind == _LINK:
                    links -= 1
                elif kind:
                    self._leave(kind, index if kind >= _BLOCK else holder)
                lasts[index] = len(texts)
            while True:
                text = element.tail
                if text and (parts or not text.isspace()):
                    parts.append(text)
                    ended = -1
                    if links:
                        linked.append(len(parts) - 1)
                else:
                    ended = len(parts)
                to_come -= 1
                if to_come:
                    break
                if kind_above == _BLOCK:
                    if parts:
                        self._flush(holder)
                elif kind_above == _LINK:
                    links -= 1
                elif kind_above:
                    self._leave(kind_above, holder)
                lasts[above] = len(texts)
                element = parent
                parent, to_come, above, kind_above, holder, slot_above, under, seen = around.pop()

    def _leave(self, kind: int, holder: int) -> None:
        if kind >= _BLOCK:
            if self._parts:
                self._flush(holder)
            self._pre -= kind == _PRE
        elif kind == _BREAK:
            self._line_break(holder)
        elif kind == _JOINED:
            self._parts.append("")

    def _note_control(self, tag: str) -> None:
        self.controls.append(len(self.texts))
        if tag == "textarea":
            self.text_areas.append(len(self.texts))

    def _note_link(self, element: Any) -> None:
        if (rel := element.get("rel")) and not _FOREIGN.isdisjoint(rel.lower().split()):
            self.foreign_links.append(len(self.texts))
        if href := element.get("href"):
            self.links.append(len(self.texts))
            self.hrefs.append(href)
            self._link_places.append(len(self._parts))
            if href.find("#", 0, -1) >= 0:  # a bare # leads nowhere
                self.place_links.append(len(self.texts))

    def _new_path(self, above: int, tag: str) -> int:
        """Add a tag path that the page did not have so far, by the index of the path above; return its index."""
        path = self._path_of[above, tag] = len(self.path_names)
        name = f"{self.path_names[above]}/{tag}" if above >= 0 else tag
        self.path_names.append(name)
        self._steps.append(_node_test(tag))
        self._path_chars += len(name)
        if self._path_chars > self._max_path_chars:
            raise self._too_long()
        return path

    def _line_break(self, holder: int) -> None:
        """Add a line break. One <br> is white space; two with nothing between end a paragraph, as before <p>."""
        for part in reversed(self._parts):
            if part is _NEWLINE:
                self._flush(holder)
                return
            if part and not part.isspace():
                self._parts.append(_NEWLINE)
                return

    def _flush(self, holder: int) -> None:
        parts = self._parts
        if len(parts) > 1 and not self._pre:
            self._part_words()
        self._touching.clear()
        raw = "".join(parts)
        if text := raw.rstrip().strip("\n\r") if self._pre else " ".join(raw.split()):
            if self._linked:
                self._note_linked()
            self.texts.append(text)
            self.holders.append(holder)
        parts.clear()
        self._linked.clear()
        self._link_places.clear()

    def _note_linked(self) -> None:
        """Note the texts in links of the block that ends, and the links that close it."""
        parts, linked, block = self._parts, self._linked, len(self.texts)
        self.link_texts += [parts[at] for at in linked]
        self.link_texts_in += [block] * len(linked)
        if len(parts) > len(linked) and not self._pre:
            first, text = closing_text(parts, linked)
            links = sum(place >= first for place in self._link_places)
            if text and links:
                texts = sum(at >= first for at in linked)
                self._closings.append(Closing(block, text, self.hrefs[-1], links, texts))

    def _set_apart(self, chosen: list[Closing]) -> None:
        """Make the links that close some blocks blocks of their own, behind them."""
        added = np.zeros(len(self.texts) + 1, np.int64)
        for one in chosen:
            added[one.block + 1] = 1
        moved = np.arange(len(added)) + np.cumsum(added)
        for places in (self.firsts, self.lasts, self.controls, self.text_areas, self.foreign_links, self.place_links):
            places[:] = moved[places].tolist()
        self.links = _moved(self.links, {one.block: one.links for one in chosen}, moved)
        self.link_texts_in = _moved(self.link_texts_in, {one.block: one.texts for one in chosen}, moved)
        closings = {one.block: one.text for one in chosen}
        texts, holders = self.texts, self.holders
        self.texts, self.holders = [], []
        for block, (text, holder) in enumerate(zip(texts, holders, strict=True)):
            pieces = cut_closing(text, closings[block]) if block in closings else (text,)
            self.texts += pieces
            self.holders += [holder] * len(pieces)

    def _part_words(self) -> None:
        """Put a space where a word begins right behind another: in the next element, or in what an element touches."""
        parts = self._parts
        for at in self._touching:
            if at < len(parts) and begins_word(parts[at - 1], parts[at]):
                parts[at] = f" {parts[at]}"
        before = ""
        for at, part in enumerate(parts):
            if turns_upper(before, part):
                parts[at] = f" {part}"
            before = part

    def xpaths(self) -> list[str]:
        """Write the XPath of each block; the steps that several share are written once."""
        parents, slots, paths = self.parents, self.slots, self.slot_paths
        nths, node_tests = self.element_nths, self._steps
        written = {-1: ""}
        xpaths = []
        chars = self._path_chars
        for holder in self.holders:
            steps = []
            at = holder
            while at not in written:
                steps.append(at)
                at = parents[at]
            xpath = written[at]
            for at in reversed(steps):
                xpath = written[at] = f"{xpath}/{node_tests[paths[slots[at]]]}[{nths[at]}]"
                chars += len(xpath)
                if chars > self._max_path_chars:
                    raise self._too_long()
            xpaths.append(xpath)
        return xpaths

    def _link_words(self) -> npt.NDArray[np.int32]:
        counts = np.bincount(self.link_texts_in, weights=token_counts(self.link_texts), minlength=len(self.texts))
        return counts[: len(self.texts)].astype(np.int32)

    def _too_long(self) -> PageError:
        return PageError(f"page.max_path_chars is {self._max_path_chars}", RejectReason.PATHS_TOO_LONG)

    def tree(self) -> PageTree:
        """Build the shape of the page."""
        return PageTree(
            parents=self.parents,
            slots=self.slots,
            slot_parents=self.slot_parents,
            slot_paths=self.slot_paths,
            slot_names=self.slot_names,
            path_names=self.path_names,
            firsts=self.firsts,
            lasts=self.lasts,
            holders=self.holders,
            nths=[self.element_nths[holder] for holder in self.holders],
            controls=self.controls,
            text_areas=self.text_areas,
            foreign_links=self.foreign_links,
            place_links=self.place_links,
            links=self.links,
            hrefs=self.hrefs,
        )

    def blocks(self) -> tuple[Blocks, npt.NDArray[np.intp]]:
        """Build the blocks; return them, and where their tokens start in the text."""
        text = "\n".join(self.texts)
        lengths = np.fromiter(map(len, self.texts), np.int32, len(self.texts))
        starts = np.concatenate(([0], np.cumsum(lengths + 1)[:-1])).astype(np.int32)
        token_starts, hashes = hashed(text)
        words = np.diff(np.searchsorted(token_starts, starts), append=len(hashes)).astype(np.int32)
        blocks = Blocks(
            text=text,
            starts=starts,
            ends=starts + lengths,
            xpaths=self.xpaths(),
            words=words,
            # A word in two pieces, as in <a>w</a><a>ord</a>, was counted twice.
            link_words=np.minimum(self._link_words(), words),
            tokens=hashes,
        )
        return blocks, token_starts


def _moved(places: list[int], last: Mapping[int, int], moved: npt.NDArray[np.int64]) -> list[int]:
    """Move places, ascending, to the new indexes of their blocks; so many of the last of some blocks one further."""
    found = moved[places]
    for block, count in last.items():
        end = bisect_right(places, block)
        found[end - count : end] += 1
    new: list[int] = found.tolist()
    return new


def _key(tag: str, attributes: list[tuple[str, str]]) -> SlotName:
    """Name a block-level element's slot."""
    css_class, others = None, None
    for name, value in attributes:
        if name == "class":
            css_class = value
        elif name in _OTHERS:
            if others is None:
                others = {}
            others[name] = value
    if others:
        return tag, css_class, *map(others.get, _OTHERS)
    return tag if css_class is None else (tag, css_class)


@lru_cache(maxsize=4096)
def _node_test(tag: str) -> str:
    """Write a tag as XPath can name it: one such as <o:p>, whose prefix no page declares, only by its string."""
    if _PLAIN_NAME.fullmatch(tag):
        return tag
    quote = "'" if '"' in tag else '"'
    return f"*[name()={quote}{tag}{quote}]"
