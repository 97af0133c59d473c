"""The labels of several crosses, merged."""

import numpy as np

from dbce_spark.model import Label
from reproductions.thesis.label_merging import Opinions, by_evidence
from tests.support.thesis_pages import B, C, U, labels, nodes_of


def opinions(scores: list[float], *by_cross: list[Label]) -> Opinions:
    """Nodes that are paragraphs of one word each, the first one being the longest."""
    words = "".join(f"<p>{'w' * (20 - 9 * at)}</p>" for at in range(len(scores)))
    nodes = nodes_of(f"<html><body>{words}</body></html>")
    return Opinions(
        nodes=nodes, labels=np.stack([labels(*one) for one in by_cross]), scores=np.array(scores, np.float32)
    )


def test_nodes_that_crosses_agree_on_inherit_the_label() -> None:
    """Crosses without an opinion do not count."""
    assert [C, B, U] == by_evidence(opinions([0, 1, 1], [C, B, U], [U, B, U], [C, U, U])).tolist()


def test_evidence_decides_by_its_greater_part() -> None:
    """A draw is undecided."""
    assert [C, B, U] == by_evidence(opinions([0.6, 0.4, 0.5], [C, C, C], [B, B, B])).tolist()
