"""Forests: what LightGBM predicts, without LightGBM."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbce_spark.dbce.classifier.forest import BINS, LEAVES, Forest
from dbce_spark.evaluation.training.boosted_trees import forest
from dbce_spark.model import Codes


def grown(
    codes: Codes, target: npt.NDArray[np.bool_], leaves: int, trees: int, smallest: int = 1
) -> tuple[Forest, Any]:
    """Train a booster on (features, rows) bins, and make a forest of it."""
    import lightgbm

    parameters = {
        "objective": "binary", "num_leaves": leaves, "min_data_in_leaf": smallest, "min_sum_hessian_in_leaf": 0.0,
        "min_data_in_bin": 1, "max_bin": 255, "feature_pre_filter": False, "num_threads": 1, "verbosity": -1,
    }  # fmt: skip
    booster = lightgbm.train(parameters, lightgbm.Dataset(np.ascontiguousarray(codes.T), target), trees)
    return forest([tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]), booster


def random_bins(rows: int, features: int, seed: int) -> tuple[Codes, npt.NDArray[np.bool_]]:
    draw = np.random.default_rng(seed)
    codes = draw.integers(0, BINS, (features, rows), np.uint8)
    return codes, (codes[0] > 20) ^ (codes[-1] > 40) ^ (draw.random(rows) < 0.2)


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(2, LEAVES), st.integers(1, 8), st.integers(1, 6))
def test_forest_predicts_what_lightgbm_does(seed: int, leaves: int, trees: int, features: int) -> None:
    """To the last bits of a sum, on rows it was grown on and on others."""
    codes, target = random_bins(400, features, seed)
    made, booster = grown(codes, target, leaves, trees)
    asked, _ = random_bins(300, features, seed + 1)
    expected = booster.predict(np.ascontiguousarray(asked.T), raw_score=True)

    assert np.abs(expected - made.log_odds(asked)).max() <= 1e-12


def test_trees_of_classes_take_turns() -> None:
    """Every second tree is of the second class."""
    six = forest([{"leaf_value": float(value)} for value in range(6)])

    assert [[6.0, 6.0], [9.0, 9.0]] == six.log_odds_by_class(np.zeros((1, 2), np.uint8), 2).tolist()


@pytest.mark.parametrize(("classes", "rows"), [(1, 1024), (1, 3), (5, 1024), (5, 1)])
def test_trees_are_added_up_one_after_the_other(classes: int, rows: int) -> None:
    """To the last bit: a sum of 150 numbers hangs on their order."""
    draw = np.random.default_rng(5)
    trees = [
        {
            "split_feature": 0, "threshold": int(threshold),
            "left_child": {"leaf_value": left}, "right_child": {"leaf_value": right},
        }
        for threshold, left, right in zip(draw.integers(0, 60, 150), draw.normal(size=150), draw.normal(size=150),
                                          strict=True)
    ]  # fmt: skip
    codes, _ = random_bins(rows, 1, 5)
    expected = np.zeros((classes, rows))
    for at, tree in enumerate(trees):
        expected[at % classes] += forest([tree]).log_odds(codes)

    assert expected.tolist() == forest(trees).log_odds_by_class(codes, classes).tolist()


@pytest.mark.parametrize("leaves", [31, LEAVES])
def test_trees_as_large_as_they_may_be(leaves: int) -> None:
    """All leaves of 31 and of 32 are found, also the last one."""
    codes, target = random_bins(3000, 4, 7)
    made, booster = grown(codes, target, leaves, 3)
    expected = booster.predict(np.ascontiguousarray(codes.T), raw_score=True)

    assert [leaves] * 3 == made.leaves.tolist()
    assert np.abs(expected - made.log_odds(codes)).max() <= 1e-12


structures = st.recursive(
    st.floats(-4, 4).map(lambda value: {"leaf_value": value}),
    lambda below: st.builds(
        lambda feature, threshold, left, right: {
            "split_feature": feature, "threshold": threshold, "left_child": left, "right_child": right,
        },
        st.integers(0, 2), st.integers(0, BINS - 2), below, below,
    ),
    max_leaves=LEAVES,
)  # fmt: skip


def walked(node: Mapping[str, Any], bins: Sequence[int]) -> float:
    """Walk a row down a tree, step by step; return its leaf."""
    while "leaf_value" not in node:
        goes_left = bins[node["split_feature"]] <= node["threshold"]
        node = node["left_child"] if goes_left else node["right_child"]
    value: float = node["leaf_value"]
    return value


@given(st.lists(structures, min_size=1, max_size=4), st.integers(0, 1000))
def test_every_row_comes_to_its_leaf(trees: list[Mapping[str, Any]], seed: int) -> None:
    """Trees of any shape, walked step by step, give the same sum to the last bit."""
    codes = np.random.default_rng(seed).integers(0, BINS, (3, 40), np.uint8)
    # Python 3.12's sum is another one.
    expected = [reduce(add, (walked(tree, bins) for tree in trees)) for bins in codes.T.tolist()]

    assert expected == forest(trees).log_odds(codes).tolist()


@pytest.mark.parametrize("goes", ["left_child", "right_child"])
def test_tree_that_is_a_chain(goes: str) -> None:
    """All of 32 leaves are found in a tree as deep as it can be."""
    stays = {"left_child": "right_child", "right_child": "left_child"}[goes]
    tree: dict[str, Any] = {"leaf_value": 31.0}
    for nth in range(31):
        threshold = nth if goes == "right_child" else 62 - nth
        tree = {"split_feature": 0, "threshold": threshold, goes: tree, stays: {"leaf_value": float(nth)}}
    codes = np.arange(BINS, dtype=np.uint8)[None]

    assert [walked(tree, [bin_]) for bin_ in range(BINS)] == forest([tree]).log_odds(codes).tolist()


def test_tree_of_one_leaf() -> None:
    """Every row gets the one value of a tree without splits."""
    codes, target = random_bins(50, 2, 3)
    made, booster = grown(codes, target, 31, 2, smallest=40)
    expected = booster.predict(np.ascontiguousarray(codes.T), raw_score=True)

    assert ([0], [1]) == (made.splits[:1].tolist(), made.leaves[:1].tolist())
    assert np.abs(expected - made.log_odds(codes)).max() <= 1e-12
    assert 1 == len(set(made.log_odds(codes).tolist()))


def test_trees_of_one_leaf_between_others() -> None:
    """One leaf is not mistaken for a part of the tree before or behind it."""
    split = {
        "split_feature": 1,
        "threshold": 4,
        "left_child": {"leaf_value": 1.0},
        "right_child": {"leaf_value": 2.0},
    }
    made = forest([{"leaf_value": 100.0}, split, {"leaf_value": 1000.0}, split, {"leaf_value": 10_000.0}])

    assert [11102.0, 11104.0] == made.log_odds(np.array([[0, 0], [4, 5]], np.uint8)).tolist()


def test_rows_do_not_depend_on_those_beside_them() -> None:
    """Bit for bit, over the borders of what is scored at once."""
    codes, target = random_bins(20_000, 5, 11)
    made, _ = grown(codes[:, :2000], target[:2000], 31, 5)
    together = made.log_odds(codes)

    assert together[8100:8300].tolist() == made.log_odds(codes[:, 8100:8300]).tolist()
    assert together[[0, 8191, 8192, 19_999]].tolist() == [
        made.log_odds(codes[:, [row]])[0] for row in (0, 8191, 8192, 19_999)
    ]


def test_no_rows() -> None:
    """Nothing to score is no error."""
    codes, target = random_bins(100, 2, 1)

    assert (0,) == grown(codes, target, 4, 2)[0].log_odds(codes[:, :0]).shape
