"""Texts that recur in a slot are decided together, by their own scores."""

import numpy as np
import pytest

from dbce_spark.dbce.kept.recurring_texts import without_recurring_texts
from dbce_spark.model import CLASS, KEY_ROWS, TEXT
from tests.support.builders import parsed

BUY, NAME, PRICE = 7, 8, 9
"""Slots."""


def kept(
    slots: list[int], texts: list[int], scores: list[float], favor: str = "balanced", text: str = "Buy"
) -> list[int]:
    """List the blocks that stay, of all of a page; each is as long as `text`."""
    keys = np.zeros((len(KEY_ROWS), len(slots)), np.uint32)
    keys[CLASS], keys[TEXT] = slots, texts
    blocks = parsed(f"<p>{text}" * len(slots)).blocks
    stays = without_recurring_texts(blocks, keys, np.array(scores), np.ones(len(slots), np.bool_), favor)
    return np.flatnonzero(stays).tolist()


def test_a_button_of_each_item_goes_and_the_items_stay() -> None:
    """Items differ, and low scores of them are their list's to decide."""
    assert [0, 2, 4] == kept([NAME, BUY] * 3, [1, 2, 3, 2, 4, 2], [0.4, 0.4] * 3)


@pytest.mark.parametrize(
    ("scores", "is_content"), [([0.45, 0.45, 0.45], True), ([0.2, 0.2, 0.94], False), ([0.2, 0.2, 0.95], True)]
)
def test_the_mean_score_of_a_text_decides(scores: list[float], is_content: bool) -> None:
    """From the cut on it stays, where the slot says the same everywhere."""
    assert ([0, 1, 2] if is_content else []) == kept([PRICE] * 3, [1] * 3, scores)


@pytest.mark.parametrize(("favor", "stays"), [("precision", 0), ("balanced", 3), ("recall", 3)])
def test_who_favors_precision_has_a_higher_cut(favor: str, stays: int) -> None:
    """A mean of .5 lies between."""
    assert stays == len(kept([PRICE] * 3, [1] * 3, [0.5] * 3, favor))


@pytest.mark.parametrize(("texts", "others"), [([1, 1], []), ([1, 1, 1], [2, 3, 4, 5]), ([1, 1, 1], [2] * 4)])
def test_what_stands_twice_or_in_less_than_half_of_its_slot_does_not_recur(texts: list[int], others: list[int]) -> None:
    """Names of authors recur so. What recurs among the others is decided apart."""
    all_texts = [*texts, *others]
    scores = [0.2] * len(texts) + [0.9] * len(others)
    assert [*range(len(all_texts))] == kept([NAME] * len(all_texts), all_texts, scores)


def test_the_same_text_in_another_slot_is_another() -> None:
    """Two here and one there do not recur."""
    assert [0, 1, 2] == kept([NAME, NAME, PRICE], [1, 1, 1], [0.2] * 3)


@pytest.mark.parametrize(("text", "stays"), [("Add it to the basket", 0), ("Add it to the basket now", 3)])
def test_a_long_text_is_filler_and_no_button(text: str, stays: int) -> None:
    """Five words are short."""
    assert stays == len(kept([PRICE] * 3, [1] * 3, [0.2] * 3, text=text))


def test_a_row_never_loses_a_cell() -> None:
    """First, last or between: a column that has the same in each row is data."""
    blocks = parsed("<table>" + "<tr><td>tbc<td>tbc<td>tbc" * 3 + "</table>").blocks
    keys = np.zeros((len(KEY_ROWS), 9), np.uint32)

    assert without_recurring_texts(blocks, keys, np.full(9, 0.2), np.ones(9, np.bool_), "balanced").all()
