"""Vectors over one, two and three layers."""

import numpy as np

from dbce_spark.annotation.markup.token_dom import DBCE_NAME
from reproductions.thesis.windows import vectors
from tests.support.thesis_pages import nodes_of

PAGE = "<html><body><div><p>one two <b>three</b></p><p>four</p></div></body></html>"

FEATURES = (
    *("P_nid", "C_nid", "N_nid", "C_class"),
    *("P_ld", "P_td", "C_ld", "C_td", "N_ld", "N_td"),
    *("P_wc", "C_wc", "N_wc", "P_tl", "C_tl", "N_tl", "P_tc", "C_tc", "N_tc", "R_1"),
)
"""Columns of one layer in the order of table 2.1. P, C, N are the previous, the current and the next node."""


def test_a_layer_is_table_2_1() -> None:
    """The first node of a paragraph: nothing before it, a word in bold behind it."""
    one = dict(zip(FEATURES, vectors(nodes_of(PAGE), 1)[0].tolist(), strict=True))
    expected = {"P_nid": 0, "C_nid": DBCE_NAME, "P_wc": 0, "C_wc": 2, "N_wc": 1, "C_tl": 7, "N_tl": 5, "N_tc": 1}
    assert expected == {name: one[name] for name in expected}
    assert (7, 0, 2, 1) == (one["R_1"], one["C_class"], one["C_td"], one["N_td"])


def test_the_second_layer_is_the_parents_neighbourhood() -> None:
    """For a word in bold it has its element, the text before that, and nothing behind it."""
    second = dict(zip(FEATURES, vectors(nodes_of(PAGE), 2)[1, len(FEATURES) :].tolist(), strict=True))
    assert (DBCE_NAME, 2, 1, 0) == (second["P_nid"], second["P_wc"], second["C_wc"], second["N_wc"])


def test_a_narrower_window_is_the_start_of_a_wider_one() -> None:
    """T003 sees the first third of what T005 sees."""
    nodes = nodes_of(PAGE)
    wide = vectors(nodes, 3)
    assert (3, 60) == wide.shape
    assert np.array_equal(vectors(nodes, 1), wide[:, :20])
    assert np.array_equal(vectors(nodes, 2), wide[:, :40])


def test_above_the_root_are_dummies() -> None:
    """A window that reaches beyond the page ends in zeros."""
    nodes = nodes_of("<html><body>one two three four five six</body></html>")
    assert not vectors(nodes, 4)[0, 3 * len(FEATURES) :].any()
    assert vectors(nodes, 4)[0, 2 * len(FEATURES) : 3 * len(FEATURES)].any()
