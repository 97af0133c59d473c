"""Learning sets, classifiers, and what becomes of thin ones."""

import numpy as np
import pytest

from reproductions.thesis import cross_learning
from reproductions.thesis.cross_learning import Learner, forest, learn, nearest, reclassify
from reproductions.thesis.learned_cases import CASES
from tests.support.thesis_pages import B, C, U, examples, labels

LEARNERS = [CASES[name].learner for name in ("T003", "T006")]
VECTORS = np.array([[0.0, 1], [0, 2], [9, 1], [9, 2], [1, 1]])


def test_equal_vectors_of_different_labels_are_all_discarded() -> None:
    """Thesis 2.3: both classes are removed from the learning set, however often each stands there."""
    vectors = np.array([[1.0, 2], [1, 2], [1, 2], [3, 4], [3, 4], [5, 6]])
    found = cross_learning.examples(vectors, labels(C, B, C, B, B, C))
    assert [[3, 4], [3, 4], [5, 6]] == found.vectors.tolist()
    assert [B, B, C] == found.labels.tolist()


def test_undecided_nodes_teach_nothing() -> None:
    """Nor do they quarrel with equal ones."""
    found = cross_learning.examples(np.array([[1.0], [1], [2]]), labels(U, C, U))
    assert ([[1.0]], [C]) == (found.vectors.tolist(), found.labels.tolist())


@pytest.mark.parametrize("learner", LEARNERS)
def test_all_nodes_are_labelled_anew(learner: Learner) -> None:
    """An undecided node gets the label of those like it, and so does a pre-classified one that is unlike its own."""
    near, far = [[0.0, value] for value in range(6)], [[900.0, value] for value in range(6)]
    vectors = np.array([*near, *far, [1.0, 1.5], [899.0, 2.5]])
    decided = labels(*[C] * 6, *[B] * 6, U, U)
    found = reclassify(learn(learner, cross_learning.examples(vectors, decided)), vectors, decided)
    assert [*[C] * 6, *[B] * 6, C, B] == found.tolist()


@pytest.mark.parametrize("learner", LEARNERS)
def test_with_nothing_to_learn_from_labels_stay(learner: Learner) -> None:
    """No node labelled by a pattern, or all in conflict: there is no model."""
    for decided in (labels(U, U), labels(C, B)):
        found = cross_learning.examples(np.array([[1.0], [1.0]]), decided)
        assert decided.tolist() == reclassify(learn(learner, found), np.array([[1.0], [1.0]]), decided).tolist()


@pytest.mark.parametrize("learner", LEARNERS)
def test_with_examples_of_one_label_all_nodes_get_it(learner: Learner) -> None:
    """Fewer examples than neighbours are no error either."""
    decided = labels(B, U, U, B, U)
    found = reclassify(learn(learner, cross_learning.examples(VECTORS, decided)), VECTORS, decided)
    assert [B] * 5 == found.tolist()


def test_large_hashes_do_not_drown_small_features() -> None:
    """Between nodes of one class only the other features decide, as exactly as without the hash."""
    of_class = np.concatenate([np.full((12, 20), 4.2e9), np.arange(12.0)[:, None]], axis=1)
    model = nearest(neighbours=1)(examples(of_class.tolist(), [C, B] * 6))
    assert [C, B] * 6 == model.predict(of_class + np.eye(1, 21, 20) * 0.25).tolist()


def test_a_forest_is_the_same_every_time() -> None:
    """Its seed is given; another one draws other samples."""
    draw = np.random.default_rng(0)
    vectors = draw.random((60, 8))
    some = examples(vectors.tolist(), [C if value > 0.5 else B for value in draw.random(60)])
    unseen = draw.random((200, 8))

    def predicted(seed: int) -> list[int]:
        learner = forest(trees=10, seed=seed)
        return [int(label) for label in learner(some).predict(unseen)]

    assert predicted(1) == predicted(1) != predicted(2)
