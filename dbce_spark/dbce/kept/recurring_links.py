"""Recurring links of a page: behind a text, in its element, with the same few words time and again.

`html/closing_links.py` sets them apart as blocks; here they are found by what is stored of blocks.
"""

from collections import defaultdict

import numpy as np

from dbce_spark.html.closing_links import MOST_CHARS, REPEATED
from dbce_spark.model import Blocks


def recurring_links(blocks: Blocks) -> list[int]:
    """Find the recurring links of a page: none is kept, however few of their like are, as text around them draws them
    in (`units.choose_of_whole_page`), whatever their scores. In the state of a stream no other link needs a text."""
    found: dict[str, list[int]] = defaultdict(list)
    for at in np.flatnonzero(blocks.link_words >= blocks.words).tolist():
        text = blocks.text_of(at)
        if at and 0 < len(text) <= MOST_CHARS and blocks.xpaths[at] == blocks.xpaths[at - 1]:
            found[text].append(at)
    return [at for places in found.values() if len(places) >= REPEATED for at in places]
