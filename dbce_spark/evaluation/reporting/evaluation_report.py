"""The analysis as one HTML file that loads nothing: tables of all extractors, and plots."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup

import dbce_spark
from dbce_spark.evaluation.reporting import score_plots, score_tables
from dbce_spark.evaluation.reporting.score_plots import Curve, Distribution, Dot, PlotRow, Series
from dbce_spark.evaluation.reporting.score_tables import between, number
from dbce_spark.evaluation.scoring import (
    average_weights,
    bootstrap,
    clusters,
    complexity,
    facts,
    gold_recurrence,
    node_scores,
)
from dbce_spark.evaluation.scoring.analysis import LOW_F1, Analysis
from dbce_spark.evaluation.scoring.reliability import Reliability
from dbce_spark.evaluation.scoring.score_breakdown import Cell
from dbce_spark.evaluation.scoring.scores import MAIN_METRIC, Scores
from dbce_spark.evaluation.scoring.stream_course import ALL, METHOD, Course, moving
from dbce_spark.log import counted, percent
from dbce_spark.report.svg import COLOURS
from dbce_spark.report.svg.html_template import css, template

BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Of the distribution, as in figure 6.2 of the study."""

Table = tuple[Sequence[object], Sequence[Sequence[object]]]
"""The head of a table, and its rows."""

_STEPS_TITLE = "documents of its domain that had come (pages)"

_STANDING_HEAD = (
    "extractor", "P", "R", "F1", "95 %", "95 % by pages", "median", f"F1 < {LOW_F1}", "F1 - first", "p", "misses",
    "pages/s",
)  # fmt: skip


def html(
    analysis: Analysis,
    scores: Scores,
    notes: Sequence[str],
    contrasts: Mapping[str, str],
    course: Course | None = None,
) -> str:
    """Render the whole report; `notes` as in the summary, `contrasts` where pages of an extractor are shown, by its
    name."""
    return template("dbce_spark.evaluation", "evaluation.html.j2").render(
        notes=notes,
        contrasts=contrasts,
        analysis=analysis,
        shown=[analysis.extractors[at] for at in analysis.shown],
        **_frame(scores),
        **_ranks(analysis),
        **_sets(analysis),
        course=_course(course) if course else None,
        **_distributions(analysis, scores),
        breakdown=[(name, *_tables(cells, analysis)) for name, cells in analysis.breakdown.items()],
        confidence=_confidence(analysis.reliability) if analysis.reliability else None,
        **_metrics(analysis),
        **_clusters(analysis, scores),
        **_gold(analysis, scores),
        misses=score_tables.miss_rows(analysis),
    )


def _frame(scores: Scores) -> dict[str, Any]:
    """Collect what stands above and below all tables."""
    return {
        "css": css(),
        "version": dbce_spark.__version__,
        "main_metric": MAIN_METRIC,
        "cap": percent(average_weights.MAX_SHARE),
        "rounds": f"{bootstrap.ROUNDS:,}",
        "min_sites": bootstrap.MIN_SITES,
        "min_units": bootstrap.MIN_UNITS,
        "gold_error": percent(complexity.MAX_GOLD_ERROR),
        "gold_recurrence": percent(gold_recurrence.MAX_RECURRENCE),
        "pages": len(scores.pages),
        "sites": len({page.unit for page in scores.pages}),
    }


def _ranks(analysis: Analysis) -> dict[str, Any]:
    rows = [
        PlotRow(
            analysis.extractors[at],
            [
                Dot(pool.name, pool.ranks[at].f1, pool.ranks[at].by_sites, colour)
                for colour, pool in enumerate(analysis.pools)
            ],
        )
        for at in analysis.order
    ]
    return {
        "pool_names": [pool.name for pool in analysis.pools],
        "standings_plot": Markup(score_plots.dot_plot(rows)),
        "standing_head": _STANDING_HEAD,
        "pools": [
            (
                pool,
                percent(pool.share),
                [
                    score_tables.rank_row(one, [_strong(one.f1), between(one.by_sites)])
                    for one in sorted(pool.ranks, key=lambda one: -one.f1)
                ],
            )
            for pool in analysis.pools
        ],
        "weighed_head": score_tables.WEIGHED_HEAD,
        "weighed": list(score_tables.weighed_rows(analysis)),
    }


def _sets(analysis: Analysis) -> dict[str, Any]:
    names = ("siblings", "snapshots")
    return {
        "by_set": [
            (name, Markup(_dots(cells, analysis)), *_tables(cells, analysis)) for name, cells in analysis.by_set.items()
        ],
        "line_plots": [
            Markup(_lines(name, analysis.breakdown[name], analysis)) for name in names if name in analysis.breakdown
        ],
    }


def _dots(cells: Sequence[Cell], analysis: Analysis) -> str:
    return score_plots.dot_plot(
        [
            PlotRow(
                f"{cell.value} ({cell.pages:,})",
                [
                    Dot(f"{analysis.extractors[at]}, draws of {cell.drawn}", cell.f1[at], cell.intervals[at], colour)
                    for colour, at in enumerate(analysis.shown)
                ],
            )
            for cell in cells
        ]
    )


def _lines(name: str, cells: Sequence[Cell], analysis: Analysis) -> str:
    steps = [f"{cell.value} ({cell.pages:,})" for cell in cells]
    series = [
        Series(
            analysis.extractors[at],
            colour,
            [Dot(f"{cell.value} {name}", cell.f1[at], cell.intervals[at], colour) for cell in cells],
        )
        for colour, at in enumerate(analysis.shown)
    ]
    return score_plots.line_plot(steps, series, f"{name} (pages)")


def _tables(cells: Sequence[Cell], analysis: Analysis) -> tuple[object, ...]:
    """Make the two tables of some cells: head, rows, head, rows."""
    return (*_f1_table(cells, analysis), *_parts_table(cells, analysis))


def _f1_table(cells: Sequence[Cell], analysis: Analysis) -> Table:
    """Make a table with a column a cell and a row an extractor; the best of each cell is marked."""
    head = ["extractor", *(f"{cell.value} ({cell.pages:,})" for cell in cells)]
    rows = [
        [
            analysis.extractors[at],
            *(
                Markup("{}<br><small>{}</small>").format(
                    _strong(cell.f1[at]) if cell.f1[at] == max(cell.f1) else number(cell.f1[at]),
                    between(cell.intervals[at]),
                )
                for cell in cells
            ),
        ]
        for at in analysis.order
    ]
    return head, rows


def _parts_table(cells: Sequence[Cell], analysis: Analysis) -> Table:
    """Make a table of precision, recall and edit distance, three columns a cell, as the study's tables 6.1 to 6.6."""
    head = ["extractor", *(f"{cell.value}: {part}" for cell in cells for part in ("P", "R", "edit distance"))]
    rows = [
        [
            analysis.extractors[at],
            *(number(values[at]) for cell in cells for values in (cell.precision, cell.recall, cell.distance)),
        ]
        for at in analysis.order
    ]
    return head, rows


def _distributions(analysis: Analysis, scores: Scores) -> dict[str, Any]:
    weight = average_weights.capped([page.unit for page in scores.pages])
    colours = {at: colour for colour, at in enumerate(analysis.shown)}
    f1 = scores.f1
    some = [
        Distribution(extractor, colours.get(at, -1), f1[at], weight) for at, extractor in enumerate(analysis.extractors)
    ]
    bins = [np.histogram(one.values, BINS, weights=one.weights)[0] for one in some]
    return {
        "violins": Markup(score_plots.violins([some[at] for at in analysis.order])),
        "cumulated": Markup(score_plots.cumulated([some[at] for at in analysis.shown])),
        "bins_head": ("extractor", *(f"{low:.1f}-{high:.1f}" for low, high in pairwise(BINS))),
        "bins": [(analysis.extractors[at], *map(percent, bins[at])) for at in analysis.order],
    }


def _confidence(found: Reliability) -> dict[str, Any]:
    return {
        "note": score_tables.reliability_note(found),
        "plot": Markup(score_plots.reliability_plot(found.steps)),
        "head": score_tables.RELIABILITY_HEAD,
        "rows": list(score_tables.reliability_rows(found)),
        "types": score_tables.type_table(found) if found.types else None,
    }


def _metrics(analysis: Analysis) -> dict[str, Any]:
    return {
        "heat_map": Markup(score_plots.heat_map(analysis.metrics, analysis.correlation)),
        "metric_head": ("extractor", *analysis.metrics),
        "by_metric": list(score_tables.metric_rows(analysis)),
        "node_head": node_scores.HEAD,
        "nodes": analysis.nodes,
    }


def _clusters(analysis: Analysis, scores: Scores) -> dict[str, Any]:
    chosen = clusters.sample(len(scores.pages))
    placed = clusters.plane(facts.features(scores.pages)[chosen])
    titles = [f"{scores.pages[at].dataset}: {scores.pages[at].site}" for at in chosen]
    of_chosen = [analysis.clusters[at] for at in chosen]
    count = max(analysis.clusters) + 1
    sizes = np.bincount(analysis.clusters, minlength=count)
    return {
        "tags": len(clusters.TAGS),
        "cluster_names": [f"cluster {at} ({counted(sizes[at], 'page')})" for at in range(count)],
        "scatter": Markup(score_plots.scatter(placed, of_chosen, titles)) if len(placed) else "",
        "shared_head": ("complexity", *(f"cluster {at}" for at in range(count))),
        "shared": [(group, *map(percent, shares)) for group, shares in analysis.shared.items()],
    }


def _gold(analysis: Analysis, scores: Scores) -> dict[str, Any]:
    errors = complexity.error_counts([page.gold_error for page in scores.pages])
    faults = ("gold error", "gold recurrence")
    return {
        "sets_head": ("set", "pages", "sites", *faults, "P25", "P50", "P75", *complexity.GROUPS),
        "sets": list(score_tables.set_rows(analysis)),
        "gold_errors": Markup(score_plots.bars(errors, "pages by their gold error")),
    }


def _course(course: Course) -> dict[str, Any]:
    """Draw the paper's figure 5 over all pages, and its figure 4: the first method that learns, domain by domain."""
    last = course.moving[:, -1]
    best = sorted(range(len(course.extractors)), key=lambda at: -last[at])[:COLOURS]
    method = next(at for at, name in enumerate(course.extractors) if name.startswith(METHOD))
    shown = list(dict.fromkeys([method, *best]))[:COLOURS]
    return {
        "note": score_tables.stream_note(course),
        "names": [f"{course.extractors[at]} ({number(float(last[at]))})" for at in shown],
        "plot": Markup(
            score_plots.curves(
                [Curve(course.extractors[at], colour, course.moving[at]) for colour, at in enumerate(shown)],
                "documents of the stream",
            )
        ),
        **_by_domain(course, method),
        "steps_head": score_tables.step_head(course),
        "steps": list(score_tables.step_rows(course)),
        "steps_plot": Markup(_steps_plot(course, shown)),
        "differences_head": score_tables.step_difference_head(course),
        "differences": list(score_tables.step_difference_rows(course)),
        "passings_head": score_tables.PASSINGS_HEAD,
        "passings": list(score_tables.passing_rows(course)),
    }


def _steps_plot(course: Course, shown: Sequence[int]) -> str:
    """Draw F1 by the number of a page in its domain, of the extractors at these places."""
    some = [step for step in course.steps if step.name != ALL]
    series = [
        Series(
            course.extractors[at],
            colour,
            [Dot(f"documents {step.name}", step.f1[at], step.intervals[at], colour) for step in some],
        )
        for colour, at in enumerate(shown)
    ]
    return score_plots.line_plot([f"{step.name} ({step.pages:,})" for step in some], series, _STEPS_TITLE)


def _by_domain(course: Course, method: int) -> dict[str, Any]:
    """Draw the course of a method on each domain; the longest have colours."""
    domains = sorted(course.domains, key=lambda name: -len(course.domains[name]))
    drawn = [
        Curve(name, at if at < COLOURS else -1, moving(course.f1[method, course.domains[name]]))
        for at, name in enumerate(domains)
    ]
    return {
        "method": course.extractors[method],
        "domains": domains[:COLOURS],
        "by_domain": Markup(score_plots.curves(drawn, "documents of the domain")) if drawn else "",
    }


def _strong(value: float) -> Markup:
    return Markup("<b>{}</b>").format(number(value))
