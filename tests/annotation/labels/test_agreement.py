"""Compare Fleiss's multi-pi with another implementation, and check its laws."""

from math import isnan
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dbce_spark.annotation.labels.agreement import Counts, mean_pi, measure_corpus, multi_pi
from dbce_spark.annotation.labels.majority import merge_page
from tests.support.submissions import submission

CHOICES = st.integers(2, 5).flatmap(
    lambda coders: hnp.arrays(np.int64, st.tuples(st.integers(1, 12), st.just(coders)), elements=st.integers(0, 2))
)
"""(items, coders): which of three categories each coder chose."""


def table(
    choices: Counts,
) -> Counts:
    return np.stack([(choices == category).sum(axis=1) for category in range(3)], axis=1)


@given(CHOICES)
def test_multi_pi_is_that_of_nltk(choices: Counts) -> None:
    """The `pi` of nltk counts pairs of coders and follows Artstein and Poesio, too."""
    agreement = pytest.importorskip("nltk.metrics.agreement", reason="nltk is not installed")
    assume(len(np.unique(choices)) > 1)
    task = agreement.AnnotationTask(
        [(f"c{coder}", f"i{item}", int(category)) for (item, coder), category in np.ndenumerate(choices)]
    )
    found = multi_pi(table(choices))

    assert (found.observed, found.pi) == pytest.approx((task.avg_Ao(), task.pi()))


def test_multi_pi_is_that_of_the_example_of_fleiss() -> None:
    """Table 1 of Fleiss (1971): 30 patients, six psychiatrists, five diagnoses; .430 there."""
    rows = """
        0 0 0 6 0  0 3 0 0 3  0 1 4 0 1  0 0 0 0 6  0 3 0 3 0  2 0 4 0 0  0 0 4 0 2  2 0 3 1 0  2 0 0 4 0  0 0 0 0 6
        1 0 0 5 0  1 1 0 4 0  0 3 3 0 0  1 0 0 5 0  0 2 0 3 1  0 0 5 0 1  3 0 0 1 2  5 1 0 0 0  0 2 0 4 0  1 0 2 0 3
        0 0 0 0 6  0 1 0 5 0  0 2 0 1 3  2 0 0 4 0  1 0 0 4 1  0 5 0 1 0  4 0 0 0 2  0 2 0 4 0  1 0 5 0 0  0 0 0 0 6"""

    assert round(multi_pi(np.array(rows.split(), np.int64).reshape(30, 5)).pi, 3) == 0.430


@given(CHOICES, st.permutations(range(3)), st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(choices: Counts, names: list[int], random: Random) -> None:
    """The order of categories, of items and of coders does not change the result."""
    votes = table(choices)
    order = list(range(len(votes)))
    random.shuffle(order)

    assert multi_pi(votes[order][:, names]).pi == pytest.approx(multi_pi(votes).pi, nan_ok=True)


@given(CHOICES)
def test_full_agreement_is_one_and_less_is_less(choices: Counts) -> None:
    """Pi is 1 at full agreement and less otherwise; where all items have one category, agreement is certain and pi is
    nan."""
    found = multi_pi(table(choices))
    agree = bool((choices == choices[:, :1]).all())

    if len(np.unique(choices)) == 1:
        assert (found.observed, isnan(found.pi)) == (1.0, True)
    else:
        assert (found.pi == pytest.approx(1)) == agree
        assert found.pi <= 1


@given(CHOICES, st.data())
def test_a_weight_counts_an_item_as_often(choices: Counts, data: st.DataObject) -> None:
    """A whole weight equals the item repeated as often; an item of weight 0 is left out."""
    votes = table(choices)
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(votes), max_size=len(votes))))
    assume(times.any())
    weighed, repeated = multi_pi(votes, times.astype(np.float64)), multi_pi(np.repeat(votes, times, axis=0))

    assert (weighed.observed, weighed.pi) == pytest.approx((repeated.observed, repeated.pi), nan_ok=True)


def test_an_item_of_one_coder_says_nothing() -> None:
    """An item of one coder has no pair that could agree."""
    votes = np.array([[2, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 0]])

    assert (multi_pi(votes).items, multi_pi(votes[2:]).items, isnan(multi_pi(votes[2:]).pi)) == (2, 0, True)


def test_the_agreement_of_a_corpus_is_the_mean_of_its_pages() -> None:
    """A page on which all tags are alike has no pi, and is left out of the mean."""
    one = merge_page("one", [submission("x", "cb"), submission("y", "cb")])
    half = merge_page("half", [submission("x", "ccbb"), submission("y", "cbcb")])
    same = merge_page("same", [submission("x", "bb"), submission("y", "bb")])

    found = measure_corpus([(one, (1, 1)), (half, (9, 1, 1, 9)), (same, (1, 1))])

    assert (found.mean, round(found.mean_by_words, 3)) == (0.5, 0.9)
    assert (found.pooled.items, found.pages[1].words) == (8, 20)
    assert isnan(mean_pi([]))
