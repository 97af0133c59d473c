"""Undecided nodes by their neighbours."""

import pytest

from reproductions.thesis.reclassification import in_context
from tests.support.thesis_pages import B, C, U, labels, nodes_of

HTML = f"<html><body><p>{'two words' * 9}</p><p>x</p><p>y</p><p>{'more words than that ' * 9}</p></body></html>"


@pytest.mark.parametrize(
    ("before", "behind", "expected"),
    [(C, C, C), (C, B, B), (B, C, B), (B, B, B)],
)
def test_undecided_nodes_are_content_between_content(before: int, behind: int, expected: int) -> None:
    """However many stand in a row; beside boilerplate they are boilerplate."""
    some = labels(C, U, U, C)
    some[0], some[-1] = before, behind
    assert [before, expected, expected, behind] == in_context(nodes_of(HTML), some, min_density=0).tolist()


def test_at_the_ends_of_a_page_nothing_is_evidence_of_content() -> None:
    """There is no neighbour on one side."""
    assert [B, C, C, B] == in_context(nodes_of(HTML), labels(U, C, C, U), min_density=0).tolist()


def test_neighbours_must_be_dense_enough() -> None:
    """Several words a line on either side."""
    between = labels(C, U, U, C)
    assert [C, B, B, C] == in_context(nodes_of(HTML), between, min_density=15).tolist()


def test_a_page_without_a_label_is_boilerplate() -> None:
    """No pattern labels any node."""
    assert [B] * 4 == in_context(nodes_of(HTML), labels(U, U, U, U), min_density=0).tolist()
