"""Several pages laid side by side as columns of numbers: what features are computed from, many pages at a time.

Everything is whole numbers. Sums of them are exact, so what is computed of a page does not depend on the pages that
happen to be beside it.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier.character_classes import CLASS_COUNT, DIGIT, STOP, classes_of
from dbce_spark.dbce.classifier.slot_keys import slot_keys
from dbce_spark.dbce.key_numbers import MIX, ODD, Groups, grouped
from dbce_spark.html.elements import HEADING_TAGS
from dbce_spark.html.page import Parsed
from dbce_spark.html.tokens import code_points, hashed
from dbce_spark.model import Hashes, Numbers

OFTEN = 3
"""Times, and on half of the slot's blocks, that a word stands in a slot which the records of a list share."""

_ELLIPSIS = 0x2026
_19, _20 = (ord(number[0]) * 256 + ord(number[1]) for number in ("19", "20"))
_DATE_PARTS = [*map(ord, ".-/")]


def sums(values: npt.NDArray[np.generic]) -> Numbers:
    """Compute running sums: entry i is the sum of all values before i."""
    running = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, dtype=np.int64, out=running[1:])
    return running


def sums_between(values: npt.NDArray[np.generic], firsts: Numbers, lasts: Numbers) -> Numbers:
    """Sum the values from each first up to, not including, each last."""
    running = sums(values)
    between: Numbers = running[lasts] - running[firsts]
    return between


def _sums_within(values: npt.NDArray[np.generic], starts: Numbers) -> Numbers:
    """Sum the values from each start up to the next."""
    before = sums(values)[starts]
    return before[1:] - before[:-1]


class Rows:
    """The blocks of some pages, one page behind the other: `pages` (which page), `words` of each, and where the blocks
    of each page start."""

    def __init__(self, words: Sequence[npt.NDArray[np.int32]]):
        self.starts = sums(np.array([len(of_page) for of_page in words]))
        self.pages = np.repeat(np.arange(len(words)), np.diff(self.starts))
        # Of each block the first block of its page, and the one behind the last.
        self.page_starts, self.page_ends = self.starts[self.pages], self.starts[self.pages + 1]
        self.words = joined(words)
        self.token_starts = sums(self.words)  # of each block, and so how many words stand before it
        self._without: dict[int, Numbers] = {}

    def __len__(self) -> int:
        return int(self.starts[-1])

    def without(self, offset: int) -> Numbers:
        """List the blocks on whose page there is no block `offset` blocks on."""
        if offset not in self._without:
            at = np.arange(offset, len(self) + offset)
            self._without[offset] = np.flatnonzero((at < self.page_starts) | (at >= self.page_ends))
        return self._without[offset]

    def in_pages(self, values: npt.NDArray[np.generic]) -> Numbers:
        """Sum over each block's page."""
        of_blocks: Numbers = _sums_within(values, self.starts)[self.pages]
        return of_blocks


class Layout(Rows):
    """The blocks and elements of some pages, `parsed`, one page behind the other. Indexes run over all of them.

    More columns of blocks: `link_words`, `characters`, `holders` (index of the innermost block-level element), `nths`,
    `first_classes`, `last_classes` (of their first and last character), `is_cut_off` (ends in an ellipsis), `years`,
    `day_times` and `dates` in it, `titled` (words that the title has too), `slot_words` (words that other blocks of the
    slot have too). Columns of elements: `parents` (their own index for a root), `firsts`, `lasts`, `element_slots`.
    Columns of slots: `own_names`, as pages have them; `slots`, their keys; `slot_pages`, `slot_paths`, `slot_parents`.
    """

    def __init__(self, parsed: Sequence[Parsed]):
        self.parsed = parsed
        trees, blocks = [one.tree for one in parsed], [one.blocks for one in parsed]
        self.path_names = [name for tree in trees for name in tree.path_names]
        super().__init__([one.words for one in blocks])
        self.element_starts = sums(np.array([len(tree.parents) for tree in trees]))
        slot_starts = sums(np.array([len(tree.slot_names) for tree in trees]))
        path_starts = sums(np.array([len(tree.path_names) for tree in trees]))
        self.element_pages = np.repeat(np.arange(len(parsed)), np.diff(self.element_starts))
        self.link_words = joined([one.link_words for one in blocks])
        self.parents = _above(joined([tree.parents for tree in trees]), self.element_starts[self.element_pages])
        self.firsts = joined([tree.firsts for tree in trees]) + self.starts[self.element_pages]
        self.lasts = joined([tree.lasts for tree in trees]) + self.starts[self.element_pages]
        self.element_slots = joined([tree.slots for tree in trees]) + slot_starts[self.element_pages]
        self.holders = joined([tree.holders for tree in trees]) + self.element_starts[self.pages]
        self.nths = joined([tree.nths for tree in trees])
        self.controls = self._count_places([tree.control_blocks for tree in trees])
        self.text_areas = self._count_places([tree.text_area_blocks for tree in trees])
        self.foreign_links = self._count_places([tree.foreign_link_blocks for tree in trees])
        self.place_links = self._count_places([tree.place_link_blocks for tree in trees])
        self.slot_pages = np.repeat(np.arange(len(parsed)), np.diff(slot_starts))
        self.slot_paths = joined([tree.slot_paths for tree in trees]) + path_starts[self.slot_pages]
        self.slot_parents = _above(joined([tree.slot_parents for tree in trees]), slot_starts[self.slot_pages])
        self.own_names = [name for tree in trees for name in tree.slot_names]
        self.slots = slot_keys(self.own_names, self.slot_parents)
        self._read_texts()

    def _count_places(self, of_pages: Sequence[Sequence[int]]) -> Numbers:
        """Count the things that stand before each block, or in it."""
        return self.count_before(*self.located(of_pages))

    def located(self, of_pages: Sequence[Sequence[int]]) -> tuple[Numbers, Numbers]:
        """Find the block that each thing stands before, or in, and its page. Each page lists these blocks by their
        numbers on it; here they are numbered over all pages."""
        page = np.repeat(np.arange(len(of_pages)), [len(of_page) for of_page in of_pages])
        return joined(of_pages) + self.starts[page], page

    def count_before(self, places: Numbers, page: Numbers) -> Numbers:
        """Count the things of each block, which `located` found; those behind the last block of a page do not count."""
        return np.bincount(places[places < self.starts[page + 1]], minlength=len(self))

    def _read_texts(self) -> None:
        """Count the characters and words of the blocks into columns."""
        texts = [one.blocks.text for one in self.parsed]
        offsets = sums(np.array([len(text) + 1 for text in texts]))
        codes = code_points("\n".join(texts))
        classes = classes_of(codes)
        begins = joined([one.blocks.starts for one in self.parsed]) + offsets[self.pages]
        ends = joined([one.blocks.ends for one in self.parsed]) + offsets[self.pages]
        self.characters = ends - begins
        of_block = np.repeat(np.arange(len(self)), np.diff(begins, append=len(codes)))
        counts = np.bincount(of_block * CLASS_COUNT + classes, minlength=len(self) * CLASS_COUNT)
        self._class_counts = counts.reshape(-1, CLASS_COUNT)  # behind each block stands a newline, of class 0
        self.first_classes, self.last_classes = classes[begins], classes[ends - 1]
        two_stops = (self.last_classes == STOP) & (classes[ends - 2] == STOP) & (self.characters > 1)
        self.is_cut_off = two_stops | (codes[ends - 1] == _ELLIPSIS)
        self.years, self.day_times, self.dates = (
            np.bincount(of_block[places], minlength=len(self)) for places in _times(codes, classes == DIGIT)
        )
        tokens = np.concatenate([one.blocks.tokens for one in self.parsed])
        self.titled, self.title_words = self.shared_words([one.declared.title for one in self.parsed])
        first = np.repeat(self.token_starts[:-1], self.words)
        self.texts = self._hashed_blocks(tokens, np.arange(len(tokens)) - first)
        has_digit = _has_digit(self.parsed, offsets, classes)
        counted = sums(~has_digit)
        self.shapes = self._hashed_blocks(np.where(has_digit, np.uint64(0), tokens), counted[:-1] - counted[first])
        slot, slot_blocks = self.slot_groups[0]
        slot_of_word = np.repeat(slot, self.words)
        word, times = grouped(slot_of_word, tokens)
        self.slot_words = self.in_blocks(times[word] >= np.maximum(OFTEN, slot_blocks[slot_of_word] // 2))

    def shared_words(self, texts: Sequence[str]) -> tuple[Numbers, Numbers]:
        """Count the words of each block that a text about its page, one a page, has too; count those of each text."""
        of_texts = _words_of(texts)
        held = [np.isin(one.blocks.tokens, words) for one, words in zip(self.parsed, of_texts, strict=True)]
        return self.in_blocks(np.concatenate(held)), np.array([len(words) for words in of_texts], np.int64)

    def _hashed_blocks(self, tokens: Hashes, nths: Numbers) -> Hashes:
        """Hash the tokens of each block with their places in it. A token that is left out is 0."""
        factor = (nths.astype(np.uint64) * np.uint64(2) + np.uint64(1)) * ODD | np.uint64(1)
        hashes = np.add.reduceat(tokens * factor, self.token_starts[:-1])
        hashes ^= hashes >> np.uint64(29)
        hashes *= MIX[1]
        hashes ^= hashes >> np.uint64(32)
        return hashes

    def in_blocks(self, of_tokens: npt.NDArray[np.generic]) -> Numbers:
        """Sum over each block's tokens."""
        return _sums_within(of_tokens, self.token_starts)

    def of_class(self, one: int) -> Numbers:
        """Count the characters of a class in each block."""
        counts: Numbers = self._class_counts[:, one]
        return counts

    def in_elements(self, values: npt.NDArray[np.generic]) -> Numbers:
        """Sum over the blocks in each element."""
        return sums_between(values, self.firsts, self.lasts)

    def around(self, levels: range) -> Iterator[tuple[int, Numbers]]:
        """Iterate over steps up from the holders of the blocks, with the element that each block comes to; from a root
        none leads up."""
        element = self.holders
        for level in range(levels.stop):
            if level:
                element = self.parents[element]
            if level in levels:
                yield level, element

    def highest_around(self, values: npt.NDArray[Any], levels: range) -> tuple[Numbers, npt.NDArray[np.bool_]]:
        """Find the element around each block that has the highest value, of several the innermost, and whether that is
        more than 0; else it is the holder."""
        highest, most = self.holders, np.zeros(len(self), values.dtype)
        for _, element in self.around(levels):
            here = values[element]
            highest, most = np.where(here > most, element, highest), np.maximum(here, most)
        return highest, most > 0

    @cached_property
    def block_slots(self) -> Numbers:
        """Return the slot of each block: its holder's."""
        slots: Numbers = self.element_slots[self.holders]
        return slots

    @cached_property
    def slot_groups(self) -> tuple[Groups, ...]:
        """Group the blocks of one page whose slots have the same name, by each of `slot_names`."""
        return tuple(grouped(self.pages, names) for names in self.slot_names)

    @cached_property
    def sections(self) -> tuple[Numbers, Numbers]:
        """Number the sections that headings begin: of each block its section, and the block of its heading or -1."""
        is_heading = np.array([name.rpartition("/")[2] in HEADING_TAGS for name in self.path_names], np.bool_)
        heads = is_heading[self.slot_paths[self.block_slots]]
        begins = heads.copy()
        begins[self.starts[:-1]] = True
        section: Numbers = np.cumsum(begins) - 1
        head = np.maximum.accumulate(np.where(heads, np.arange(len(self)), -1))
        return section, np.where(head >= self.page_starts, head, -1)

    @cached_property
    def beside(self) -> Groups:
        """Group the elements under one parent whose slots are the same by themselves."""
        return grouped(self.parents, self.slots.own[self.element_slots])

    @cached_property
    def like(self) -> Groups:
        """Group the elements of one page whose slots are the same by themselves: by slots, of which there are fewer."""
        of_slots, counts = grouped(self.slot_pages, self.slots.own)
        group = of_slots[self.element_slots]
        return group, np.bincount(group, minlength=len(counts))

    @cached_property
    def slot_names(self) -> tuple[Hashes, ...]:
        """Return four names of each block's slot, in the order of `context.SLOTS`."""
        slots = self.block_slots
        return (
            self.slots.by_class[slots],
            self.slots.by_id[slots],
            self.slots.by_path[slots],
            self.slots.by_path[self.slot_parents[slots]],
        )


def _words_of(texts: Sequence[str]) -> list[Hashes]:
    """Hash the tokens of each text."""
    starts, tokens = hashed("\n".join(texts))
    ends = np.cumsum([len(text) + 1 for text in texts])
    return np.split(tokens, starts.searchsorted(ends[:-1]))


def _times(codes: npt.NDArray[np.uint32], is_digit: npt.NDArray[np.bool_]) -> tuple[Numbers, Numbers, Numbers]:
    """Find the characters at which a year begins (19.. or 20..), and those between digits that part hours from minutes
    (:) and days from months (. - /)."""
    padded = np.concatenate(([False], is_digit, np.zeros(4, np.bool_)))
    size = len(codes)
    before, after = padded[:size], padded[2 : size + 2]
    starts = np.flatnonzero(is_digit & ~before & after)
    four = padded[starts + 3] & padded[starts + 4] & ~padded[starts + 5]
    years = starts[four]
    begins = codes[years].astype(np.int64) * 256 + codes[years + 1]
    between = np.flatnonzero(before & after & ~is_digit)
    parting = codes[between]
    return (
        years[(begins == _19) | (begins == _20)],
        between[parting == ord(":")],
        between[np.isin(parting, _DATE_PARTS)],
    )


def _has_digit(parsed: Sequence[Parsed], offsets: Numbers, classes: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Mark the tokens that have a digit."""
    begins = np.concatenate([one.token_starts + offset for one, offset in zip(parsed, offsets[:-1], strict=True)])
    has_digit: npt.NDArray[np.bool_] = np.logical_or.reduceat(classes == DIGIT, begins)
    return has_digit


def joined(columns: Sequence[Sequence[int] | npt.NDArray[np.int32]]) -> Numbers:
    """Join the columns of some pages, one page behind the other."""
    if all(isinstance(column, list) for column in columns):
        return np.fromiter(chain.from_iterable(columns), np.int64, sum(map(len, columns)))
    return np.concatenate([np.asarray(column, np.int64) for column in columns])


def _above(parents: Numbers, firsts: Numbers) -> Numbers:
    """Number the place above each place over all pages, by its number on the page (-1 above a root, which here is above
    itself) and the first place of that page."""
    return np.where(parents < 0, np.arange(len(parents)), parents + firsts)
