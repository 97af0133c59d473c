"""Elements that stay or go as a whole, found by the paths of blocks: most of a page, without looking into it."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from lxml import etree

from dbce_spark.html.elements import BLOCK_TAGS, DROPPED_TAGS
from dbce_spark.html.structure.kept_media import Kept, counts_before
from dbce_spark.html.structure.kept_text import STAYING_TAGS, is_formula_script, visible_before
from dbce_spark.model import Blocks

_EMPTIED = BLOCK_TAGS - {"html", *STAYING_TAGS}
_UNREAD = tuple(sorted(DROPPED_TAGS - {"noscript", "script"}))
"""Elements that nothing is ever read from; images may stand in <noscript>, formulas in <script>."""
_NAMED, _NAMED_END = '*[name()="', '"]'
_Group = tuple[str, int, int]
"""A step of a path, with the blocks that lie behind it: from, and up to but not including."""


def strip_unread(root: Any) -> None:
    """Take out the elements whose text is none of the page's; one of nothing but white space leaves a space."""
    tags = _UNREAD if any(map(is_formula_script, root.iter("script"))) else (*_UNREAD, "script")
    for element in root.iter(*tags):
        if element.text and element.text.isspace():
            element.tail = f" {element.tail or ''}"
    etree.strip_elements(root, *tags, with_tail=False)


def decide_elements(root: Any, blocks: Blocks, is_kept: Kept) -> dict[Any, int]:
    """Find the largest block-level elements of which all or nothing is kept, and empty the latter; return each with
    its number of characters. One with at least half of all that is kept is no such: it may have a frame of pictures.

    No text of a block-level element is in a block with text around it. So the paths of the blocks tell what each holds,
    and only elements around both kinds are looked at.
    """
    before, kept_before = visible_before(blocks.text), counts_before(is_kept)
    starts, ends = before[blocks.starts], before[blocks.ends]
    lengths = [0, *np.cumsum(ends - starts).tolist()]
    kept_of = [0, *np.cumsum(kept_before[ends] - kept_before[starts]).tolist()]
    paths = [f"{xpath}/" for xpath in blocks.xpaths]
    decided: dict[Any, int] = {}
    pending = [(root, paths[0].index("/", 1) + 1, 0, len(paths))]
    while pending:
        element, begin, first, last = pending.pop()
        for child, (step, first_within, last_within) in _found(element, _groups(paths, begin, first, last)):
            length = lengths[last_within] - lengths[first_within]
            kept = kept_of[last_within] - kept_of[first_within]
            is_whole = kept == length and child.tag in BLOCK_TAGS and 2 * kept < kept_of[-1]
            if is_whole or (not kept and child.tag in _EMPTIED):
                decided[child] = length
                if not kept:
                    child.clear(keep_tail=True)
            else:
                pending.append((child, begin + len(step) + 1, first_within, last_within))
    return decided


def _groups(paths: Sequence[str], begin: int, first: int, last: int) -> Iterator[_Group]:
    """Iterate over the steps by which the paths of some blocks go on from a character on; behind each is a slash."""
    at = first
    while at < last:
        start, at = at, at + 1
        path = paths[start]
        if len(path) <= begin:
            continue
        step = path[begin : path.index("/", begin) + 1]
        if start == first and paths[last - 1].startswith(step, begin):
            at = last
        while at < last and paths[at].startswith(step, begin):
            at += 1
        yield step[:-1], start, at


def _found(element: Any, groups: Iterator[_Group]) -> Iterator[tuple[Any, _Group]]:
    """Iterate over the children that steps lead to. An inline one with blocks between its texts has several groups; no
    more are found from there on, and what they hold stays."""
    children: dict[str, Iterator[Any]] = {}
    counts: dict[str, int] = {}
    for group in groups:
        test, _, nth = group[0].rpartition("[")
        tag = test[len(_NAMED) : -len(_NAMED_END)] if test.startswith("*") else test
        number, passed = int(nth[:-1]), counts.get(tag, 0)
        if number <= passed:
            return
        if not passed:
            children[tag] = element.iterchildren(tag)
        child = next(islice(children[tag], number - passed - 1, None), None)
        if child is None:
            return
        counts[tag] = number
        yield child, group
