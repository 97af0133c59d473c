"""What stays or goes as a whole, found by the paths of blocks: most of a page, and no look at any element in it."""

from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from operator import eq
from typing import Any

import numpy as np
from lxml import etree

from dbce_spark.html.page import BLOCK_TAGS, DROPPED_TAGS
from dbce_spark.html.structure.kept_text import STAYING_TAGS, Kept, is_formula_script, is_visible
from dbce_spark.model import Blocks

_PARTLY, _KEPT, _GONE = range(3)
_DECIDED = {_KEPT: BLOCK_TAGS, _GONE: BLOCK_TAGS - set(STAYING_TAGS)}
"""Elements that stay as a whole, and those that go."""
_UNREAD = tuple(sorted(DROPPED_TAGS - {"noscript", "script"}))
"""Elements that nothing is ever read from; images may stand in <noscript>, formulas in <script>."""
_NAMED, _NAMED_END = '*[name()="', '"]'
_ROOT = 2
"""Steps of a path that every block has: "" and the root."""
_Steps = Sequence[str]


def strip_unread(root: Any) -> None:
    """Take out the elements whose text is none of the page's; one of nothing but white space leaves a space."""
    tags = _UNREAD if any(map(is_formula_script, root.iter("script"))) else (*_UNREAD, "script")
    for element in root.iter(*tags):
        if element.text and element.text.isspace():
            element.tail = f" {element.tail or ''}"
    etree.strip_elements(root, *tags, with_tail=False)


def decide_blocks(root: Any, blocks: Blocks, is_kept: Kept) -> dict[Any, int]:
    """Find the largest block-level elements of which all or nothing is kept, and empty the latter; return each with
    its number of characters.

    No text of a block-level element is in a block with text around it. So the paths of the blocks tell what each holds,
    and no other elements are looked at.
    """
    before, kept_before = (np.append(0, np.cumsum(one)) for one in (is_visible(blocks.text), is_kept))
    starts, ends = before[blocks.starts], before[blocks.ends]
    kept = kept_before[ends] - kept_before[starts]
    states = np.select((kept == ends - starts, kept == 0), (_KEPT, _GONE), _PARTLY).tolist()
    characters = [0, *np.cumsum(ends - starts).tolist()]
    decided: dict[Any, int] = {}
    finder = _Finder(root)
    for state, steps, first, last in _whole(blocks.xpaths, states):
        element = finder.find(steps)
        decided[element] = characters[last] - characters[first]
        if state == _GONE:
            element.clear(keep_tail=True)
    return decided


def _whole(xpaths: Sequence[str], states: Sequence[int]) -> Iterator[tuple[int, _Steps, int, int]]:
    """Iterate over the paths of the largest elements whose blocks all have one state, with that and these blocks.

    Such an element is around neither the block before a run of one state nor the one behind it.
    """
    last = 0
    for state, run in groupby(states):
        first, last = last, last + len([*run])
        if state == _PARTLY:
            continue
        around = [xpaths[at].split("/") for at in (first - 1, last) if 0 <= at < len(xpaths)]
        while first < last:
            start, steps = first, xpaths[first].split("/")
            first += 1
            shared = max((_shared(steps, other) for other in around), default=_ROOT)
            tags = _DECIDED[state]
            depth = next((at for at in range(shared, len(steps)) if _tag(steps[at]) in tags), None)
            if depth is None:
                continue
            steps = steps[: depth + 1]
            path = "/".join(steps)
            within = path + "/"
            while first < last and (xpaths[first] == path or xpaths[first].startswith(within)):
                first += 1
            yield state, steps, start, first


def _shared(steps: _Steps, others: _Steps) -> int:
    """Count the steps that two paths begin with alike."""
    return len([*takewhile(bool, map(eq, steps, others))])


def _tag(step: str) -> str:
    test = step.rpartition("[")[0]
    return test[len(_NAMED) : -len(_NAMED_END)] if test.startswith("*") else test


class _Finder:
    """Finds the elements of paths, in their order. The children of an element around several are listed once."""

    def __init__(self, root: Any):
        self._steps: list[str] = []
        self._found: list[tuple[Any, dict[str, list[Any]]]] = [(root, {})]

    def find(self, steps: _Steps) -> Any:
        """Find the element that a path leads to."""
        below = steps[_ROOT:]
        shared = _shared(below, self._steps)
        self._steps[shared:] = below[shared:]
        del self._found[shared + 1 :]
        for step in below[shared:]:
            element, children = self._found[-1]
            tag = _tag(step)
            if tag not in children:
                children[tag] = [*element.iterchildren(tag)]
            self._found.append((children[tag][int(step[step.rindex("[") + 1 : -1]) - 1], {}))
        return self._found[-1][0]
