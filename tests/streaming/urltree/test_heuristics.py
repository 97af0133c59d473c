"""Choose the deciding node by the heuristics of section 5.4."""

import pytest

from dbce_spark.streaming.urltree.heuristics import decide
from dbce_spark.streaming.urltree.url_tree import Node
from tests.support.urltree_documents import config


def leaf_below(*documents: int) -> Node:
    """Return a leaf of a branch whose nodes, from the domain on, have seen so many documents."""
    node: Node | None = None
    for at, count in enumerate(documents):
        node = Node(str(at), node)
        node.documents = count
    assert node is not None
    return node


@pytest.mark.parametrize(
    ("heuristic", "documents", "expected"),
    [
        ("strict", (900, 40, 5, 4, 1), ("0/1/2", 1)),
        ("strict", (4, 2, 1), ("0", 1)),
        ("strict-support", (900, 101, 100, 1), ("0/1", 1)),
        ("strict-support", (90, 40, 1), ("0", 1)),
        ("strict-at-domain", (900, 40, 1), ("0", 1)),
        ("relaxed-at-domain", (500, 40, 1), ("0/1", 1)),
        ("relaxed-at-domain", (501, 40, 1), ("0/1", 2)),
        ("relaxed-at-domain-node", (500, 40, 1), ("0", 1)),
        ("relaxed-at-domain-node", (501, 40, 1), ("0", 2)),
    ],
)
def test_heuristic_chooses_node_and_threshold(
    heuristic: str, documents: tuple[int, ...], expected: tuple[str, int]
) -> None:
    """The choice depends on the documents that each node of the branch has seen."""
    decision = decide(leaf_below(*documents), config(f"label.heuristic={heuristic}").label)

    assert expected == (decision.node.path, decision.c_max)
