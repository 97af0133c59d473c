"""The analysis as Markdown: the few tables that decide; report.html has the rest."""

import math
from collections.abc import Iterator, Sequence

from dbce_spark.evaluation import average_weights, bootstrap, complexity, node_scores
from dbce_spark.evaluation.analysis import LOW_F1, Analysis, Cell, ExtractorRank, Pool
from dbce_spark.evaluation.bootstrap import Interval, MeanDifference
from dbce_spark.evaluation.scores import MAIN_METRIC
from dbce_spark.evaluation.stream_course import LEAST, Course
from dbce_spark.files.markdown_table import table


def text(analysis: Analysis, notes: Sequence[str], course: Course | None = None) -> str:
    """Write the summary. `notes` are sentences on what was left out, and on what was not measured anew."""
    best = [analysis.extractors[at] for at in analysis.shown]
    parts = [
        "# Scores",
        f"P, R and F1 of the words in the longest common subsequence of gold and text ({MAIN_METRIC}); a page that an"
        " extractor fails on has 0. In an average over several sets all pages weigh the same, but those of one site"
        f" together at most {percent(average_weights.MAX_SHARE)}; in an average of one set all pages weigh the same.",
        f"Brackets are 95 % intervals from {bootstrap.ROUNDS:,} bootstrap draws of whole sites, or of pages where there"
        f" are fewer than {bootstrap.MIN_SITES} sites; a single page has none. p, of {bootstrap.MIN_UNITS} and more, is"
        f" of the paired test against {analysis.extractors[0]}, from the same draws.",
        " ".join(notes),
        *(part for pool in analysis.pools for part in _pool(pool)),
        "## F1 by other weights, all pages",
        "Site cap: as in the first table. Over pages, sites, sets: each page, site, set weighs the same. Gold error:"
        f" site cap, without pages whose gold has more than {percent(complexity.MAX_GOLD_ERROR)} of words that the page"
        " lacks.",
        table(("extractor", "site cap", "over pages", "over sites", "over sets", "gold error"), _weighed(analysis)),
        *(part for name, cells in analysis.by_set.items() for part in _by_set(name, cells, analysis)),
        "## F1 by what the pages are",
        "Weights as in the first table, so that the parts of it add up. `best other`: of all extractors but the first,"
        f" where only the {len(best) - 1} best by the first table have columns. report.html has all, with intervals.",
        table(("by", "value", "pages", "sites", "best other", *best), _breakdown(analysis)),
        *(_course(course) if course else ()),
        "## Metrics",
        "Mean F1 by metric, weights as in the first table; below, how alike two metrics rank the extractors (Spearman's"
        " rank correlation).",
        table(("extractor", *analysis.metrics), metric_rows(analysis)),
        table(("rank correlation", *analysis.metrics), _correlation(analysis)),
        "## Text nodes",
        "Leaves of the page that have a word, those of all pages counted together: content if the gold holds them,"
        " called so if the extractor's text does (the thesis's measure, tables 4.2 and D.1-D.4).",
        table(node_scores.HEAD[1:], _nodes(analysis)),
        "## Gold",
        "Complexity: words of the gold over words of the page, quartiles over the set's pages; beside them the share of"
        " pages in each group by the quartiles of all pages.",
        table(
            ("set", "pages", "sites", "gold error > 2 %", "P25", "P50", "P75", *complexity.GROUPS), set_rows(analysis)
        ),
        "## Misses",
        table(("set", "extractor", "pages", "error"), miss_rows(analysis)) if analysis.misses else "None.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _pool(pool: Pool) -> Iterator[str]:
    yield f"## {pool.name[0].upper()}{pool.name[1:]}"
    yield (
        f"{pool.pages:,} pages of {pool.sites:,} sites, of which none weighs more than {percent(pool.share)}; brackets"
        f" by draws of {pool.drawn}. pages/s: of CPU time."
    )
    head = ("extractor", "P", "R", "F1 (95 %)", "95 % by pages", "median", f"F1 < {LOW_F1}", "F1 - first (95 %)", "p")
    yield table((*head, "misses", "pages/s"), (_rank_row(one) for one in sorted(pool.ranks, key=lambda one: -one.f1)))


def _rank_row(one: ExtractorRank) -> tuple[str, ...]:
    return (
        one.extractor,
        number(one.precision),
        number(one.recall),
        f"**{number(one.f1)}**" + (f" ({between(one.by_sites)})" if one.by_sites.is_known else ""),
        between(one.by_pages),
        number(one.median),
        percent(one.low),
        *against(one.against),
        f"{one.misses:,}",
        "" if math.isnan(one.pace) else f"{one.pace:,.0f}",
    )


def _weighed(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    for one in (analysis.pools[0].ranks[at] for at in analysis.order):
        values = (one.f1, one.over_pages, one.over_sites, one.over_sets, one.clean)
        yield one.extractor, *map(number, values)


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


def _breakdown(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    for by, cells in analysis.breakdown.items():
        for cell in cells:
            shown = [number(cell.f1[at]) for at in analysis.shown]
            yield by, cell.value, f"{cell.pages:,}", f"{cell.sites:,}", best_other(cell, analysis), *shown


def _course(course: Course) -> Iterator[str]:
    yield "## Over the stream"
    yield stream_note(course)
    yield table(steps_head(course), steps(course))
    yield table(PASSINGS_HEAD, passings(course))


PASSINGS_HEAD = ("passes", "", "domains", "median documents", "documents of the stream")


def stream_note(course: Course) -> str:
    """Explain the tables of the stream."""
    pages = course.f1.shape[1]
    return (
        f"{pages:,} pages in order of arrival, set after set: by date, and the {course.undated:,} without one in the"
        " order of their lines. Mean F1 by how many documents of its domain had come, every page alike. Below: on how"
        f" many of the domains with {LEAST} documents and more the moving average of one passes that of another and"
        " stays above it to the end, and after how many documents; and the same over all pages."
    )


def steps_head(course: Course) -> tuple[str, ...]:
    return ("extractor", *(f"{step.name} ({step.pages:,})" for step in course.steps), "all")


def steps(course: Course) -> Iterator[tuple[str, ...]]:
    """Make the rows of F1 by step, an extractor a row, the best at the end first."""
    means = course.moving[:, -1]
    for at in sorted(range(len(course.extractors)), key=lambda at: -means[at]):
        yield course.extractors[at], *(number(step.f1[at]) for step in course.steps), number(float(means[at]))


def passings(course: Course) -> Iterator[tuple[str, ...]]:
    for one in course.passings:
        median = "" if math.isnan(one.median) else f"{one.median:g}"
        yield (
            one.extractor,
            one.other,
            f"{one.domains} of {one.total}",
            median,
            f"{one.over_all:,}" if one.over_all else "-",
        )


def metric_rows(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Make the rows of F1 by metric, an extractor a row."""
    for at in analysis.order:
        yield analysis.extractors[at], *map(number, analysis.by_metric[at])


def _correlation(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    for metric, values in zip(analysis.metrics, analysis.correlation, strict=True):
        yield metric, *("" if math.isnan(value) else f"{value:.2f}" for value in values)


def _nodes(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Select the rows of all sets together, or of the only set."""
    last = analysis.nodes[-1][0]
    return (cells[1:] for cells in analysis.nodes if cells[0] == last)


def set_rows(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """Make the rows of the properties of each set's gold."""
    for one in analysis.sets:
        groups = [percent(one.groups[group]) for group in complexity.GROUPS]
        yield one.name, f"{one.pages:,}", f"{one.sites:,}", f"{one.faulty:,}", *map(percent, one.quartiles), *groups


def miss_rows(analysis: Analysis) -> list[tuple[str, ...]]:
    """Make the rows of misses, by set, extractor and error."""
    return [(name, extractor, f"{count:,}", kind) for (name, extractor, kind), count in analysis.misses.items()]


def best_other(cell: Cell, analysis: Analysis) -> str:
    """Name the best extractor of a cell but the first, after its F1; "" if there is no other."""
    if len(cell.f1) == 1:
        return ""
    at = max(range(1, len(cell.f1)), key=lambda place: (cell.f1[place], -place))
    return f"{number(cell.f1[at])} {analysis.extractors[at]}"


def number(value: float) -> str:
    """Format a score; "" where there is none."""
    return "" if math.isnan(value) else f"{value:.3f}"


def bold(value: float, highest: float) -> str:
    """Format a score, marked where it is the highest."""
    return f"**{number(value)}**" if value == highest else number(value)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def between(interval: Interval) -> str:
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
