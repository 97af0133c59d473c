"""Moving averages over the stream, and which extractor passes which."""

from pathlib import Path

import numpy as np
import pytest

from dbce_spark.evaluation.scoring import bootstrap, stream_course
from dbce_spark.evaluation.scoring.stream_course import LEAST
from tests.support.fake_extractors import gold_pages, line
from tests.support.page_scores import made_scores, page


def test_moving_average_is_the_mean_of_all_so_far() -> None:
    """Equation 4."""
    assert [1.0, 0.5, 2 / 3] == pytest.approx(stream_course.moving(np.array([1.0, 0.0, 1.0])).tolist())


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([0.0, 1.0, 1.0, 1.0], [0.5] * 4, 2),
        ([0.9] * 3, [0.5] * 3, 1),
        ([0.9, 0.9, 0.0, 0.0], [0.5] * 4, 0),
        ([0.6, 0.0, 0.8, 0.9], [0.5] * 4, 4),
    ],
)
def test_one_passes_another_when_its_average_stays_above(one: list[float], other: list[float], expected: int) -> None:
    """A lead that is lost again does not count; 0: it ends below."""
    assert expected == stream_course.passed(np.array(one), np.array(other))


def test_course_follows_the_order_of_arrival(tmp_path: Path) -> None:
    """The page that stands first in the file came last; the domain has enough documents for a course of its own."""
    count = LEAST + 1
    lines = [
        line(str(at), site="news.eu", url=f"http://news.eu/{at}", date=f"201201{count - at:02}") for at in range(count)
    ]
    gold = gold_pages(tmp_path, lines)
    falling = [1 - at / 100 for at in range(count)]
    scores = made_scores([page(at) for at in range(count)], {"urltree": falling, "justext": [0.95] * count})
    course = stream_course.course(scores, {"made": gold})
    assert course is not None
    (passing,) = course.passings

    assert falling[::-1] == course.f1[0].tolist()
    assert {"made: news.eu": list(range(count))} == {name: places.tolist() for name, places in course.domains.items()}
    assert [("1", 1), ("2-4", 3), ("5-9", 5), ("10-19", 2), ("all", 11)] == [
        (step.name, step.pages) for step in course.steps
    ]
    assert (falling[-1], 0.95) == pytest.approx(course.steps[0].f1)
    assert ("urltree", "justext", 1, 1, 11.0, 11, 0) == (
        passing.extractor,
        passing.other,
        passing.domains,
        passing.total,
        passing.median,
        passing.over_all,
        course.undated,
    )


def test_steps_count_the_pages_of_each_domain(tmp_path: Path) -> None:
    """Of two domains that take turns, each has a first page, and pages from the second on."""
    gold = gold_pages(tmp_path, [line(f"{at}", url=f"http://{'ab'[at % 2]}.eu/{at}") for at in range(6)])

    assert [1, 1, 2, 2, 3, 3] == stream_course.positions(gold).tolist()
    assert [("1", 2, 2), ("2-4", 4, 2), ("all", 6, 2)] == [
        (step.name, step.pages, step.domains) for step in stream_course.steps(np.ones((1, 6)), gold)
    ]


@pytest.mark.parametrize("domains", [bootstrap.MIN_SITES, bootstrap.MIN_SITES - 1])
def test_a_difference_is_as_sure_as_draws_of_domains_make_it(tmp_path: Path, domains: int) -> None:
    """One domain of ten has all the gain, on four pages: draws of domains may miss it, draws of pages hardly do. With
    fewer domains pages are drawn."""
    gold = gold_pages(tmp_path, [line(f"{at}", url=f"http://{max(at - 3, 0)}.eu/{at}") for at in range(domains + 3)])
    gained = [1.0] * 4 + [0.5] * (domains - 1)
    whole = stream_course.steps(np.array([[0.5] * len(gold), gained]), gold)[-1]
    of_first, of_other = whole.differences

    assert (0.0, 0.0, 0.0) == (of_first.mean, of_first.low, of_first.high)
    assert pytest.approx(2 / len(gold)) == of_other.mean
    assert (domains >= bootstrap.MIN_SITES) == (of_other.low == 0)
    assert pytest.approx(0.5 + 2 / len(gold)) == whole.f1[1]
    assert whole.intervals[1].low < whole.f1[1] < whole.intervals[1].high


def test_without_a_method_that_learns_there_is_no_course(tmp_path: Path) -> None:
    """Other evaluations are as they were."""
    scores = made_scores([page(0)], {"justext": [1.0]})

    assert stream_course.course(scores, {"made": gold_pages(tmp_path, [line("0")])}) is None
