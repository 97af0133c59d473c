"""Recurring links among the kept blocks: behind a text, in its element, with the same few words time and again.

`html/closing_links.py` sets them apart as blocks; here they are found by what is stored of blocks.
"""

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from dbce_spark.html.closing_links import MOST_CHARS, REPEATED
from dbce_spark.model import Blocks


def without_recurring_links(blocks: Blocks, is_kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Drop the kept blocks that are recurring links; text around them draws them in
    (`units.choose_of_whole_page`), whatever their scores."""
    left = is_kept.copy()
    left[[at for places in recurring_links(blocks, is_kept).values() for at in places]] = False
    return left


def recurring_links(blocks: Blocks, is_looked_at: npt.NDArray[np.bool_]) -> dict[str, list[int]]:
    """Find the recurring links among some blocks, by their text."""
    found: dict[str, list[int]] = defaultdict(list)
    for at in np.flatnonzero(is_looked_at & (blocks.link_words >= blocks.words)).tolist():
        start, end = int(blocks.starts[at]), int(blocks.ends[at])
        if at and start < end <= start + MOST_CHARS and blocks.xpaths[at] == blocks.xpaths[at - 1]:
            found[blocks.text[start:end]].append(at)
    return {text: places for text, places in found.items() if len(places) >= REPEATED}
