"""The scores as tables to read."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from dbce_spark.evaluation import bootstrap
from dbce_spark.evaluation.metrics import METRICS
from dbce_spark.evaluation.scores import Row

MAIN_METRIC = "rouge_l"
LOW_F1 = 0.5
MIN_SIBLINGS = 2
ALL_SETS = "all sets"

_HEAD = (
    "set",
    "extractor",
    "pages",
    "P",
    "R",
    "F1 (95 %)",
    "median F1",
    "F1 < 0.5",
    "F1 - first (95 %)",
    "p",
    "pages/s",
)


def text(rows: Sequence[Row], skipped: Mapping[str, int]) -> str:
    """The summary in Markdown: by set and extractor, over all pages and those with siblings; by metric; misses."""
    main = [row for row in rows if row.metric == MAIN_METRIC]
    with_siblings = [row for row in main if row.siblings >= MIN_SIBLINGS]
    passed_over = ", ".join(f"{name} {count:,}" for name, count in sorted(skipped.items()))
    misses = list(_misses(main))
    parts = [
        "# Scores",
        f"P, R and F1 are means over pages of the longest common subsequence of words ({MAIN_METRIC}). In brackets 95 %"
        f" bootstrap intervals over pages, {bootstrap.ROUNDS:,} draws; p from the paired test against the first"
        " extractor. pages/s is a page over its mean CPU time.",
        f"Skipped, because page and gold do not belong together: {passed_over}."
        if passed_over
        else "No page was skipped.",
        "## All pages",
        _table(_HEAD, _by_set(main)),
        f"## Pages with at least {MIN_SIBLINGS} siblings",
        _table(_HEAD, _by_set(with_siblings)) if with_siblings else "There is none.",
        "## Mean F1 by metric, all pages",
        _table(("extractor", *METRICS), _by_metric(rows)),
        "## Misses",
        _table(("set", "extractor", "pages", "error"), misses) if misses else "None.",
    ]
    return "\n\n".join(parts) + "\n"


def _by_set(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    sets = list(dict.fromkeys(row.page.dataset for row in rows))
    for name in [*sets, *([ALL_SETS] if len(sets) > 1 else [])]:
        of_set = [row for row in rows if name in (row.page.dataset, ALL_SETS)]
        by_extractor: dict[str, list[Row]] = {}
        for row in of_set:
            by_extractor.setdefault(row.extractor, []).append(row)
        base = _f1(next(iter(by_extractor.values())))
        for at, (extractor, some) in enumerate(by_extractor.items()):
            yield name, extractor, *_figures(some), *(_against(_f1(some), base) if at else ("", "")), _pace(some)


def _figures(rows: Sequence[Row]) -> tuple[str, ...]:
    f1 = _f1(rows)
    low, high = bootstrap.interval(f1)
    precision, recall = (np.mean([getattr(row.score, name) for row in rows]) for name in ("precision", "recall"))
    return (
        f"{len(rows):,}",
        _number(float(precision)),
        _number(float(recall)),
        f"{_number(float(f1.mean()))} ({_number(low)}-{_number(high)})",
        _number(float(np.median(f1))),
        f"{np.mean(f1 < LOW_F1):.1%}".replace("%", " %"),
    )


def _against(f1: bootstrap.Values, base: bootstrap.Values) -> tuple[str, str]:
    found = bootstrap.difference(f1, base)
    return f"{found.mean:+.3f} ({found.low:+.3f} to {found.high:+.3f})", f"{found.p:.3f}"


def _pace(rows: Sequence[Row]) -> str:
    seconds = sum(row.extracted.seconds for row in rows)
    return f"{len(rows) / seconds:,.0f}" if seconds else ""


def _by_metric(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    f1: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        f1.setdefault(row.extractor, {}).setdefault(row.metric, []).append(row.score.f1)
    for extractor, by_metric in f1.items():
        yield extractor, *(_number(float(np.mean(by_metric[metric]))) for metric in METRICS)


def _misses(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Errors by their first words: what follows the colon differs from page to page."""
    kinds = Counter(
        (row.page.dataset, row.extractor, row.extracted.error.split(":")[0]) for row in rows if row.extracted.error
    )
    for (name, extractor, kind), count in sorted(kinds.items()):
        yield name, extractor, f"{count:,}", kind


def _f1(rows: Sequence[Row]) -> bootstrap.Values:
    return np.array([row.score.f1 for row in rows])


def _number(value: float) -> str:
    return f"{value:.3f}"


def _table(head: Sequence[str], lines: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [tuple(head), ("---",) * len(head), *lines])
