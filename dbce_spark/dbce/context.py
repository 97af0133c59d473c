"""What is measured of a block by earlier verdicts on the blocks around it.

The first verdict looks at a block with little of its surroundings. Later ones see where on the page an earlier one
found content, or what readers wrote: before and behind, in the elements around, in the same slot, in the records of the
same list.
"""

from collections.abc import Sequence

import numpy as np

from dbce_spark.dbce.features import HEIGHT, LEVELS, REPEATED, UNKNOWN, Columns, share, shifted, total
from dbce_spark.dbce.layout import Groups, Layout, Numbers, Rows, Texts, grouped, sums

CERTAIN = 1024
"""The verdict "content for certain". Whole numbers, so that sums of them are exact."""

SLOTS = ("class", "id", "path", "above")
"""What a slot is named by: classes, classes and ids, tags, and the tags above."""

_STRONG, _STRONG_WORDS = 614, 10
_FAR = 1e6
_NEIGHBOURS = (-4, -3, -2, -1, 1, 2, 3, 4)
_WINDOWS = (2, 4, 12, 30)


def of_rows(rows: Rows, keys: Sequence[Texts], verdicts: Numbers) -> Columns:
    """The features of all blocks of some pages from verdicts on them, in 1/1024: what needs no elements.

    `keys` are names of each block's slot, one for each of SLOTS.
    """
    return of_groups(rows, [grouped(rows.pages, names) for names in keys], verdicts)


def of_groups(rows: Rows, slots: Sequence[Groups], verdicts: Numbers) -> Columns:
    """The same, where the blocks with the same name of their slot are known: by each of SLOTS."""
    mass = verdicts * rows.words
    columns = {"verdict": verdicts.astype(np.float64)}
    for offset in _NEIGHBOURS:
        columns[f"verdict{offset:+}"] = shifted(rows, columns["verdict"], offset)
    columns |= _of_windows(rows, mass) | _of_page(rows, verdicts, mass) | _of_strong(rows, verdicts)
    return columns | _of_slots(rows, slots, mass)


def of_pages(pages: Layout, verdicts: Numbers) -> Columns:
    """The same, and those from the verdicts on the elements around, and on lists of records."""
    mass = verdicts * pages.words
    columns = of_groups(pages, pages.slot_groups, verdicts) | _of_elements(pages, mass)
    columns |= _of_records(pages, mass, "beside", pages.beside)
    return columns | _of_records(pages, mass, "like", pages.like)


def _of_windows(pages: Rows, mass: Numbers) -> Columns:
    start, end = pages.starts[pages.pages], pages.starts[pages.pages + 1]
    at = np.arange(len(pages))
    running, running_words = sums(mass), pages.token_starts
    page_mass = pages.in_pages(mass)
    columns: Columns = {}
    for width in _WINDOWS:
        first, last = np.maximum(at - width, start), np.minimum(at + width + 1, end)
        within = running[last] - running[first]
        columns[f"window{width}"] = share(within, running_words[last] - running_words[first])
        columns[f"window_share{width}"] = share(within, page_mass)
    columns["mass_before"] = share(running[at] - running[start], page_mass)
    columns["mass_behind"] = share(running[end] - running[at + 1], page_mass)
    return columns


def _of_page(pages: Rows, verdicts: Numbers, mass: Numbers) -> Columns:
    words = pages.in_pages(pages.words)
    unsure = (verdicts > CERTAIN // 5) & (verdicts < CERTAIN - CERTAIN // 5)
    return {
        "page_mass": pages.in_pages(mass).astype(np.float64),
        "page_density": share(pages.in_pages(mass), words),
        "page_best": np.maximum.reduceat(verdicts, pages.starts[:-1])[pages.pages].astype(np.float64),
        "page_content": share(pages.in_pages(pages.words * (2 * verdicts > CERTAIN)), words),
        "page_unsure": share(pages.in_pages(pages.words * unsure), words),
    }


def _of_strong(pages: Rows, verdicts: Numbers) -> Columns:
    """How far it is to the nearest blocks that surely are content, and to the first and the last of them."""
    start, end = pages.starts[pages.pages], pages.starts[pages.pages + 1]
    at = np.arange(len(pages))
    strong = (verdicts > _STRONG) & (pages.words >= _STRONG_WORDS)
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


def _of_elements(pages: Layout, mass: Numbers) -> Columns:
    within, words = pages.in_elements(mass), pages.in_elements(pages.words)
    page_mass = pages.in_pages(mass)
    columns: Columns = {}
    element = pages.holders
    for level in range(1, LEVELS.stop + 1):
        element = pages.parents[element]
        columns[f"density^{level}"] = share(within[element], words[element])
        columns[f"mass_share^{level}"] = share(within[element], page_mass)
    return columns


def _of_slots(pages: Rows, slots: Sequence[Groups], mass: Numbers) -> Columns:
    """What was found in the block's slot, with and without the block itself."""
    columns: Columns = {}
    for name, (group, counts) in zip(SLOTS, slots, strict=True):
        of_slot, words = (total(group, len(counts), values)[group] for values in (mass, pages.words))
        columns[f"{name}_density"] = share(of_slot, words)
        columns[f"{name}_others"] = share(of_slot - mass, words - pages.words)
    return columns


def _of_records(pages: Layout, mass: Numbers, name: str, groups: Groups) -> Columns:
    """Of the widest list of records that a block lies in: where the content is, in the list and around it.

    Comments are records behind the content; posts of a forum are records that are the content.
    """
    group, counts = groups
    words, within = pages.in_elements(pages.words), pages.in_elements(mass)
    is_record = words >= REPEATED
    records = total(group, len(counts), is_record)
    record_words = total(group, len(counts), words * is_record)
    first = np.full(len(counts), len(pages))
    np.minimum.at(first, group[is_record], pages.firsts[is_record])
    last = np.zeros(len(counts), np.int64)
    np.maximum.at(last, group[is_record], pages.lasts[is_record])
    richest = np.zeros(len(counts), np.int64)
    np.maximum.at(richest, group, within)

    element = pages.holders
    widest, most = element, np.zeros(len(pages), np.int64)
    of_records = np.where(records >= REPEATED, record_words, 0)[group]
    for level in range(HEIGHT + 1):
        if level:
            element = pages.parents[element]
        found_words = of_records[element]
        widest, most = np.where(found_words > most, element, widest), np.maximum(most, found_words)
    found, of_block = most > 0, group[widest]
    start, end = pages.starts[pages.pages], pages.starts[pages.pages + 1]
    begin, close = np.minimum(first[of_block], end), last[of_block]
    running, running_words = sums(mass), pages.token_starts
    page_mass, page_words = pages.in_pages(mass), pages.in_pages(pages.words)
    in_list, list_words = running[close] - running[begin], running_words[close] - running_words[begin]
    columns = {
        "records": records[of_block].astype(np.float64),
        "mass_before": share(running[begin] - running[start], page_mass),
        "mass": share(in_list, page_mass),
        "mass_behind": share(running[end] - running[close], page_mass),
        "record_density": share(within[widest], words[widest]),
        "record_words": words[widest].astype(np.float64),
        "density": share(in_list, list_words),
        "richest": share(richest[of_block], page_mass),
        "share": share(list_words, page_words),
        "place": share(running_words[begin] - running_words[start], page_words),
        "block": (pages.firsts[widest] - begin).astype(np.float64),
    }
    return {f"{name}_list_{what}": np.where(found, values, UNKNOWN) for what, values in columns.items()}
