"""Find annotators who tag by habit, and measure how long a page takes."""

from math import inf

import pytest

from dbce_spark.annotation.labels import annotators
from dbce_spark.annotation.labels.annotators import Visit, biases, exclusions, fences, practice, times, without_outliers
from dbce_spark.annotation.labels.labels_settings import rules
from dbce_spark.annotation.labels.majority import RefusalReason, merge
from tests.support.submissions import corpus, submission

RULES = rules({"minimum_submissions": 1})


def test_outliers_lie_beyond_the_fences_of_tukey() -> None:
    """Quartiles of 1 to 5 are 2 and 4, so that the fences stand 1.5 times 2 beyond them."""
    assert fences([5, 3, 1, 2, 4], 1.5) == (-1.0, 7.0)
    assert fences([], 1.5) == (-inf, inf)


def test_the_bias_of_an_annotator_is_measured_where_there_is_a_winner() -> None:
    """z calls all of the four segments with a winner boilerplate, half of them wrongly; the tie and the segment without
    a tag of z do not count."""
    tags_of = {"x": "ccbbcc", "y": "ccbbcc", "w": "ccbbbc", "z": "bbbbb-"}
    merged = merge(corpus(p=6), [submission(name, tags) for name, tags in tags_of.items()], minimum=1, excluded={})

    bias = {one.annotator: one for one in biases(merged)}["z"]

    assert (bias.segments, bias.given, bias.won) == (4, (0.0, 0.0, 1.0), (0.0, 0.5, 0.5))
    assert (bias.distance, bias.agreed) == (0.5, 0.5)


def crowd(*, biased: str) -> list[str]:
    return ["cccbbb", "cccbbb", "ccbbbb", "cccbbc", "cccbbb", biased]


def test_who_tags_all_alike_is_excluded_and_the_rest_merged_anew() -> None:
    """An annotator with one tag for all is excluded, as in KrdWrd; the reason is recorded with each submission."""
    submissions = [
        submission(f"a{at}", tags, page=page) for page in "pq" for at, tags in enumerate(crowd(biased="bbbbbb"))
    ]

    found = without_outliers(corpus(p=6, q=6), submissions, excluded={}, rules=RULES)

    assert {(one.annotator, one.reason) for one in found.refused} == {("a5", RefusalReason.EXCLUDED)}
    assert {len(one.annotators) for one in found.pages} == {5}


def test_a_small_bias_is_tolerated() -> None:
    """An outlier within the tolerated bias is kept where all others are alike."""
    submissions = [submission(f"a{at}", "cccbbb" * 5, page=page) for page in "pq" for at in range(5)]
    submissions += [submission("a9", "cccbbb" * 4 + "ccbbbb", page=page) for page in "pq"]

    merged = merge(corpus(p=30, q=30), submissions, minimum=1, excluded={})

    assert exclusions(merged, RULES) == {}
    assert list(exclusions(merged, rules({"tolerated_bias": 0.01}))) == ["a9"]


def test_who_submitted_one_page_is_excluded() -> None:
    """An annotator of one page is excluded, since one page shows no habit (KrdWrd 3.4.3)."""
    submissions = [submission("x", "cb", page="p"), submission("x", "cb", page="q"), submission("y", "cb", page="p")]

    assert exclusions(merge(corpus(p=2, q=2), submissions, minimum=1, excluded={}), RULES) == {
        "y": "1 page; 2 are the minimum"
    }


def test_a_time_is_what_was_said_or_since_the_submission_before() -> None:
    """A first submission without a time of its own has no time."""
    submissions = [
        submission("x", "c", page=page, at=at, took=took)
        for page, at, took in (("p", 5, 0), ("q", 65, 0), ("r", 99, 7))
    ]

    found = times(submissions, whisker=1.5)

    assert [(one.page, one.position, one.seconds) for one in found.visits] == [("q", 2, 60.0), ("r", 3, 7.0)]
    assert (found.unknown, found.by_annotator) == (1, {"x": 67.0})


def test_a_break_is_no_time_on_a_page() -> None:
    """A visit of an hour among nine of a minute or so is left out."""
    submissions = [submission("x", "c", page=str(at), at=at, took=50 + at) for at in range(9)]
    submissions.append(submission("x", "c", page="break", at=9, took=3600))

    found = times(submissions, whisker=1.5)

    assert (len(found.visits), found.breaks) == (9, 1)
    assert found.bound == pytest.approx(56.75 + 1.5 * 4.5)


def test_practice_is_seen_on_the_same_page() -> None:
    """x came to p first, and took 30 seconds longer than the two for whom it was the second page."""
    visits = [
        Visit(annotator="x", page="p", position=1, seconds=60),
        Visit(annotator="y", page="p", position=2, seconds=20),
        Visit(annotator="z", page="p", position=2, seconds=40),
        Visit(annotator="y", page="q", position=1, seconds=10),
    ]

    assert practice(visits, smoothing=1) == [(1, 30.0)]


def test_practice_is_smoothed_over_neighbouring_positions() -> None:
    """Each position has the mean of itself and of the positions beside it."""
    visits = [
        Visit(annotator=name, page=page, position=position, seconds=seconds)
        for page, first, longer in (("p", 1, 30), ("q", 2, 0), ("r", 3, 60))
        for name, position, seconds in (("x", first, 10.0 + longer), ("y", first + 3, 10.0))
    ]

    assert practice(visits, smoothing=3) == [(1, 15.0), (2, 30.0), (3, 30.0)]


def test_no_submission_has_no_times() -> None:
    """Without submissions there are neither visits nor breaks."""
    assert times([], whisker=1.5) == annotators.Times(visits=(), bound=inf, breaks=0, unknown=0)
