"""Lots: the pages that are looked at together, bounded by their number and by their blocks.

What comes of a page never depends on the lot that it is in, but memory does: while they are computed, the features of a
block take up to 6 KB, and its scores 3 KB.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from dbce_spark.html.page import Parsed
from dbce_spark.model import Page, Reject

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LotSize:
    """The size of a lot at most. A page with more blocks is a lot by itself."""

    pages: int
    blocks: int


TOGETHER = LotSize(pages=64, blocks=50_000)
"""The size of a lot that features or scores are computed of: enough pages for numpy. Of 5,003 gold pages, in the order
of their files, 64 had 30,778 blocks at most, so that only lots of unusual pages are cut by blocks."""

HTML_TOGETHER = 16 << 20
"""Bytes of HTML of the captures that are parsed together, but for the one that goes beyond them."""


def cut_lots(items: Iterable[T], count_blocks: Callable[[T], int], size: LotSize) -> Iterator[list[T]]:
    """Cut items, each of which is a page or stands for one, into lots in their order."""
    lot: list[T] = []
    held = 0
    for one in items:
        blocks = count_blocks(one)
        if lot and held + blocks > size.blocks:
            yield lot
            lot, held = [], 0
        lot.append(one)
        held += blocks
        if len(lot) == size.pages or held >= size.blocks:  # the next page need not be there yet
            yield lot
            lot, held = [], 0
    if lot:
        yield lot


def blocks_of(outcome: Page | Parsed | Reject) -> int:
    """Count the blocks of what became of a capture: none where it is no page."""
    return 0 if isinstance(outcome, Reject) else len(outcome.blocks)
