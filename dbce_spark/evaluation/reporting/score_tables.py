"""Rows and cells of tables of scores, as summary, report and leaderboard show them."""

import math
from collections.abc import Iterator, Sequence

from dbce_spark.evaluation.scoring import bootstrap, complexity
from dbce_spark.evaluation.scoring.analysis import Analysis, ExtractorRank
from dbce_spark.evaluation.scoring.bootstrap import Interval, MeanDifference
from dbce_spark.evaluation.scoring.reliability import GOOD_F1, Reliability
from dbce_spark.evaluation.scoring.stream_course import LEAST, Course
from dbce_spark.log import counted, percent

WEIGHED_HEAD = ("extractor", "site cap", "over pages", "over sites", "over sets", "gold error", "gold recurrence")
"""Columns of `weighed_rows`."""

RELIABILITY_HEAD = ("confidence", "pages", "mean", "F1 reached (95 %)", f"F1 of {GOOD_F1:g} and more")
"""Columns of `reliability_rows`."""

PASSINGS_HEAD = ("passes", "", "domains", "median documents", "documents of the stream")
"""Columns of `passing_rows`."""


def rank_row(one: ExtractorRank, f1: Sequence[str]) -> tuple[str, ...]:
    """Make the row of an extractor in a pool; `f1` are the cells of its F1 by draws of sites."""
    return (
        one.extractor,
        number(one.precision),
        number(one.recall),
        *f1,
        between(one.by_pages),
        number(one.median),
        percent(one.low),
        *against(one.against),
        f"{one.misses:,}",
        "" if math.isnan(one.pace) else f"{one.pace:,.0f}",
    )


def weighed_rows(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Make the rows of F1 by weights, an extractor a row."""
    for one in (analysis.pools[0].ranks[at] for at in analysis.order):
        values = (one.f1, one.over_pages, one.over_sites, one.over_sets, one.clean, one.unrepeated)
        yield one.extractor, *map(number, values)


def metric_rows(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Make the rows of F1 by metric, an extractor a row."""
    for at in analysis.order:
        yield analysis.extractors[at], *map(number, analysis.by_metric[at])


def set_rows(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Make the rows of the properties of each set's gold."""
    for one in analysis.sets:
        groups = [percent(one.groups[group]) for group in complexity.GROUPS]
        counts = (one.pages, one.sites, one.faulty, one.recurring)
        yield one.name, *(f"{count:,}" for count in counts), *map(percent, one.quartiles), *groups


def miss_rows(analysis: Analysis) -> list[tuple[str, ...]]:
    """Make the rows of misses, by set, extractor and error."""
    return [(name, extractor, f"{count:,}", kind) for (name, extractor, kind), count in analysis.misses.items()]


def stream_note(course: Course) -> str:
    """Explain the tables of the stream."""
    pages = course.f1.shape[1]
    return (
        f"{pages:,} pages in order of arrival, set after set: by date, and the {course.undated:,} without one in the"
        " order of their lines. Mean F1 by how many documents of its domain had come, every page alike; then the same"
        f" less that of {course.extractors[0]}, with 95 % intervals from draws of domains, or of pages where there are"
        f" fewer than {bootstrap.MIN_SITES} domains. Below: on how many of the domains with {LEAST} documents and more"
        " the moving average of one passes that of another and stays above it to the end, and after how many"
        " documents; and the same over all pages."
    )


def reliability_note(found: Reliability) -> str:
    """Explain the table of `reliability_rows`."""
    correlation = "" if math.isnan(found.correlation) else f"; their ranks correlate by {found.correlation:.2f}"
    return (
        f"Pages of {found.extractor} by the F1 that their text is expected to reach, every page alike. On average the"
        f" confidence is {abs(found.excess):.3f} too {'high' if found.excess > 0 else 'low'}{correlation}."
    )


def reliability_rows(found: Reliability) -> Iterator[tuple[str, ...]]:
    """Make the rows of F1 by confidence, from low to high."""
    for step in found.steps:
        reached = f"{number(step.f1)} ({between(step.interval)})" if step.interval.is_known else number(step.f1)
        yield step.name, f"{step.pages:,}", number(step.confidence), reached, percent(step.good)


def type_table(found: Reliability) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Make the head and the rows of pages by the type that was read and, a column each, that of the gold."""
    columns = sorted({gold for _, gold in found.types})
    reads = sorted({read for read, _ in found.types})
    return (
        ("read as", *columns),
        [(read, *(f"{found.types.get((read, gold), 0):,}" for gold in columns)) for read in reads],
    )


def step_head(course: Course) -> tuple[str, ...]:
    """Name the columns of `step_rows`."""
    return ("extractor", *(f"{step.name} ({step.pages:,})" for step in course.steps))


def step_rows(course: Course) -> Iterator[tuple[str, ...]]:
    """Make the rows of F1 by step, an extractor a row, the best at the end first."""
    for at in _best_first(course):
        yield course.extractors[at], *(number(step.f1[at]) for step in course.steps)


def step_difference_head(course: Course) -> tuple[str, ...]:
    """Name the columns of `step_difference_rows`."""
    return (f"less {course.extractors[0]}", *(f"{one.name} ({counted(one.domains, 'domain')})" for one in course.steps))


def step_difference_rows(course: Course) -> Iterator[tuple[str, ...]]:
    """Make the rows of F1 less that of the first extractor by step, with intervals, in the order of `step_rows`."""
    for at in _best_first(course):
        if at:
            yield course.extractors[at], *(against(step.differences[at])[0] for step in course.steps)


def _best_first(course: Course) -> list[int]:
    """Order the extractors by their F1 on all pages, the highest first."""
    means = course.moving[:, -1]
    return sorted(range(len(course.extractors)), key=lambda at: -means[at])


def passing_rows(course: Course) -> Iterator[tuple[str, ...]]:
    """Make the rows of which extractor passes which, and where."""
    for one in course.passings:
        median = "" if math.isnan(one.median) else f"{one.median:g}"
        over_all = f"{one.over_all:,}" if one.over_all else "-"
        yield one.extractor, one.other, f"{one.domains} of {one.total}", median, over_all


def number(value: float) -> str:
    """Format a score; "" where there is none."""
    return "" if math.isnan(value) else f"{value:.3f}"


def bold(value: float, highest: float) -> str:
    """Format a score, marked where it is the highest."""
    return f"**{number(value)}**" if value == highest else number(value)


def between(interval: Interval) -> str:
    """Format an interval; "" where there is none."""
    return f"{number(interval.low)}-{number(interval.high)}" if interval.is_known else ""


def against(difference: MeanDifference | None) -> tuple[str, str]:
    """Format a difference with its interval, and its p; both "" for the extractor that is compared against.

    A single page has no interval, and few have no p.
    """
    if difference is None:
        return "", ""
    if math.isnan(difference.low):
        return f"{difference.mean:+.3f}", ""
    return f"{difference.mean:+.3f} ({difference.low:+.3f} to {difference.high:+.3f})", number(difference.p)
