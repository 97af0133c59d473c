"""Account for what the labels of some pages of a site have changed on all its pages."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from dbce_spark.annotation.labelled_pages import LabelledF1
from dbce_spark.files import markdown_table
from dbce_spark.output.collection import EXTRACTIONS
from dbce_spark.output.output_reader import Output

_ROWS = 1 << 12
_COLUMNS = ("capture_id", "site", "text", "text_words", "confidence")
_Row = dict[str, Any]
_HEAD = ("site", "labelled", "their F1", "by other labels", "pages", "changed", "words kept", "confidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptedSite:
    """The pages of a site, before and after they were labelled again: each pair of figures is of before and after."""

    site: str
    labelled: tuple[LabelledF1, ...]  # pages with labels of people
    f1: tuple[float, float]  # their mean, after with what all of them teach: whether the labels can be followed
    f1_by_others: tuple[float, float] | None  # mean of those that others' labels reach, by these; None: there is none
    pages: int
    changed: int  # with another text
    words: tuple[int, int]  # kept of all pages
    confidence: tuple[float, float]  # mean of all pages


def account(before: Output, after: Output, labelled: Iterable[LabelledF1], sites: Collection[str]) -> list[AdaptedSite]:
    """Compare the pages of some sites in two outputs, of which the second has no others: those that both have."""
    scores: dict[str, list[LabelledF1]] = defaultdict(list)
    for one in labelled:
        scores[one.site].append(one)
    later = [row for batch in after.batches(EXTRACTIONS, _COLUMNS, rows=_ROWS) for row in batch.to_pylist()]
    earlier = before.extractions([row["capture_id"] for row in later], _COLUMNS, rows=_ROWS)
    pairs: dict[str, list[tuple[_Row, _Row]]] = defaultdict(list)
    for row in later:
        if row["capture_id"] in earlier:
            pairs[row["site"]].append((earlier[row["capture_id"]], row))
    return [_site(site, scores[site], pairs[site]) for site in sorted(sites)]


def _site(site: str, labelled: Sequence[LabelledF1], pairs: Sequence[tuple[_Row, _Row]]) -> AdaptedSite:
    of_before, of_after = [one for one, _ in pairs], [one for _, one in pairs]
    by_others = [(one.before, one.by_others) for one in labelled if one.by_others is not None]
    return AdaptedSite(
        site=site,
        labelled=tuple(labelled),
        f1=(_mean(one.before for one in labelled), _mean(one.after for one in labelled)),
        f1_by_others=(_mean(one for one, _ in by_others), _mean(one for _, one in by_others)) if by_others else None,
        pages=len(pairs),
        changed=sum(one["text"] != other["text"] for one, other in pairs),
        words=(sum(one["text_words"] for one in of_before), sum(one["text_words"] for one in of_after)),
        confidence=(_mean(one["confidence"] for one in of_before), _mean(one["confidence"] for one in of_after)),
    )


def as_table(sites: Iterable[AdaptedSite]) -> str:
    """Write the account as a table, a row a site."""
    return markdown_table.table(_HEAD, map(_cells, sites))


def _cells(one: AdaptedSite) -> list[str]:
    reached = sum(page.by_others is not None for page in one.labelled)
    return [
        one.site,
        f"{len(one.labelled):,}",
        "{:.3f} to {:.3f}".format(*one.f1),
        "{:.3f} to {:.3f} ({:,})".format(*one.f1_by_others, reached) if one.f1_by_others else "-",
        f"{one.pages:,}",
        f"{one.changed:,}",
        "{:,} to {:,}".format(*one.words),
        "{:.3f} to {:.3f}".format(*one.confidence),
    ]


def _mean(values: Iterable[float]) -> float:
    return round(fmean([*values] or [0.0]), 4)
