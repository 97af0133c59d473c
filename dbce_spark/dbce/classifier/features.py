"""Features of a block by its own page: its words, its place, the elements around it, its like on the page.

Shares and densities are those of Kohlschuetter, Fankhauser and Nejdl (WSDM 2010) and of Weninger, Hsu and Han (CETR,
WWW 2010), taken over the block, the elements it lies in, its slot and the elements that repeat beside them. All are
quotients of whole numbers: which bin one falls into depends on nothing but the page.
"""

import struct
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier import slot_keys
from dbce_spark.dbce.classifier.character_classes import (
    AT,
    BAR,
    COLON,
    COMMA,
    CURRENCY,
    DIGIT,
    POINTER,
    PUNCTUATION,
    RIGHTS,
    STOP,
    SYMBOL,
    UPPER,
)
from dbce_spark.dbce.classifier.layout import Layout, Rows, sums
from dbce_spark.dbce.key_numbers import Groups, grouped
from dbce_spark.model import Numbers

Values = npt.NDArray[np.float64]
Columns = dict[str, Values]

UNKNOWN = -1.0
"""The value where there is nothing to measure: a neighbour beyond the end of the page."""

LONG_WORDS = 20
"""Words of a block that reads like prose if fewer than a third of them are links (Kohlschuetter: 16 to 20)."""

LINE = 80
"""Characters of a line of text, for text density (Kohlschuetter)."""

LEVELS = range(1, 6)
"""Steps up from a block's holder to the elements that are measured: their words, links and the like."""

_TITLE_LIKE = 0.3
"""Likeness to the title from which on a block is taken for the headline."""
_NO_HEADLINE = -1e6
"""The distance to it in blocks where there is none."""
_OPEN = (COMMA, PUNCTUATION, COLON)
_SIGNS = {
    "currency": CURRENCY, "rights": RIGHTS, "pointers": POINTER, "bars": BAR,
    "colons": COLON, "ats": AT,
}  # fmt: skip
_SIGN_LEVELS = range(1, 4)
_OWN_TAGS = ("p", "div", "li", "td", "h", "pre", "dd", "blockquote", "figcaption")
_TAGS_ABOVE = (
    "ul", "ol", "table", "nav", "header", "footer", "aside", "article", "main", "section", "figure", "blockquote",
    "pre", "dl", "form", "li", "td", "p", "h", "a", "button", "label", "th", "dt", "address", "details", "caption",
    "fieldset", "center", "font", "code",
)  # fmt: skip
_COUNTED_TAGS = ("list", "table", "div")
_HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
_PARTS = (("buttons", "button"), ("times", "time"), ("labels", "label"))
_NEIGHBOURS = (-2, -1, 1, 2)
"""Distances in blocks to those whose own features are features too."""
_OF_NEIGHBOURS = ("prose", "links", "depth", "is_div", "elements", "ends_sentence", "upper", "words")


def of_pages(pages: Layout) -> Columns:
    """Compute the features of all blocks of some pages, by name: (blocks,) each."""
    columns = _of_text(pages) | _of_path(pages) | _of_place(pages) | _of_title(pages) | _of_page(pages)
    columns |= _of_elements(pages) | _of_slot(pages) | _of_replies(pages) | _of_signs(pages)
    columns |= _of_section(pages, columns["title_like"])
    for offset in _NEIGHBOURS:
        columns |= {f"{name}{offset:+}": shifted(pages, columns[name], offset) for name in _OF_NEIGHBOURS}
    return columns


def share(part: npt.NDArray[np.generic], whole: npt.NDArray[np.generic]) -> Values:
    """Divide part by whole; 0 where there is nothing."""
    shares: Values = np.asarray(part, np.float64) / np.maximum(whole, 1)
    return shares


def is_long(pages: Layout) -> npt.NDArray[np.bool_]:
    """Mark the blocks that read like prose."""
    return (pages.words >= LONG_WORDS) & (3 * pages.link_words < pages.words)


def shifted(pages: Rows, values: Values, offset: int) -> Values:
    """Return for each block the value `offset` blocks on, UNKNOWN beyond the page."""
    result = np.empty(len(values))
    if offset > 0:
        result[:-offset] = values[offset:]
    else:
        result[-offset:] = values[:offset]
    result[pages.without(offset)] = UNKNOWN
    return result


def total(group: Numbers, groups: int, values: npt.NDArray[np.generic]) -> Numbers:
    """Sum over each group. Sums of whole numbers below 2**53 are exact."""
    return np.bincount(group, values, minlength=groups).astype(np.int64)


def _of_text(pages: Layout) -> Columns:
    characters, words = pages.characters, pages.words
    lines = -(-characters // LINE)
    within = words * (characters - characters % LINE)
    columns = {
        "characters": characters.astype(np.float64),
        "words": words.astype(np.float64),
        "links": share(pages.link_words, words),
        "prose": (words - pages.link_words).astype(np.float64),
        "density": np.where(lines > 1, share(within, characters * (lines - 1)), words),
        "word_length": share(characters, words),
        "stops": pages.of_class(STOP).astype(np.float64),
        "commas": pages.of_class(COMMA).astype(np.float64),
        "ends_sentence": (pages.last_classes == STOP).astype(np.float64),
        "ends_open": np.isin(pages.last_classes, _OPEN).astype(np.float64),
        "starts_upper": (pages.first_classes == UPPER).astype(np.float64),
        "starts_sign": (pages.first_classes >= COMMA).astype(np.float64),
    }
    for name, one in (("upper", UPPER), ("digits", DIGIT), ("signs", PUNCTUATION), ("symbols", SYMBOL)):
        columns[name] = share(pages.of_class(one), characters)
    return columns


@lru_cache(maxsize=1 << 14)
def _path_numbers(path: str) -> bytes:
    """Describe a tag path: its last tag, the tags in it, counts of some, the heading level, the depth.

    Packed: numpy takes longer to read the tuples of all paths of a page than all else here."""
    tags = path.split("/")
    levels = [_HEADING_LEVELS[tag] for tag in tags if tag in _HEADING_LEVELS]
    last = "h" if tags[-1] in _HEADING_LEVELS else tags[-1]
    held = {*tags, "h"} if levels else {*tags}
    counts = (tags.count("ul") + tags.count("ol"), tags.count("table"), tags.count("div"))
    return _PATH_NUMBERS.pack(
        *[last == tag for tag in _OWN_TAGS],
        *[tag in held for tag in _TAGS_ABOVE],
        *counts,
        max(levels, default=0),
        len(tags),
    )


_PATH_NAMES = (
    *(f"is_{tag}" for tag in _OWN_TAGS),
    *(f"in_{tag}" for tag in _TAGS_ABOVE),
    *(f"{tag}s_above" for tag in _COUNTED_TAGS),
    "heading",
    "depth",
)
_PATH_NUMBERS = struct.Struct(f"={len(_PATH_NAMES)}H")


def _of_path(pages: Layout) -> Columns:
    paths, of_block = np.unique(pages.slot_paths[pages.block_slots], return_inverse=True)
    packed = b"".join([_path_numbers(pages.path_names[path]) for path in paths.tolist()])
    table = np.frombuffer(packed, np.uint16).reshape(-1, len(_PATH_NAMES))
    of_blocks = table.T.astype(np.float64)[:, of_block]
    marks = pages.slots.marks[pages.block_slots]
    columns = dict(zip(_PATH_NAMES, of_blocks, strict=True))
    columns |= {f"mark{bit}": ((marks >> bit) & 1).astype(np.float64) for bit in range(slot_keys.MARK_BITS)}
    columns["nth"] = pages.nths.astype(np.float64)
    return columns


def _of_place(pages: Layout) -> Columns:
    at = np.arange(len(pages)) - pages.page_starts
    blocks = np.diff(pages.starts)[pages.pages]
    before = pages.token_starts[:-1] - pages.token_starts[pages.page_starts]
    words = pages.in_pages(pages.words)
    shown = pages.slots.shown[pages.element_slots]
    columns = {
        "block": at.astype(np.float64),
        "blocks_behind": (blocks - 1 - at).astype(np.float64),
        "place": share(at, blocks - 1),
        "words_before": before.astype(np.float64),
        "words_behind": (words - before - pages.words).astype(np.float64),
        "words_place": share(before, words),
        "controls": pages.controls.astype(np.float64),
        "elements": pages.count_before(pages.firsts, pages.element_pages).astype(np.float64),
    }
    for name, tag in (("images", "img"), ("anchors", "a"), ("breaks", "br"), ("bold", "b"), *_PARTS):
        chosen = (shown & slot_keys.SHOWN[tag]) > 0
        columns[name] = pages.count_before(pages.firsts[chosen], pages.element_pages[chosen]).astype(np.float64)
    return columns


def _of_title(pages: Layout) -> Columns:
    """Compute how much of the title a block has, and how far the block is that is most like it: the page's headline."""
    titled, title = pages.titled, pages.title_words[pages.pages]
    likeness = share(titled * titled, pages.words * np.maximum(title, 1))
    most = np.maximum.reduceat(likeness, pages.starts[:-1])[pages.pages]
    best = np.minimum.reduceat(np.where(likeness == most, np.arange(len(pages)), len(pages)), pages.starts[:-1])
    distance = (np.arange(len(pages)) - best[pages.pages]).astype(np.float64)
    return {
        "titled": share(titled, pages.words),
        "of_title": share(titled, title),
        "title_like": likeness,
        "behind_headline": np.where(most > _TITLE_LIKE, distance, _NO_HEADLINE),
        "headline_like": most,
    }


def _of_page(pages: Layout) -> Columns:
    long = is_long(pages)
    words = pages.in_pages(pages.words)
    return {
        "page_blocks": np.diff(pages.starts)[pages.pages].astype(np.float64),
        "page_words": words.astype(np.float64),
        "page_links": share(pages.in_pages(pages.link_words), words),
        "page_longest": np.maximum.reduceat(pages.words, pages.starts[:-1])[pages.pages].astype(np.float64),
        "page_long": pages.in_pages(long).astype(np.float64),
        "page_long_words": share(pages.in_pages(long * pages.words), words),
    }


def _of_elements(pages: Layout) -> Columns:
    """Measure the elements around a block, and how often the like of each stands beside it, or anywhere on the page."""
    long = is_long(pages) * pages.words
    page_long = pages.in_pages(long)
    punctuation = pages.of_class(STOP) + pages.of_class(COMMA)
    tags_before = pages.count_before(pages.firsts, pages.element_pages)
    words, links, prose, signs, tags = (
        pages.in_elements(of_blocks) for of_blocks in (pages.words, pages.link_words, long, punctuation, tags_before)
    )
    blocks = pages.lasts - pages.firsts
    beside, like = (_repetition(groups, blocks > 0, words, links, prose) for groups in (pages.beside, pages.like))
    columns: Columns = {}
    for level, element in pages.around(range(LEVELS.stop)):
        if level:
            columns |= {
                f"words^{level}": words[element].astype(np.float64),
                f"links^{level}": share(links[element], words[element]),
                f"long^{level}": share(prose[element], words[element]),
                f"long_share^{level}": share(prose[element], page_long),
                f"signs^{level}": share(signs[element], words[element]),
                f"blocks^{level}": blocks[element].astype(np.float64),
                f"words_by_tags^{level}": share(words[element], tags[element]),
            }
        columns |= {
            f"beside^{level}": beside["count"][element],
            f"beside_words^{level}": share(beside["words"][element], beside["count"][element]),
            f"like^{level}": like["count"][element],
        }
    return columns | _widest(pages, beside)


def _repetition(groups: Groups, has_text: npt.NDArray[np.bool_], *sums_of: Numbers) -> Columns:
    """Count for each element those in its group that have text, and sum their words, links and prose."""
    group, counts = groups
    of_groups = [total(group, len(counts), values) for values in (has_text, *sums_of)]
    return {
        name: values[group].astype(np.float64)
        for name, values in zip(("count", "words", "links", "long"), of_groups, strict=True)
    }


REPEATED = 3
"""Elements of a kind under one parent that make a list of records: comments, posts, hits, products."""

_RECORD_LEVELS = range(8)
_REPLY_LEVELS = range(10)
"""Steps up from a block's holder to the elements among which records, and those of replies, are looked for."""

_REPLY_LINK_LEVELS = range(1, 7)
"""Steps up to the elements whose links that mark replies are counted."""


def _widest(pages: Layout, beside: Mapping[str, Values]) -> Columns:
    """Measure the list of records with most words among those that a block lies in."""
    of_records = np.where(beside["count"] >= REPEATED, beside["words"], 0)
    widest, found = pages.highest_around(of_records, _RECORD_LEVELS)
    words = beside["words"][widest]
    return {
        "records": np.where(found, beside["count"][widest], 0),
        "records_share": np.where(found, share(words, pages.in_pages(pages.words)), 0),
        "record_words": np.where(found, share(words, beside["count"][widest]), 0),
        "record_links": np.where(found, share(beside["links"][widest], words), 0),
        "record_long": np.where(found, share(beside["long"][widest], words), 0),
    }


def _of_signs(pages: Layout) -> Columns:
    """Count signs that mean the same in every language: of money, rights, direction, of a text cut off, of times."""
    counts = {name: pages.of_class(one) for name, one in _SIGNS.items()}
    counts |= {"years": pages.years, "day_times": pages.day_times, "dates": pages.dates}
    columns = {name: of_blocks.astype(np.float64) for name, of_blocks in counts.items()}
    columns |= {
        "ends_cut_off": pages.is_cut_off.astype(np.float64),
        "ends_colon": (pages.last_classes == COLON).astype(np.float64),
        "ends_pointer": (pages.last_classes == POINTER).astype(np.float64),
        "starts_pointer": (pages.first_classes == POINTER).astype(np.float64),
    }
    counts["cut_off"] = pages.is_cut_off.astype(np.int64)
    blocks, within = pages.lasts - pages.firsts, {name: pages.in_elements(values) for name, values in counts.items()}
    for level, element in pages.around(_SIGN_LEVELS):
        columns |= {f"{name}^{level}": share(values[element], blocks[element]) for name, values in within.items()}
    columns["page_currency"] = share(pages.in_pages(counts["currency"]), np.diff(pages.starts)[pages.pages])
    running = sums(counts["rights"])
    columns["rights_before"] = (running[:-1] - running[pages.page_starts]).astype(np.float64)
    return columns


def _of_slot(pages: Layout) -> Columns:
    """Measure what else stands in the block's slot on the page, by classes and by tags alone; count its copies."""
    long = is_long(pages) * pages.words
    page_words = pages.in_pages(pages.words)
    columns: Columns = {}
    by_class, _, by_path, _ = pages.slot_groups
    for name, (group, counts) in (("slot", by_class), ("path", by_path)):
        words, links, prose = (total(group, len(counts), values) for values in (pages.words, pages.link_words, long))
        columns |= {
            f"{name}_blocks": counts[group].astype(np.float64),
            f"{name}_words": words[group].astype(np.float64),
            f"{name}_mean": share(words, counts)[group],
            f"{name}_links": share(links, words)[group],
            f"{name}_long": share(prose, words)[group],
            f"{name}_share": share(words[group], page_words),
        }
    for name, keys in (("copies", pages.texts), ("shape_copies", pages.shapes)):
        group, counts = grouped(pages.pages, keys)
        columns[name] = counts[group].astype(np.float64)
    columns["slot_shared"] = share(pages.slot_words, pages.words)
    return columns


def _of_section(pages: Layout, likeness: Values) -> Columns:
    """Measure the section that a block stands in: from the heading before it, which it may be, to the next."""
    section, head = pages.sections
    count = int(section[-1]) + 1
    long = is_long(pages) * pages.words
    words, links, prose, blocks = (
        total(section, count, values)[section] for values in (pages.words, pages.link_words, long, np.ones(len(pages)))
    )
    at = np.arange(len(pages))
    return {
        "section_words": words.astype(np.float64),
        "section_blocks": blocks.astype(np.float64),
        "section_links": share(links, words),
        "section_long": share(prose, words),
        "section_share": share(words, pages.in_pages(pages.words)),
        "section_titled": np.where(head >= 0, likeness[head], UNKNOWN),
        "section_heading_words": np.where(head >= 0, pages.words[head], UNKNOWN),
        "since_heading": np.where(head >= 0, at - head, UNKNOWN).astype(np.float64),
    }


def _of_replies(pages: Layout) -> Columns:
    """Measure the marks of what readers write: a field for text beside it, numbered ids, links nobody vouches for.

    Such marks are the same in every language; what they stand for, a comment or a post of a forum, the rest of the page
    must show.
    """
    fields, foreign, places = (
        pages.in_elements(counts) for counts in (pages.text_areas, pages.foreign_links, pages.place_links)
    )
    words = pages.in_elements(pages.words)
    numbers = pages.slots.numbered[pages.element_slots]
    numbered = np.flatnonzero(numbers)
    group, counts = grouped(pages.element_pages[numbered], numbers[numbered])
    alike = np.zeros(len(numbers), np.int64)
    alike[numbered] = counts[group]
    page_words = pages.in_pages(pages.words)
    columns: Columns = {}
    record, beside_field = np.full(len(pages), -1), np.full(len(pages), -1)
    for level, element in pages.around(_REPLY_LEVELS):
        record = np.where((record < 0) & (alike[element] > 0), element, record)
        beside_field = np.where((beside_field < 0) & (fields[element] > 0), element, beside_field)
        if level in _REPLY_LINK_LEVELS:
            columns[f"foreign^{level}"] = share(foreign[element], words[element])
            columns[f"places^{level}"] = share(places[element], words[element])
    columns |= {
        "foreign": pages.foreign_links.astype(np.float64),
        "places": pages.place_links.astype(np.float64),
        "page_fields": pages.in_pages(pages.text_areas).astype(np.float64),
        "page_foreign": pages.in_pages(pages.foreign_links).astype(np.float64),
        "numbered_alike": np.where(record >= 0, alike[record], 0).astype(np.float64),
        "numbered_words": np.where(record >= 0, words[record], UNKNOWN),
        "numbered_share": np.where(record >= 0, share(words[record], page_words), UNKNOWN),
        "field_share": np.where(beside_field >= 0, share(words[beside_field], page_words), UNKNOWN),
        "field_words": np.where(beside_field >= 0, words[beside_field], UNKNOWN),
    }
    running = sums(pages.text_areas)
    columns["fields_behind"] = (running[pages.page_ends] - running[1:]).astype(np.float64)
    return columns
