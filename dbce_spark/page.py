"""A capture's HTML to a page: decoded, parsed once, walked once.

What comes out: blocks with their DOM paths, tokens, and the shape of the tree.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
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
_ELEMENT, _SLOT, _SEEN, _KIND, _TAG, _NTH, _XPATH = range(7)
"""A frame of the walk: the element's index, its slot, how many children of each tag were seen, its kind, its tag, which
of its parent's children with that tag it is, and its XPath ("" until a block asks for it). A list, not an object: there
are a thousand a page."""
_DROPPED_FRAME: list[Any] = [-1, 0, None, _INLINE, "", 0, ""]
_CONTROLS = frozenset("input select textarea".split())
_FOREIGN = frozenset(("nofollow", "ugc"))
_NAMES = ("class", "id", "role", "itemprop", "itemtype")


class PageError(ValueError):
    """The HTML gives no page: the message says why."""


class NoText(PageError):
    """Parsed, but there is no word in it."""


class Slot(NamedTuple):
    """A place in a template: elements of one tag and the same attributes, under elements of one slot.

    Inline elements are told apart by their tag alone.
    """

    parent: int  # index of the slot above, -1 for the root's
    path: int  # index of its tag path
    tag: str
    css_class: str = ""  # as the page has it, like those that follow
    html_id: str = ""
    role: str = ""  # of WAI-ARIA
    itemprop: str = ""  # of schema.org, like the next
    itemtype: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    """The shape of a page without its text: one entry an element that was not dropped, in document order.

    `parents` are indexes into these lists (-1 for the root); `slots` are indexes into `slot_table`, whose paths are
    indexes into `path_names`, the distinct tag paths ("html/body/div"). `firsts` and `lasts` say which blocks begin
    within an element: from, and up to but not including. `holders` and `nths` have one entry a block: the innermost
    block-level element it is in, and which of its parent's children with that tag that is. The last four have one entry
    each form control, each of these to write a text in, each link that the site does not vouch for (`rel` with nofollow
    or ugc) and each to a place within a page: the block it stands before, or in.
    """

    parents: list[int]
    slots: list[int]
    slot_table: list[Slot]
    path_names: list[str]
    firsts: list[int]
    lasts: list[int]
    holders: list[int]
    nths: list[int]
    controls: list[int]
    text_areas: list[int]
    foreign_links: list[int]
    place_links: list[int]

    @property
    def paths(self) -> list[int]:
        """Of each element, the index of its tag path."""
        return [self.slot_table[slot].path for slot in self.slots]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one walk over a page gives."""

    charset: str
    charset_source: str
    title: str
    flags: tuple[str, ...]
    blocks: Blocks
    token_starts: npt.NDArray[np.intp]  # of each token, in characters of the page text
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
    blocks, token_starts = walk.blocks()
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
        token_starts=token_starts,
        tree=Tree(
            parents=walk.parents,
            slots=walk.slots,
            slot_table=walk.slot_table,
            path_names=walk.path_names,
            firsts=walk.firsts,
            lasts=walk.lasts,
            holders=walk.holders,
            nths=walk.nths,
            controls=walk.controls,
            text_areas=walk.text_areas,
            foreign_links=walk.foreign_links,
            place_links=walk.place_links,
        ),
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
        self.slots: list[int] = []
        self.slot_table: list[Slot] = []
        self.path_names: list[str] = []
        self.firsts: list[int] = []
        self.lasts: list[int] = []
        self.holders: list[int] = []
        self.nths: list[int] = []
        self.controls: list[int] = []
        self.text_areas: list[int] = []
        self.foreign_links: list[int] = []
        self.place_links: list[int] = []
        self.texts: list[str] = []
        self.xpaths: list[str] = []
        self.link_words: list[int] = []
        self._path_of: dict[tuple[int, str], int] = {}
        self._parts: list[str] = []
        self._links = 0
        self._link_words = 0
        self._pre = 0
        self._run(root)

    def _run(self, root: Any) -> None:
        """Plain names and few calls: this loop is a third of the time that a page takes."""
        parts, parents, slots, texts = self._parts, self.parents, self.slots, self.texts
        firsts, lasts = self.firsts, self.lasts
        slots_under: list[dict[tuple[str, tuple[str | None, ...]], int]] = [{}]
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
                    if tag in _CONTROLS:
                        self.controls.append(len(texts))
                        if tag == "textarea":
                            self.text_areas.append(len(texts))
                    walker.skip_subtree()
                    stack.append(_DROPPED_FRAME)
                    continue
                if kind:
                    self._enter(kind, stack)
                    if kind == _LINK:
                        self._look_at_link(element)
                names = tuple(map(element.get, _NAMES)) if kind >= _BLOCK else ()
                under = slots_under[frame[_SLOT]]
                slot = under.get((tag, names))
                if slot is None:
                    slot = under[tag, names] = self._new_slot(frame[_SLOT], tag, names)
                    slots_under.append({})
                firsts.append(len(texts))
                lasts.append(0)
                parents.append(frame[_ELEMENT])
                frame = [len(slots), slot, None, kind, tag, nth, ""]
                slots.append(slot - 1)
                stack.append(frame)
                text = element.text
            else:
                ended = stack[-1]
                if ended[_KIND]:
                    self._leave(ended[_KIND], stack)
                if ended[_ELEMENT] >= 0:
                    lasts[ended[_ELEMENT]] = len(texts)
                stack.pop()
                frame = stack[-1]
                text = element.tail
            if text and (parts or not text.isspace()):
                parts.append(text)
                if self._links:
                    self._link_words += len(tokens(text))
        if parts:
            self._flush(stack)
            lasts[0] = len(texts)

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

    def _look_at_link(self, element: Any) -> None:
        if (rel := element.get("rel")) and not _FOREIGN.isdisjoint(rel.lower().split()):
            self.foreign_links.append(len(self.texts))
        if "#" in (element.get("href") or "")[:-1]:  # a bare # leads nowhere
            self.place_links.append(len(self.texts))

    def _new_slot(self, parent: int, tag: str, names: tuple[str | None, ...]) -> int:
        """Slots are numbered from 1 during the walk; 0 is the place above the root."""
        parent_path = self.slot_table[parent - 1].path if parent else -1
        path = self._path_of.get((parent_path, tag))
        if path is None:
            path = self._path_of[parent_path, tag] = len(self.path_names)
            self.path_names.append(f"{self.path_names[parent_path]}/{tag}" if parent else tag)
        self.slot_table.append(Slot(parent - 1, path, tag, *(name or "" for name in names)))
        return len(self.slot_table)

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
        holder = _holder(stack)
        self.holders.append(max(0, stack[holder][_ELEMENT]))
        self.nths.append(stack[holder][_NTH])
        self.xpaths.append(_xpath(stack, holder))

    def blocks(self) -> tuple[Blocks, npt.NDArray[np.intp]]:
        """The blocks, and where their tokens start in the text."""
        text = "\n".join(self.texts)
        lengths = np.fromiter(map(len, self.texts), np.int32, len(self.texts))
        starts = np.concatenate(([0], np.cumsum(lengths + 1)[:-1])).astype(np.int32)
        token_starts, hashes = hashed(text)
        words = np.diff(np.searchsorted(token_starts, starts), append=len(hashes)).astype(np.int32)
        blocks = Blocks(
            text=text,
            starts=starts,
            ends=starts + lengths,
            xpaths=self.xpaths,
            words=words,
            # A word in two pieces, as in <a>w</a><a>ord</a>, was counted twice.
            link_words=np.minimum(np.array(self.link_words, np.int32), words),
            tokens=hashes,
        )
        return blocks, token_starts


def _holder(stack: list[list[Any]]) -> int:
    """Where the innermost block-level element is on the stack."""
    at = len(stack) - 1
    while at > 1 and stack[at][_KIND] < _BLOCK:
        at -= 1
    return at


def _xpath(stack: list[list[Any]], at: int) -> str:
    """The path of an element on the stack; each step is written once, and kept in its frame."""
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
