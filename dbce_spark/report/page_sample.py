"""Choose the captures that a report shows: some of every kind, spread over sites and templates, the same at each
run."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.errors import InputError
from dbce_spark.output.schemas.capture_rows import CAPTURE_IDS
from dbce_spark.report.output_counts import OutputCounts, ranked_capture
from dbce_spark.report.report_output import ReportOutput

LARGEST = 5000
"""Groups of a status that are looked at; the smaller ones could not come into a report anyway."""

FULLEST, TYPICAL, DISPUTED, SINGLE, DRAWN = ORDER = (
    "fullest cross",
    "example of its template",
    "crosses disagree",
    "no sibling found",
    "drawn by its id",
)
"""Why a capture is shown, in the order in which they are."""
NAMED = "asked for by its URL"


@dataclass(frozen=True, slots=True)
class Pick:
    """A capture to show, and why it was chosen."""

    capture_id: str
    why: str


def choose(counts: OutputCounts, output: ReportOutput, pages: int) -> list[Pick]:
    """Choose at most `pages` captures: one with the fullest cross, a quarter disputed, a sixth single, the others
    typical."""
    crossed, single = _groups(counts, "crossed"), _groups(counts, "single")
    fullest = sorted((group["fullest"], "") for group in crossed)[:1]
    kinds = [
        (1, (Pick(ranked_capture(rank), FULLEST) for rank, _ in fullest)),
        (pages // 4, _spread(crossed, "disputed", DISPUTED)),
        (pages // 6, _spread(single, "typical", SINGLE)),
        (pages, chain(_spread(crossed, "typical", TYPICAL), _spread(single, "typical", SINGLE))),
    ]
    chosen: dict[str, Pick] = {}
    for quota, picks in kinds:
        _take(chosen, picks, min(quota, pages - len(chosen)))
    if len(chosen) < pages:
        _take(chosen, (Pick(one, DRAWN) for one in _lowest_ids(output, 2 * pages)), pages - len(chosen))
    return sorted(chosen.values(), key=lambda pick: ORDER.index(pick.why))


def of_url(output: ReportOutput, url: str) -> list[Pick]:
    """Choose the captures of a URL, the newest first.

    Raises:
        InputError: there are none.
    """
    picks = [Pick(capture_id, NAMED) for capture_id in output.captures_of(url)]
    if not picks:
        raise InputError(f"{output.root} has no page {url}; without --url the report has a sample of its pages")
    return picks


def _take(chosen: dict[str, Pick], picks: Iterable[Pick], count: int) -> None:
    """Add the first `count` picks that are not chosen yet."""
    fresh = (pick for pick in picks if pick.capture_id not in chosen)
    for pick in islice(fresh, max(count, 0)):
        chosen[pick.capture_id] = pick


def _groups(counts: OutputCounts, status: str) -> list[dict[str, Any]]:
    """List the largest groups of a status, largest first."""
    if not len(counts.groups):
        return []
    rows = counts.groups.filter(pc.equal(counts.groups["status"], status))
    order = [("captures", "descending"), ("site", "ascending"), ("template_id", "ascending")]
    listed: list[dict[str, Any]] = rows.sort_by(order).slice(0, LARGEST).to_pylist()
    return listed


def _spread(groups: list[dict[str, Any]], example: str, why: str) -> Iterator[Pick]:
    """Iterate over the groups' examples, a group of each site in turn: the largest site's largest group first."""
    of_site: dict[str, list[Pick]] = defaultdict(list)
    for group in groups:
        if group[example] is not None:
            of_site[group["site"]].append(Pick(ranked_capture(group[example]), why))
    for turn in zip_longest(*of_site.values()):
        yield from (pick for pick in turn if pick is not None)


def _lowest_ids(output: ReportOutput, count: int) -> list[str]:
    """List the first capture ids: they are digests, and so as good as random."""
    lowest = CAPTURE_IDS.empty_table()
    for batch in output.batches("extractions", ["capture_id"]):
        both = pa.concat_tables([lowest, pa.Table.from_batches([batch])])
        lowest = both.sort_by("capture_id").slice(0, count)
    ids: list[str] = lowest["capture_id"].to_pylist()
    return ids
