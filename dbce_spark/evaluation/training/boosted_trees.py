"""Trees that LightGBM boosts: its parameters, and what it makes as a forest of ours."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier.forest import BINS, LEAVES, Forest
from dbce_spark.model import Codes

Weights = npt.NDArray[np.float64]

SEED = 1
"""Of every draw in training, so that the same pages give the same classifier."""

NEVER: Mapping[str, Any] = {"leaf_value": -20.0}
"""The tree that stands for comments where no set marks them."""

PARAMETERS = {
    "objective": "binary",
    "learning_rate": 0.08,
    "num_leaves": LEAVES - 1,
    "min_data_in_leaf": 200,
    "feature_fraction": 0.1,
    "bagging_fraction": 0.6,
    "bagging_freq": 1,
    "lambda_l2": 20.0,
    "max_bin": BINS,
    "min_data_in_bin": 1,
    "feature_pre_filter": False,
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 2,
    "seed": SEED,
    "verbosity": -1,
}
"""Small steps, each tree on a tenth of the features: evidence of siblings is rarely split on where the page's own
features may be split on first. A fixed number of threads: sums depend on it."""


WHOLE_PARAMETERS = PARAMETERS | {"min_data_in_leaf": 60, "feature_fraction": 0.15, "extra_trees": True}
"""Pages that readers labelled whole are a fifth of all, and the features pooled over units are many. So each split is
the best of thresholds that are drawn, one a feature (Geurts et al., *Extremely randomized trees*, 2006)."""

TYPE_PARAMETERS = PARAMETERS | {
    "objective": "multiclassova",
    "learning_rate": 0.15,
    "num_leaves": 8,
    "min_data_in_leaf": 6,
    "bagging_freq": 0,
    "lambda_l2": 1.0,
}
"""One type against all others. Rows are pages: there are few, and each comes twice."""

NO_CONTENT_PARAMETERS = PARAMETERS | {"min_data_in_leaf": 20, "lambda_l2": 5.0}
"""Rows are pages, too."""


def fit(
    codes: Codes,
    labels: npt.NDArray[Any],
    weights: Weights,
    trees: int,
    parameters: Mapping[str, Any],
) -> Forest:
    """Train a forest on (features, rows) bins."""
    import lightgbm

    data = lightgbm.Dataset(np.ascontiguousarray(codes.T), labels, weight=weights, free_raw_data=True)
    booster = lightgbm.train({**parameters}, data, trees)
    return forest([tree["tree_structure"] for tree in booster.dump_model()["tree_info"]])


def forest(structures: Sequence[Mapping[str, Any]]) -> Forest:
    """Convert trees as LightGBM dumps them to a forest."""
    splits: list[tuple[int, int, int, int]] = []
    split_counts, leaf_counts, values = [], [], []
    for structure in structures:
        before = len(splits)
        leaves: list[float] = []
        _walk(structure, splits, leaves)
        split_counts.append(len(splits) - before)
        leaf_counts.append(len(leaves))
        values += leaves
    columns = np.array(splits, np.int64).reshape(-1, 4).T
    return Forest(
        features=columns[0].astype(np.uint16),
        thresholds=columns[1].astype(np.uint8),
        firsts=columns[2].astype(np.uint8),
        lasts=columns[3].astype(np.uint8),
        splits=np.array(split_counts, np.uint8),
        leaves=np.array(leaf_counts, np.uint8),
        values=np.array(values, np.float64),
    )


def _walk(node: Mapping[str, Any], splits: list[tuple[int, int, int, int]], leaves: list[float]) -> None:
    """Append the splits and leaves below a node, the left before the right."""
    if "leaf_value" in node:
        leaves.append(node["leaf_value"])
        return
    first = len(leaves)
    _walk(node["left_child"], splits, leaves)
    splits.append((node["split_feature"], int(node["threshold"]), first, len(leaves)))
    _walk(node["right_child"], splits, leaves)
