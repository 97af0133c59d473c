"""Controls among the kept blocks: links behind a text, in its element, that recur with the same few words."""

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from dbce_spark.html.closing_links import MOST_CHARS, REPEATED
from dbce_spark.model import Blocks


def without_controls(blocks: Blocks, is_kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Drop the kept blocks that are controls; text around them draws them in (`units.kept_blocks`), whatever their
    scores."""
    found: dict[str, list[int]] = defaultdict(list)
    for at in np.flatnonzero(is_kept & (blocks.link_words >= blocks.words)).tolist():
        start, end = int(blocks.starts[at]), int(blocks.ends[at])
        if at and end - start <= MOST_CHARS and blocks.xpaths[at] == blocks.xpaths[at - 1]:
            found[blocks.text[start:end]].append(at)
    left = is_kept.copy()
    left[[at for places in found.values() if len(places) >= REPEATED for at in places]] = False
    return left
