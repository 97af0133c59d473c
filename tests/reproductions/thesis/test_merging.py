"""The labels of several crosses, merged."""

import numpy as np
import pytest

from dbce_spark.model import Label
from reproductions.thesis.cross_learning import nearest
from reproductions.thesis.label_merging import Opinions, rules
from tests.support.thesis_pages import B, C, U, labels, nodes_of

RULES = rules(nearest(neighbours=1, weights="uniform"))


def opinions(scores: list[float], *by_cross: list[Label]) -> Opinions:
    """Nodes that are paragraphs of one word each, the first one being the longest."""
    words = "".join(f"<p>{'w' * (20 - 9 * at)}</p>" for at in range(len(scores)))
    nodes = nodes_of(f"<html><body>{words}</body></html>")
    return Opinions(
        nodes=nodes, labels=np.stack([labels(*one) for one in by_cross]), scores=np.array(scores, np.float32)
    )


@pytest.mark.parametrize("name", RULES)
def test_nodes_that_crosses_agree_on_inherit_the_label(name: str) -> None:
    """Crosses without an opinion do not count."""
    assert [C, B, U] == RULES[name](opinions([0, 1, 1], [C, B, U], [U, B, U], [C, U, U])).tolist()


def test_evidence_decides_by_its_greater_part() -> None:
    """A draw is undecided."""
    assert [C, B, U] == RULES["evidence"](opinions([0.6, 0.4, 0.5], [C, C, C], [B, B, B])).tolist()


def test_votes_decide_by_the_number_of_crosses() -> None:
    """Whatever the evidence."""
    assert [B, C, U] == RULES["votes"](opinions([1, 0, 1], [C, C, C], [B, C, B], [B, B, U])).tolist()


def test_caution_takes_the_first_boilerplate() -> None:
    """One cross is enough."""
    assert [B, C] == RULES["caution"](opinions([1, 0], [C, C], [C, C], [B, C])).tolist()


def test_the_learned_merge_asks_the_nodes_that_crosses_agree_on() -> None:
    """The node in conflict is most like the short one."""
    assert [C, B, B] == RULES["learned"](opinions([1, 1, 1], [C, C, B], [C, B, B])).tolist()


def test_the_learned_merge_leaves_undecided_what_nothing_agrees_on() -> None:
    """All in conflict: there is nothing to learn from."""
    assert [U, U] == RULES["learned"](opinions([1, 1], [C, B], [B, C])).tolist()
