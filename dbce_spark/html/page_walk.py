"""Walk over the DOM of a page once: its blocks of text, and the shape of its tree."""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.html.closing_links import Closing, closing_texts, cut_closing, recurring
from dbce_spark.html.dom import PageError
from dbce_spark.html.elements import BLOCK_TAGS, CODE_TAGS, DROPPED_TAGS, JOINED_TAGS, is_line_of_code
from dbce_spark.html.table_rows import LINE_BREAK, Elements, separators
from dbce_spark.html.tokens import are_words, begins_word, hashed, token_counts, turns_upper
from dbce_spark.model import Blocks, RejectReason

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_.-]*")
_INLINE, _LINK, _JOINED, _BOX, _BREAK, _CODE, _LINE, _DROPPED, _BLOCK, _PRE = range(10)
"""Kinds of tags for the walk; from _BLOCK on, blocks end there. _PRE are those like <pre>, _CODE inline ones in these,
and _LINE those of them that a style makes lines. A _BOX has words beside it, but stands in none."""
kind_of = {
    **dict.fromkeys(BLOCK_TAGS, _BLOCK),
    **dict.fromkeys(DROPPED_TAGS, _DROPPED),
    "a": _LINK,
    "br": _BREAK,
    "button": _BOX,
    "img": _BOX,
    **dict.fromkeys(CODE_TAGS, _PRE),
    **dict.fromkeys(JOINED_TAGS, _JOINED),
}.get
_CONTROLS = frozenset("input select textarea".split())
_FOREIGN = frozenset(("nofollow", "ugc"))
_OTHERS = ("id", "role", "itemprop", "itemtype")
SlotName = str | tuple[str | None, ...]
"""The name that distinguishes a slot from others under the same: a tag, alone or followed by its class, or by its class
(None: it has none) and the id, role of WAI-ARIA, itemprop and itemtype of schema.org, as the page has them.

Inline elements are distinguished by their tag alone.
"""


@dataclass(frozen=True, slots=True)
class PageTree:
    """The shape of a page without its text: one entry an element that was not dropped, in document order.

    `parents` are indexes into these lists (-1 for the root). A slot is a place in a template: elements of one name
    under elements of one slot. `slots` are indexes into the three lists of slots: the slot above (-1 for the root's),
    the index of its tag path in `path_names` ("html/body/div"), its name. `firsts` and `lasts` give which blocks begin
    within an element: from, and up to but not including. `holders` and `nths` have one entry a block: the innermost
    block-level element it is in, and which of its parent's children with that tag that is.
    `control_blocks`, `text_area_blocks`, `foreign_link_blocks`, `place_link_blocks` and `link_blocks` have one entry
    each form control, each of these to write a text in, each link that the site does not vouch for (`rel` with nofollow
    or ugc), each to a place within a page and each link at all: the block it stands before, or in. `hrefs` are the
    targets of these last, as written.
    """

    parents: list[int] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)
    slot_parents: list[int] = field(default_factory=list)
    slot_paths: list[int] = field(default_factory=list)
    slot_names: list[SlotName] = field(default_factory=list)
    path_names: list[str] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    lasts: list[int] = field(default_factory=list)
    holders: list[int] = field(default_factory=list)
    nths: list[int] = field(default_factory=list)
    control_blocks: list[int] = field(default_factory=list)
    text_area_blocks: list[int] = field(default_factory=list)
    foreign_link_blocks: list[int] = field(default_factory=list)
    place_link_blocks: list[int] = field(default_factory=list)
    link_blocks: list[int] = field(default_factory=list)
    hrefs: list[str] = field(default_factory=list)

    @property
    def paths(self) -> list[int]:
        """List the index of each element's tag path."""
        return [self.slot_paths[slot] for slot in self.slots]


class PageWalk:
    """The one pass over the DOM. Iterative, so that depth costs no stack; lists, so that a page costs no objects."""

    def __init__(self, root: Any, max_path_chars: int):
        self._root = root
        self._max_path_chars = max_path_chars
        self._path_chars = 0
        self.tree = PageTree()
        self.texts: list[str] = []
        self.link_texts: list[str] = []
        self.link_texts_in: list[int] = []  # of each of these, the block
        self._nths: list[int] = []  # of each element
        self._path_of: dict[tuple[int, str], int] = {}
        self._steps: list[str] = []  # of each path its last step, as XPath writes it
        self._parts: list[str] = []
        self._linked: list[int] = []  # of parts: those in links
        self._link_places: list[int] = []  # of links: the part that comes next
        self._is_to_place = False  # the last link
        self._closings: list[Closing] = []
        self._touching: list[int] = []  # of parts: where an element begins right behind the end of another
        self._boxes: list[int] = []  # of parts: where an image stands before it, or a button begins or ends
        self._pre = 0
        self._has_break = False  # of parts: whether one is a <br>, outside of <pre>
        self._blank = 0  # of parts: so many of the first ones are known to be white space
        self._run(root)
        if chosen := recurring(self._closings, self.link_texts):
            self._set_apart(chosen)
        self.tree.nths.extend(self._nths[holder] for holder in self.tree.holders)

    def _run(self, root: Any) -> None:
        """Walk the tree with plain names and few calls: this loop is a third of the time that a page takes.

        An element's number of children gives its end; asking for events at its start and end costs more.
        """
        tree, parts, texts, linked = self.tree, self._parts, self.texts, self._linked
        touching, boxes = self._touching, self._boxes
        parents, slots, firsts, lasts, nths = tree.parents, tree.slots, tree.firsts, tree.lasts, self._nths
        slot_parents, slot_paths, slot_names = tree.slot_parents, tree.slot_paths, tree.slot_names
        path_of = self._path_of
        slots_under: list[dict[SlotName, int] | None] = []  # below each slot; most have none
        around: list[Any] = []
        # Of the innermost element that is still open: itself, how many children are to come, its index and kind, the
        # index of the block-level element around its text, its slot, the slots below it, and how many children of each
        # tag were seen. Here: of the place above the root, where no number of children is the last.
        parent, to_come, above, kind_above, holder = None, 0, -1, _INLINE, 0
        slot_above, under, seen = -1, dict[SlotName, int](), dict[str, int]()
        dropped, to_drop, links, block = None, 0, 0, 0
        inline = _INLINE  # within <pre>, _CODE
        ended = -1  # how many parts there were at the end of the element before, if no text stands behind it
        for element in root.iter("*"):
            if to_drop:
                to_drop += len(element) - 1
                if to_drop:
                    continue
                element = dropped
            elif (kind := kind_of(tag := element.tag, inline)) == _DROPPED:
                if tag in _CONTROLS:
                    self._note_control(element)
                if to_drop := len(element):
                    dropped = element
                    continue
            else:
                key: SlotName = tag
                if kind >= _BLOCK:
                    ended = -1
                    if parts:
                        self._flush(holder)
                        block = len(texts)
                    if kind == _PRE:
                        self._pre += 1
                        inline = _CODE
                    if attributes := element.items():
                        key = _key(tag, attributes)
                else:
                    if ended == len(parts) and ended:
                        touching.append(ended)
                    if kind:  # most have none
                        if kind == _LINK:
                            links += 1
                            self._note_link(element, block)
                        elif kind == _JOINED:
                            parts.append("")
                        elif kind == _BOX and not inline:
                            boxes.append(len(parts))
                        elif kind in (_BOX, _CODE):
                            kind = self._begin_code(element)
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
                firsts.append(block)
                lasts.append(0)
                text = element.text
                if text and (parts or not text.isspace() or inline):
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
                        block = len(texts)
                elif kind == _LINK:
                    links -= 1
                elif kind:
                    self._leave(kind, index if kind >= _BLOCK else holder)
                    inline, block = _CODE if self._pre else _INLINE, len(texts)
                lasts[index] = block
            while True:
                text = element.tail
                if text and (parts or not text.isspace() or inline):
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
                        block = len(texts)
                elif kind_above == _LINK:
                    links -= 1
                elif kind_above:
                    self._leave(kind_above, holder)
                    inline, block = _CODE if self._pre else _INLINE, len(texts)
                lasts[above] = block
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
        elif kind == _BOX:
            self._boxes.append(len(self._parts))
        elif kind == _LINE:
            self._begin_line()

    def _note_control(self, control: Any) -> None:
        """Note a form control. One that is shown stands between words."""
        self.tree.control_blocks.append(len(self.texts))
        if control.tag == "textarea":
            self.tree.text_area_blocks.append(len(self.texts))
        if self._parts and not self._pre and (control.get("type") or "").strip().lower() != "hidden":
            self._parts.append(" ")

    def _note_link(self, element: Any, block: int) -> None:
        tree = self.tree
        if (rel := element.get("rel")) and not _FOREIGN.isdisjoint(rel.lower().split()):
            tree.foreign_link_blocks.append(block)
        if href := element.get("href"):
            tree.link_blocks.append(block)
            tree.hrefs.append(href)
            self._link_places.append(len(self._parts))
            self._is_to_place = href.find("#", 0, -1) >= 0  # a bare # leads nowhere
            if self._is_to_place:
                tree.place_link_blocks.append(block)

    def _new_path(self, above: int, tag: str) -> int:
        """Add a tag path that the page did not have so far, by the index of the path above; return its index."""
        names = self.tree.path_names
        path = self._path_of[above, tag] = len(names)
        name = f"{names[above]}/{tag}" if above >= 0 else tag
        names.append(name)
        self._steps.append(_node_test(tag))
        self._path_chars += len(name)
        if self._path_chars > self._max_path_chars:
            raise self._too_long()
        return path

    def _begin_code(self, element: Any) -> int:
        """Begin an inline element within <pre>; return its kind."""
        if not is_line_of_code(element):
            return _INLINE
        self._begin_line()
        return _LINE

    def _begin_line(self) -> None:
        """Begin a line within <pre>, if none begins here."""
        if self._parts and not self._parts[-1].endswith(("\n", LINE_BREAK)):
            self._parts.append("\n")

    def _line_break(self, holder: int) -> None:
        """Add a line break. One <br> ends a line; two with nothing between end a paragraph, as before <p>."""
        for part in islice(reversed(self._parts), len(self._parts) - self._blank):
            if part == LINE_BREAK:
                self._flush(holder)
                return
            if part and not part.isspace():
                self._parts.append(LINE_BREAK)
                self._has_break = not self._pre
                return
        self._blank = len(self._parts)

    def _flush(self, holder: int) -> None:
        parts, linked = self._parts, self._linked
        raw = parts[0]
        if len(parts) > 1:
            if not self._pre:
                self._part_words()
            raw = "".join(parts)
        self._touching.clear()
        self._boxes.clear()
        if self._pre:
            text = _code(raw)
        elif self._has_break:
            text = _lines(raw)
            self._has_break = False
        else:
            text = " ".join(raw.split())
        if text:
            if linked:
                self._note_linked()
            self.texts.append(text)
            self.tree.holders.append(holder)
        parts.clear()
        self._blank = 0
        linked.clear()
        self._link_places.clear()

    def _note_linked(self) -> None:
        """Note the texts in links of the block that ends, and the links that close it."""
        parts, linked, block = self._parts, self._linked, len(self.texts)
        self.link_texts += [parts[at] for at in linked]
        self.link_texts_in += [block] * len(linked)
        places = self._link_places
        may_close = len(parts) > len(linked) or (len(places) > 1 and self._is_to_place)
        if places and may_close and not self._pre:
            target = self.tree.hrefs[-1]
            for first, text in closing_texts(parts, linked, places, to_place=self._is_to_place):
                links = sum(place >= first for place in places)
                texts = sum(at >= first for at in linked)
                self._closings.append(Closing(block, text, target, links, texts))

    def _set_apart(self, chosen: list[Closing]) -> None:
        """Make the links that close some blocks blocks of their own, behind them."""
        added = np.zeros(len(self.texts) + 1, np.int64)
        for one in chosen:
            added[one.block + 1] = 1
        moved = np.arange(len(added)) + np.cumsum(added)
        tree = self.tree
        links = (tree.foreign_link_blocks, tree.place_link_blocks)
        for places in (tree.firsts, tree.lasts, tree.control_blocks, tree.text_area_blocks, *links):
            places[:] = moved[places].tolist()
        tree.link_blocks[:] = _moved(tree.link_blocks, {one.block: one.links for one in chosen}, moved)
        self.link_texts_in = _moved(self.link_texts_in, {one.block: one.texts for one in chosen}, moved)
        closings = {one.block: one.text for one in chosen}
        texts, self.texts = self.texts, []
        for block, text in enumerate(texts):
            self.texts += cut_closing(text, closings[block]) if block in closings else (text,)
        tree.holders[:] = np.repeat(tree.holders, added[1:] + 1).tolist()

    def _part_words(self) -> None:
        """Put a space where a word begins right behind another: in the next element, in what an element touches, or
        behind an image or the edge of a button."""
        parts = self._parts
        for at in self._boxes:
            if 0 < at < len(parts) and are_words(parts[at - 1], parts[at]):
                parts[at] = f" {parts[at]}"
        for at in self._touching:
            if at < len(parts) and begins_word(parts[at - 1], parts[at]):
                parts[at] = f" {parts[at]}"
        if self._touching and self._link_places:
            self._part_links()
        before = ""
        for at, part in enumerate(parts):
            if turns_upper(before, part):
                parts[at] = f" {part}"
            before = part

    def _part_links(self) -> None:
        """Put a space between the words of two links that touch and lead to different places, and where a number in a
        link touches one in another element."""
        parts, linked, places = self._parts, {*self._linked}, self._link_places
        target = ""
        for at, href in zip(places, self.tree.hrefs[-len(places) :], strict=True):
            if href != target and at in linked and at - 1 in linked and are_words(parts[at - 1], parts[at]):
                parts[at] = f" {parts[at]}"
            target = href
        for at in self._touching:
            is_edge = (at in linked) != (at - 1 in linked)
            if is_edge and at < len(parts) and parts[at - 1][-1:].isdigit() and parts[at][:1].isdigit():
                parts[at] = f" {parts[at]}"

    def xpaths(self) -> list[str]:
        """Write the XPath of each block; the steps that several share are written once."""
        tree = self.tree
        parents, slots, paths = tree.parents, tree.slots, tree.slot_paths
        nths, node_tests = self._nths, self._steps
        written = {-1: ""}
        xpaths = []
        chars = self._path_chars
        for holder in tree.holders:
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

    def _joined(self) -> tuple[str, npt.NDArray[np.int32]]:
        """Join the texts of the blocks; return the page text, and of each block how many characters part it from the
        one before."""
        tree, texts, steps = self.tree, self.texts, self._steps
        tags = [steps[path] for path in tree.slot_paths]
        elements = Elements(tree.slots, tree.parents, tree.firsts, tree.lasts, tree.holders, tags)
        before = separators(texts, elements, self._root)
        before[0] = ""
        gaps = np.fromiter(map(len, before), np.int32, len(before))
        return "".join(chain.from_iterable(zip(before, texts, strict=True))).replace(LINE_BREAK, "\n"), gaps

    def blocks(self) -> tuple[Blocks, npt.NDArray[np.intp]]:
        """Build the blocks; return them, and where their tokens start in the text."""
        lengths = np.fromiter(map(len, self.texts), np.int32, len(self.texts))
        text, gaps = self._joined()
        starts = (np.cumsum(lengths + gaps) - lengths).astype(np.int32)
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


def _code(raw: str) -> str:
    """Read a text within <pre>, without empty lines before and behind it."""
    text = raw.replace(LINE_BREAK, "\n").rstrip()
    first = len(text) - len(text.lstrip())
    return text[max(text.rfind(end, 0, first) for end in "\n\r") + 1 :]


def _lines(raw: str) -> str:
    """Read a text with line breaks."""
    return LINE_BREAK.join(filter(None, (" ".join(line.split()) for line in raw.split(LINE_BREAK))))


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
