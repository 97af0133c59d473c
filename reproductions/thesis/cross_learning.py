"""A classifier for one cross, learned from the nodes that the bit patterns know (thesis 2.3, listings 4.1 and 4.2)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from dbce_spark.model import Bits, Label
from reproductions.thesis.windows import Vectors


@dataclass(frozen=True, slots=True)
class Examples:
    """A learning set: vectors, and the label of each."""

    vectors: Vectors
    labels: Bits

    def __len__(self) -> int:
        return len(self.labels)


class Model(Protocol):
    """A trained classifier of the nodes of one cross."""

    def predict(self, vectors: Vectors, /) -> Any:
        """Predict a label for each vector."""


Learner = Callable[[Examples], Model]
"""From examples, at least one, to a model of them."""


def examples(vectors: Vectors, labels: Bits) -> Examples:
    """Collect the pre-classified nodes as a learning set. Equal vectors of different labels are all discarded (thesis
    2.3)."""
    decided = np.flatnonzero(labels != Label.UNDECIDED)
    of_decided, decided_labels = vectors[decided], labels[decided]
    if not len(decided):
        return Examples(of_decided, decided_labels)
    _, group = np.unique(of_decided, axis=0, return_inverse=True)
    group = group.reshape(-1)
    has = [
        np.bincount(group[decided_labels == label], minlength=group.max() + 1) > 0
        for label in set(decided_labels.tolist())
    ]
    agrees = (np.sum(has, axis=0) == 1)[group]
    return Examples(of_decided[agrees], decided_labels[agrees])


def learn(learner: Learner, from_these: Examples) -> Model | None:
    """Train a model on these examples, None if there is none left to learn from."""
    return learner(from_these) if len(from_these) else None


def reclassify(model: Model | None, vectors: Vectors, labels: Bits) -> Bits:
    """Label all nodes by the model, the pre-classified ones among them.

    Without a model the labels stay as they are. One that was learned from examples of one label gives every node that
    label: it knows no other.
    """
    return labels if model is None else np.asarray(model.predict(vectors), np.uint8)


def nearest(neighbours: int) -> Learner:
    """Make a KNeighborsClassifier as in listing 4.1, but for this number. With fewer examples, all of them vote.

    `algorithm` "auto" meant "kd_tree" for these sets in scikit-learn 0.18. Today it means "brute" above 15 features,
    whose distances are differences of squares: hashes of class attributes leave nothing of the other features in them.
    """

    def fit(from_these: Examples) -> Model:
        model = KNeighborsClassifier(
            algorithm="kd_tree",
            leaf_size=30,
            metric="minkowski",
            n_jobs=1,
            n_neighbors=min(neighbours, len(from_these)),
            p=2,
            weights="uniform",
        )
        fitted: Model = model.fit(from_these.vectors, from_these.labels)
        return fitted

    return fit


def forest(*, trees: int, seed: int) -> Learner:
    """Make a RandomForestClassifier as in listing 4.2, but for these. `max_features` "auto" of 0.18 is "sqrt" today."""

    def fit(from_these: Examples) -> Model:
        model = RandomForestClassifier(
            bootstrap=True,
            class_weight=None,
            criterion="gini",
            max_depth=None,
            max_features="sqrt",
            max_leaf_nodes=None,
            min_samples_leaf=1,
            min_samples_split=2,
            min_weight_fraction_leaf=0.0,
            n_estimators=trees,
            n_jobs=1,
            oob_score=False,
            random_state=seed,
            verbose=0,
            warm_start=False,
        )
        fitted: Model = model.fit(from_these.vectors, from_these.labels)
        return fitted

    return fit
