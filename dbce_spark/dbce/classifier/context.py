"""Features of a block by earlier scores of the blocks around it.

The first score is that of a block with little of its surroundings. Later ones see where on the page an earlier one
found content, or what readers wrote: before and behind, in the elements around, in the same slot, in the records of the
same list.
"""

from collections.abc import Sequence

import numpy as np

from dbce_spark.dbce.classifier.features import REPEATED, UNKNOWN, Columns, share, shifted, total
from dbce_spark.dbce.classifier.layout import Layout, Rows, sums
from dbce_spark.dbce.key_numbers import Groups, grouped
from dbce_spark.model import Hashes, Numbers

CERTAIN = 1024
"""The score "content for certain". Whole numbers, so that sums of them are exact."""

SLOTS = ("class", "id", "path", "above")
"""Names of slots: classes, classes and ids, tags, and the tags above."""

_STRONG, _STRONG_WORDS = 614, 10
"""The score in 1/1024 that a block has at least which surely is content (0.6), and its words."""
_FAR = 1e6
"""The distance in blocks where there is no such block: farther than any."""
_NEIGHBOURS = (-4, -3, -2, -1, 1, 2, 3, 4)
"""Distances in blocks to those whose own scores are features."""
_WINDOWS = (2, 4, 12, 30)
"""Blocks before and behind, whose scores are taken together."""
_LEVELS = range(1, 7)
_RECORD_LEVELS = range(9)
"""Steps up from a block's holder to the elements that are measured, and to those among which records are looked for."""


def of_rows(rows: Rows, keys: Sequence[Hashes], scores: Numbers) -> Columns:
    """Compute the features of all blocks of some pages from their scores, in 1/1024: those that need no elements.

    `keys` are names of each block's slot, one for each of SLOTS.
    """
    return of_groups(rows, [grouped(rows.pages, names) for names in keys], scores)


def of_groups(rows: Rows, slots: Sequence[Groups], scores: Numbers) -> Columns:
    """Compute the features of `of_rows` where the blocks of each slot are grouped already, by each of SLOTS."""
    content_mass = scores * rows.words
    columns = {"score": scores.astype(np.float64)}
    for offset in _NEIGHBOURS:
        columns[f"score{offset:+}"] = shifted(rows, columns["score"], offset)
    columns |= _of_windows(rows, content_mass) | _of_page(rows, scores, content_mass) | _of_strong(rows, scores)
    return columns | _of_slots(rows, slots, content_mass)


def of_pages(pages: Layout, scores: Numbers) -> Columns:
    """Compute the features of `of_groups`, and those of the elements around and of lists of records."""
    content_mass = scores * pages.words
    columns = of_groups(pages, pages.slot_groups, scores) | _of_elements(pages, content_mass)
    columns |= _of_records(pages, content_mass, "beside", pages.beside) | _of_sections(pages, scores, content_mass)
    return columns | _of_records(pages, content_mass, "like", pages.like)


def _of_windows(pages: Rows, content_mass: Numbers) -> Columns:
    start, end = pages.page_starts, pages.page_ends
    at = np.arange(len(pages))
    running, running_words = sums(content_mass), pages.token_starts
    page_content_mass = pages.in_pages(content_mass)
    columns: Columns = {}
    for width in _WINDOWS:
        first, last = np.maximum(at - width, start), np.minimum(at + width + 1, end)
        within = running[last] - running[first]
        columns[f"window{width}"] = share(within, running_words[last] - running_words[first])
        columns[f"window_share{width}"] = share(within, page_content_mass)
    columns["mass_before"] = share(running[at] - running[start], page_content_mass)
    columns["mass_behind"] = share(running[end] - running[at + 1], page_content_mass)
    return columns


def _of_page(pages: Rows, scores: Numbers, content_mass: Numbers) -> Columns:
    words = pages.in_pages(pages.words)
    unsure = (scores > CERTAIN // 5) & (scores < CERTAIN - CERTAIN // 5)
    return {
        "page_mass": pages.in_pages(content_mass).astype(np.float64),
        "page_density": share(pages.in_pages(content_mass), words),
        "page_best": np.maximum.reduceat(scores, pages.starts[:-1])[pages.pages].astype(np.float64),
        "page_content": share(pages.in_pages(pages.words * (2 * scores > CERTAIN)), words),
        "page_unsure": share(pages.in_pages(pages.words * unsure), words),
    }


def _of_strong(pages: Rows, scores: Numbers) -> Columns:
    """Compute the distance to the nearest blocks that surely are content, and to the first and the last of them."""
    start, end = pages.page_starts, pages.page_ends
    at = np.arange(len(pages))
    strong = (scores > _STRONG) & (pages.words >= _STRONG_WORDS)
    before = np.maximum.accumulate(np.where(strong, at, -1))
    behind = np.minimum.accumulate(np.where(strong, at, len(pages))[::-1])[::-1]
    first = np.minimum.reduceat(np.where(strong, at, len(pages)), pages.starts[:-1])[pages.pages]
    last = np.maximum.reduceat(np.where(strong, at, -1), pages.starts[:-1])[pages.pages]
    return {
        "since_strong": np.where(before >= start, at - before, _FAR),
        "until_strong": np.where(behind < end, behind - at, _FAR),
        "from_first_strong": np.where(last >= 0, at - first, -_FAR),
        "from_last_strong": np.where(last >= 0, at - last, -_FAR),
    }


def _of_elements(pages: Layout, content_mass: Numbers) -> Columns:
    within, words = pages.in_elements(content_mass), pages.in_elements(pages.words)
    page_content_mass = pages.in_pages(content_mass)
    columns: Columns = {}
    for level, element in pages.around(_LEVELS):
        columns[f"density^{level}"] = share(within[element], words[element])
        columns[f"mass_share^{level}"] = share(within[element], page_content_mass)
    return columns


def _of_sections(pages: Layout, scores: Numbers, content_mass: Numbers) -> Columns:
    """Compute the density of content in the rest of the block's section, and the score of its heading."""
    section, head = pages.sections
    count = int(section[-1]) + 1
    mass, words = (total(section, count, values)[section] for values in (content_mass, pages.words))
    others = words - pages.words
    return {
        "section_density": share(mass, words),
        "section_others": np.where(others > 0, share(mass - content_mass, others), UNKNOWN),
        "section_heading": np.where(head >= 0, scores[head], UNKNOWN).astype(np.float64),
    }


def _of_slots(pages: Rows, slots: Sequence[Groups], content_mass: Numbers) -> Columns:
    """Compute the density of content in the block's slot, with and without the block itself."""
    columns: Columns = {}
    for name, (group, counts) in zip(SLOTS, slots, strict=True):
        of_slot, words = (total(group, len(counts), values)[group] for values in (content_mass, pages.words))
        columns[f"{name}_density"] = share(of_slot, words)
        columns[f"{name}_others"] = share(of_slot - content_mass, words - pages.words)
    return columns


def _of_records(pages: Layout, content_mass: Numbers, name: str, groups: Groups) -> Columns:
    """Locate the content in and around the widest list of records that a block lies in.

    Comments are records behind the content; posts of a forum are records that are the content.
    """
    group, counts = groups
    words, within = pages.in_elements(pages.words), pages.in_elements(content_mass)
    is_record = words >= REPEATED
    records = total(group, len(counts), is_record)
    record_words = total(group, len(counts), words * is_record)
    first = np.full(len(counts), len(pages))
    np.minimum.at(first, group[is_record], pages.firsts[is_record])
    last = np.zeros(len(counts), np.int64)
    np.maximum.at(last, group[is_record], pages.lasts[is_record])
    richest = np.zeros(len(counts), np.int64)
    np.maximum.at(richest, group, within)

    widest, found = pages.highest_around(np.where(records >= REPEATED, record_words, 0)[group], _RECORD_LEVELS)
    of_block = group[widest]
    start, end = pages.page_starts, pages.page_ends
    begin, close = np.minimum(first[of_block], end), last[of_block]
    running, running_words = sums(content_mass), pages.token_starts
    page_content_mass, page_words = pages.in_pages(content_mass), pages.in_pages(pages.words)
    in_list, list_words = running[close] - running[begin], running_words[close] - running_words[begin]
    columns = {
        "records": records[of_block].astype(np.float64),
        "mass_before": share(running[begin] - running[start], page_content_mass),
        "mass": share(in_list, page_content_mass),
        "mass_behind": share(running[end] - running[close], page_content_mass),
        "record_density": share(within[widest], words[widest]),
        "record_words": words[widest].astype(np.float64),
        "density": share(in_list, list_words),
        "richest": share(richest[of_block], page_content_mass),
        "share": share(list_words, page_words),
        "place": share(running_words[begin] - running_words[start], page_words),
        "block": (pages.firsts[widest] - begin).astype(np.float64),
    }
    return {f"{name}_list_{column}": np.where(found, values, UNKNOWN) for column, values in columns.items()}
