"""Report what annotators did and how far they agree, as one HTML file that loads nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from markupsafe import Markup

import dbce_spark
from dbce_spark.annotation.labels import annotator_plots
from dbce_spark.annotation.labels.agreement import CorpusAgreement
from dbce_spark.annotation.labels.annotators import Shares, Times, biases, practice
from dbce_spark.annotation.labels.majority import Merge, RefusalReason
from dbce_spark.model import Label
from dbce_spark.report.svg.html_template import css, template

_MINUTE = 60
_BIAS_HEAD = (
    "annotator", "pages", "segments", "content", "wins", "boilerplate", "wins", "undecided", "wins", "bias", "agreed",
)  # fmt: skip
_PAGE_HEAD = ("page", "π", "π by words", "observed", "expected", "annotators", "segments", "words", "undecided")


def html(merge: Merge, agreed: CorpusAgreement, times: Times, *, smoothing: int) -> str:
    """Render the whole report."""
    return template("dbce_spark.annotation", "labels.html.j2").render(
        css=css(),
        version=dbce_spark.__version__,
        cards=_cards(merge, agreed),
        **_agreement(agreed),
        **_submissions(merge),
        **_annotators(merge),
        **_times(times, smoothing),
        page_head=_PAGE_HEAD,
        page_rows=_pages(merge, agreed),
    )


def number(value: float) -> str:
    """Format a number to three places, or as a dash where it is nan."""
    return "–" if isnan(value) else f"{value:.3f}"


def _cards(merge: Merge, agreed: CorpusAgreement) -> list[tuple[str, str]]:
    counted = merge.counted
    return [
        (f"{len(merge.pages):,}", "pages"),
        (f"{len({one.annotator for one in counted}):,}", "annotators"),
        (f"{len(counted):,}", "submissions"),
        (f"{sum(len(page.tags) for page in merge.pages):,}", "segments"),
        (number(agreed.mean), "mean π of pages"),
    ]


def _agreement(agreed: CorpusAgreement) -> dict[str, Any]:
    values = [page.by_segments.pi for page in agreed.pages if not isnan(page.by_segments.pi)]
    observed = [page.by_segments.observed for page in agreed.pages if page.by_segments.items]
    expected = [page.by_segments.expected for page in agreed.pages if page.by_segments.items]
    means = (sum(shares) / max(1, len(shares)) for shares in (observed, expected))
    pooled = agreed.pooled
    edges = [round(-0.3 + 0.05 * at, 2) for at in range(27)]
    return {
        "agreement_head": ("", "A_o", "A_e", "π", "π by words"),
        "agreement_rows": [
            ("mean of pages", *map(number, (*means, agreed.mean, agreed.mean_by_words))),
            (
                "all segments at once",
                *map(number, (pooled.observed, pooled.expected, pooled.pi, agreed.pooled_by_words.pi)),
            ),
        ],
        "agreement_plot": Markup(annotator_plots.histogram(values, edges, "π of the page", "pages", places=2)),
    }


def _submissions(merge: Merge) -> dict[str, Any]:
    per_page = Counter(Counter(one.page for one in merge.accepted).values())
    per_annotator = Counter(one.annotator for one in merge.counted)
    most = max(per_annotator.values(), default=0)
    reached = [
        (str(least), float(sum(count >= least for count in per_annotator.values()))) for least in range(1, most + 1)
    ]
    refused = Counter(one.reason for one in merge.refused)
    return {
        "submissions_plot": Markup(
            annotator_plots.bars(
                [(str(count), float(per_page[count])) for count in range(1, max(per_page, default=0) + 1)],
                "submissions",
                "pages",
            )
        ),
        "pages_plot": Markup(annotator_plots.bars(reached, "pages", "annotators")),
        "refused": [(str(reason), f"{refused[reason]:,}") for reason in RefusalReason if refused[reason]],
        "too_few": sorted(merge.too_few.items()),
    }


def _annotators(merge: Merge) -> dict[str, Any]:
    excluded = {one.annotator: one.detail for one in merge.refused if one.reason is RefusalReason.EXCLUDED}
    return {
        "excluded": sorted(excluded.items()),
        "bias_head": _BIAS_HEAD,
        "biases": [
            (
                one.annotator,
                f"{one.pages:,}",
                f"{one.segments:,}",
                *_beside(one.given, one.won),
                number(one.distance),
                number(one.agreed),
            )
            for one in sorted(biases(merge), key=lambda one: -one.distance)
        ],
    }


def _beside(own: Shares, won: Shares) -> list[str]:
    order = (Label.CONTENT, Label.BOILERPLATE, Label.UNDECIDED)
    return [number(shares[label]) for label in order for shares in (own, won)]


def _times(times: Times, smoothing: int) -> dict[str, Any]:
    if not times.visits:
        return {"times_plots": [], "times_note": ""}
    of_annotators = [seconds / _MINUTE for seconds in times.by_annotator.values()]
    of_visits = [visit.seconds / _MINUTE for visit in times.visits]
    drawn = [
        ("Minutes of annotators in all", Markup(_spread(of_annotators, "minutes", "annotators"))),
        ("Minutes on a page", Markup(_spread(of_visits, "minutes", "visits"))),
    ]
    if points := [(float(at), value) for at, value in practice(times.visits, smoothing=smoothing)]:
        curve = annotator_plots.curve(points, "position in the annotator's pages", "seconds")
        drawn.append(("Seconds longer than those who came to the same page later", Markup(curve)))
    return {
        "times_note": f"Visits longer than {times.bound:,.0f} s, the upper fence of all, were breaks: {times.breaks:,}"
        f" are left out. Of {times.unknown:,} submissions the time is not known.",
        "times_plots": drawn,
    }


def _spread(values: Sequence[float], title: str, unit: str) -> str:
    """Plot a histogram of some fifteen bins of a round width."""
    high = max(values)
    width = next(step for step in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e9) if high / step <= 15)
    bins = int(high / width) + 1
    places = 1 if width < 1 else 0
    return annotator_plots.histogram(values, [width * at for at in range(bins + 1)], title, unit, places=places)


def _pages(merge: Merge, agreed: CorpusAgreement) -> list[tuple[str, ...]]:
    undecided: Mapping[str, int] = {page.page: page.tags.count(Label.UNDECIDED) for page in merge.pages}
    ordered = sorted(agreed.pages, key=lambda one: (isnan(one.by_segments.pi), one.by_segments.pi, one.page))
    return [
        (
            one.page,
            number(one.by_segments.pi),
            number(one.by_words.pi),
            number(one.by_segments.observed),
            number(one.by_segments.expected),
            f"{one.annotators:,}",
            f"{one.by_segments.items:,}",
            f"{one.words:,}",
            f"{undecided[one.page]:,}",
        )
        for one in ordered
    ]
