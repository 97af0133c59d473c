"""Texts that recur in a slot: what each item of a list has, such as the button that puts it into a basket.

Text around draws them in (`units.choose_of_whole_page`), so here all blocks of a slot that have one text are decided
together, by their own scores.
"""

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier import units
from dbce_spark.dbce.classifier.block_scores import STEP, Scores
from dbce_spark.dbce.classifier.features import REPEATED, total
from dbce_spark.dbce.key_numbers import grouped
from dbce_spark.model import CLASS, TEXT, Blocks, Keys

MOST_WORDS = 5
"""Words of a recurring text at most: a paragraph that recurs is filler of a template, and content."""

CUT_OF_FAVOR = units.CUT_OF_FAVOR | {"balanced": 0.45}
"""The mean score from which on a recurring text is content. 0.45: with a higher one F1 hardly rises, and more pages
lose (docs/quality.md)."""


def without_recurring_texts(
    blocks: Blocks, keys: Keys, scores: Scores, is_kept: npt.NDArray[np.bool_], favor: str
) -> npt.NDArray[np.bool_]:
    """Drop the kept blocks whose text recurs in their slot, if the mean score of all with it is under the cut.

    A text recurs if at least REPEATED blocks have it, and half of the blocks of the slot. Cells of a row stay: what a
    column has in each row is data, and a row never loses a cell. keys: those of the page's features.
    """
    of_slot, in_slot = grouped(np.zeros(len(scores), np.int64), keys[CLASS])
    of_text, with_text = grouped(of_slot, keys[TEXT])
    summed = total(of_text, len(with_text), np.rint(scores * STEP))
    recurs = (with_text[of_text] >= REPEATED) & (2 * with_text[of_text] >= in_slot[of_slot])
    is_low = (summed < round(CUT_OF_FAVOR[favor] * STEP) * with_text)[of_text]
    is_dropped = is_kept & recurs & is_low & (blocks.words <= MOST_WORDS)
    if is_dropped.any():
        is_dropped &= ~blocks.in_rows()
    return is_kept & ~is_dropped
