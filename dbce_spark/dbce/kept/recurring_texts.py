"""Texts that recur in a slot: what each item of a list has, such as the button that puts it into a basket.

Text around draws them in (`units.choose_of_whole_page`), so here all blocks of a slot that have one text are decided
together, by their own scores.
"""

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier.block_scores import STEP, Scores
from dbce_spark.dbce.classifier.features import REPEATED
from dbce_spark.dbce.key_numbers import mixed_pairs
from dbce_spark.html.closing_links import MOST_CHARS
from dbce_spark.model import CLASS, TEXT, Blocks, Keys

CUT_OF_FAVOR = {"precision": 0.6, "balanced": 0.45, "recall": 0.1}
"""The mean score from which on a recurring text is content. 0.45: of it, 0.35, 0.4 and 0.5 the highest before more was
lost than won (docs/quality.md)."""


def without_recurring_texts(
    blocks: Blocks, keys: Keys, scores: Scores, is_kept: npt.NDArray[np.bool_], favor: str
) -> npt.NDArray[np.bool_]:
    """Drop the kept blocks whose text recurs in their slot, if the mean score of all with it is under the cut.

    A text recurs if at least REPEATED blocks have it, and half of the blocks of the slot; it is as short as a recurring
    link, since a paragraph that recurs is filler. keys: those of the page's features.
    """
    slots, of_slot = np.unique(keys[CLASS], return_inverse=True)
    both = mixed_pairs(of_slot.astype(np.uint64), keys[TEXT].astype(np.uint64))
    texts, of_text = np.unique(both, return_inverse=True)
    in_slot = np.bincount(of_slot, minlength=len(slots))[of_slot]
    with_text = np.bincount(of_text, minlength=len(texts))[of_text]
    summed = np.bincount(of_text, np.rint(scores * STEP), minlength=len(texts))[of_text]
    is_short = blocks.ends - blocks.starts <= MOST_CHARS
    recurs = is_short & (with_text >= REPEATED) & (2 * with_text >= in_slot)
    return is_kept & ~(recurs & (summed < round(CUT_OF_FAVOR[favor] * STEP) * with_text))
