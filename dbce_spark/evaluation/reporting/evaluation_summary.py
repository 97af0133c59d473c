"""The analysis as Markdown: the few tables that decide; report.html has the rest."""

import math
from collections.abc import Iterator, Sequence

from dbce_spark.evaluation.reporting import score_tables
from dbce_spark.evaluation.reporting.score_tables import between, bold, number
from dbce_spark.evaluation.scoring import average_weights, bootstrap, complexity, gold_recurrence, node_scores
from dbce_spark.evaluation.scoring.analysis import LOW_F1, Analysis, ExtractorRank, Pool
from dbce_spark.evaluation.scoring.reliability import Reliability
from dbce_spark.evaluation.scoring.score_breakdown import Cell
from dbce_spark.evaluation.scoring.scores import MAIN_METRIC
from dbce_spark.evaluation.scoring.stream_course import Course
from dbce_spark.files.markdown_table import table
from dbce_spark.log import counted, percent


def text(analysis: Analysis, notes: Sequence[str], course: Course | None = None) -> str:
    """Write the summary. `notes` are sentences on what was left out, and on what was not measured again."""
    parts = [
        *_introduction(analysis, notes),
        *(part for pool in analysis.pools for part in _pool(pool)),
        *_weighed(analysis),
        *(part for name, cells in analysis.by_set.items() for part in _by_set(name, cells, analysis)),
        *_breakdown(analysis),
        *(_course(course) if course else ()),
        *(_confidence(analysis.reliability) if analysis.reliability else ()),
        *_metrics(analysis),
        *_nodes(analysis),
        *_gold(analysis),
        *_misses(analysis),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _introduction(analysis: Analysis, notes: Sequence[str]) -> Iterator[str]:
    yield "# Scores"
    yield (
        f"P, R and F1 of the words in the longest common subsequence of gold and text ({MAIN_METRIC}); a page that an"
        " extractor fails on has 0. In an average over several sets all pages weigh the same, but those of one site"
        f" together at most {percent(average_weights.MAX_SHARE)}; in an average of one set all pages weigh the same."
    )
    yield (
        f"Brackets are 95 % intervals from {bootstrap.ROUNDS:,} bootstrap draws of whole sites, or of pages where there"
        f" are fewer than {bootstrap.MIN_SITES} sites; a single page has none. p, of {bootstrap.MIN_UNITS} and more, is"
        f" of the paired test against {analysis.extractors[0]}, from the same draws."
    )
    yield " ".join(notes)


def _pool(pool: Pool) -> Iterator[str]:
    yield f"## {pool.name[0].upper()}{pool.name[1:]}"
    yield (
        f"{counted(pool.pages, 'page')} of {counted(pool.sites, 'site')}, of which none weighs more than"
        f" {percent(pool.share)}; brackets"
        f" by draws of {pool.drawn}. pages/s: of CPU time."
    )
    head = ("extractor", "P", "R", "F1 (95 %)", "95 % by pages", "median", f"F1 < {LOW_F1}", "F1 - first (95 %)", "p")
    yield table((*head, "misses", "pages/s"), (_rank_row(one) for one in sorted(pool.ranks, key=lambda one: -one.f1)))


def _rank_row(one: ExtractorRank) -> tuple[str, ...]:
    brackets = f" ({between(one.by_sites)})" if one.by_sites.is_known else ""
    return score_tables.rank_row(one, [f"**{number(one.f1)}**{brackets}"])


def _weighed(analysis: Analysis) -> Iterator[str]:
    yield "## F1 by other weights, all pages"
    yield (
        "Site cap: as in the first table. Over pages, sites, sets: each page, site, set weighs the same. Gold error:"
        f" site cap, without pages whose gold has more than {percent(complexity.MAX_GOLD_ERROR)} of words that the page"
        f" lacks. Gold recurrence: without those of which more than {percent(gold_recurrence.MAX_RECURRENCE)} of the"
        " gold is on most siblings, too, in the same place."
    )
    yield table(score_tables.WEIGHED_HEAD, score_tables.weighed_rows(analysis))


def _by_set(name: str, cells: Sequence[Cell], analysis: Analysis) -> Iterator[str]:
    if len(cells) == 1:
        return
    yield f"## F1 by set, {name}"
    yield "Every page weighs the same. The best of a set is bold."
    heads = [f"{cell.value} ({cell.pages:,})" for cell in cells]
    best = [max(cell.f1) for cell in cells]
    rows = (
        (analysis.extractors[at], *(bold(cell.f1[at], highest) for cell, highest in zip(cells, best, strict=True)))
        for at in analysis.order
    )
    yield table(("extractor", *heads), rows)


def _breakdown(analysis: Analysis) -> Iterator[str]:
    best = [analysis.extractors[at] for at in analysis.shown]
    yield "## F1 by what the pages are"
    yield (
        "Weights as in the first table, so that the parts of it add up. `best other`: of all extractors but the first,"
        f" where only the {len(best) - 1} best by the first table have columns. report.html has all, with intervals."
    )
    rows = (
        (
            by,
            cell.value,
            f"{cell.pages:,}",
            f"{cell.sites:,}",
            _best_other(cell, analysis),
            *(number(cell.f1[at]) for at in analysis.shown),
        )
        for by, cells in analysis.breakdown.items()
        for cell in cells
    )
    yield table(("by", "value", "pages", "sites", "best other", *best), rows)


def _best_other(cell: Cell, analysis: Analysis) -> str:
    """Name the best extractor of a cell but the first, after its F1; "" if there is no other."""
    if len(cell.f1) == 1:
        return ""
    at = max(range(1, len(cell.f1)), key=lambda place: (cell.f1[place], -place))
    return f"{number(cell.f1[at])} {analysis.extractors[at]}"


def _course(course: Course) -> Iterator[str]:
    yield "## Over the stream"
    yield score_tables.stream_note(course)
    yield table(score_tables.step_head(course), score_tables.step_rows(course))
    if len(course.extractors) > 1:
        yield table(score_tables.step_difference_head(course), score_tables.step_difference_rows(course))
    yield table(score_tables.PASSINGS_HEAD, score_tables.passing_rows(course))


def _confidence(found: Reliability) -> Iterator[str]:
    yield "## Confidence"
    yield score_tables.reliability_note(found)
    yield table(score_tables.RELIABILITY_HEAD, score_tables.reliability_rows(found))
    if found.types:
        yield "Pages by the type that was read, and a column each that of the gold:"
        yield table(*score_tables.type_table(found))


def _metrics(analysis: Analysis) -> Iterator[str]:
    yield "## Metrics"
    yield (
        "Mean F1 by metric, weights as in the first table; below, how alike two metrics rank the extractors (Spearman's"
        " rank correlation)."
    )
    yield table(("extractor", *analysis.metrics), score_tables.metric_rows(analysis))
    correlation = (
        (metric, *("" if math.isnan(value) else f"{value:.2f}" for value in values))
        for metric, values in zip(analysis.metrics, analysis.correlation, strict=True)
    )
    yield table(("rank correlation", *analysis.metrics), correlation)


def _nodes(analysis: Analysis) -> Iterator[str]:
    """Show the rows of all sets together, or of the only set."""
    yield "## Text nodes"
    yield (
        "Leaves of the page that have a word, those of all pages counted together: content if the gold holds them,"
        " called so if the extractor's text does (the thesis's measure, tables 4.2 and D.1-D.4)."
    )
    last = analysis.nodes[-1][0]
    yield table(node_scores.HEAD[1:], (cells[1:] for cells in analysis.nodes if cells[0] == last))


def _gold(analysis: Analysis) -> Iterator[str]:
    yield "## Gold"
    yield (
        "Complexity: words of the gold over words of the page, quartiles over the set's pages; beside them the share of"
        " pages in each group by the quartiles of all pages."
    )
    faulty = f"gold error > {percent(complexity.MAX_GOLD_ERROR)}"
    recurring = f"gold recurrence > {percent(gold_recurrence.MAX_RECURRENCE)}"
    head = ("set", "pages", "sites", faulty, recurring, "P25", "P50", "P75", *complexity.GROUPS)
    yield table(head, score_tables.set_rows(analysis))


def _misses(analysis: Analysis) -> Iterator[str]:
    yield "## Misses"
    rows = score_tables.miss_rows(analysis)
    yield table(("set", "extractor", "pages", "error"), rows) if rows else "None."
