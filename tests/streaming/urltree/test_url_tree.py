"""Count in the tree as the paper does, whatever documents come and go."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.streaming.urltree.url_tree import UrlTree
from tests.support.urltree_documents import counted, document, domain, plain

branches = st.lists(st.sampled_from("abc"), max_size=3).map(tuple)
documents = st.lists(st.tuples(branches, st.lists(st.integers(0, 12), min_size=1, max_size=6)), max_size=14)


def test_tree_of_three_documents_counts_as_in_figure_3() -> None:
    """Each node of a branch counts its documents, and each block once a document."""
    menu, footer = "Home News Sport", "Copyright"
    held = domain(
        [
            document("http://www.news.eu/politics/europe/article1.html", menu, "Summit", footer, footer),
            document("http://www.news.eu/politics/europe/article2.html", menu, "Election", footer),
            document("http://www.news.eu/sport/article3.html", menu, "Final", "Summit"),
        ]
    )
    tree = held._tree
    ids = {text: int(tree.documents[at].ids[place]) for text, at, place in
           (("menu", 0, 0), ("summit", 0, 1), ("footer", 0, 2), ("election", 1, 1), ("final", 2, 1))}  # fmt: skip
    named = {path: (count, {name: found[number] for name, number in ids.items() if number in found})
             for path, (count, found) in plain(tree).items()}  # fmt: skip
    article = {"menu": 1, "footer": 1}
    whole = {"menu": 3, "summit": 2, "footer": 2, "election": 1, "final": 1}
    expected = {
        "news.eu": (3, whole),
        "news.eu/www": (3, whole),
        "news.eu/www/politics": (2, {"menu": 2, "summit": 1, "footer": 2, "election": 1}),
        "news.eu/www/politics/europe": (2, {"menu": 2, "summit": 1, "footer": 2, "election": 1}),
        "news.eu/www/politics/europe/article1.html": (1, {**article, "summit": 1}),
        "news.eu/www/politics/europe/article2.html": (1, {**article, "election": 1}),
        "news.eu/www/sport": (1, {"menu": 1, "summit": 1, "final": 1}),
        "news.eu/www/sport/article3.html": (1, {"menu": 1, "summit": 1, "final": 1}),
    }

    assert expected == named


@given(documents, st.data())
def test_counts_are_exact_after_any_removal(some: list[tuple[tuple[str, ...], list[int]]], data: st.DataObject) -> None:
    """In whatever order documents come and go, the tree has the counts of those that are left."""
    tree = UrlTree("news.eu")
    left: dict[int, tuple[tuple[str, ...], list[int]]] = {}
    for number, (branch, ids) in enumerate(some):
        tree.insert(number, "", 0, branch, np.array(ids, np.int32))
        left[number] = (branch, ids)
        leaving = data.draw(st.lists(st.sampled_from(sorted(left)), max_size=2, unique=True))
        for gone in leaving:
            tree.remove(gone)
            del left[gone]

        assert counted("news.eu", left.values()) == plain(tree)


def test_emptied_branches_leave_the_tree() -> None:
    """A node without documents is removed from the tree."""
    tree = UrlTree("news.eu")
    tree.insert(0, "", 0, ("a", "b"), np.array([1], np.int32))
    tree.remove(0)

    assert ["news.eu"] == [node.path for node in tree.nodes()]
