"""Prepare the first page of the report for its template: totals, sites, templates and rejects."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.config import FLAGS, STATUSES
from dbce_spark.model import LABEL_WORDS
from dbce_spark.report import reject_examples
from dbce_spark.report.grouped_sums import GroupedSums
from dbce_spark.report.output_counts import FIRSTS, SUMS, OutputCounts, distinct_urls, label_shares, ranked_capture
from dbce_spark.report.page_views import View
from dbce_spark.report.report_output import ReportOutput

SITES = 50
TEMPLATES = 100

CHARSET_SOURCES = {
    "bom": "byte order mark",
    "utf8": "valid UTF-8",
    "http": "HTTP header",
    "meta": "<meta> of the page",
    "detected": "none declared: by its letters",
    "fallback": "none declared, too few letters to tell",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """The number of records read and of all their outcomes, by the rows of the tables and the run's count of skipped
    ones."""

    records: int
    extractions: int
    revisits: int
    rejects: int
    skipped: int

    @property
    def missing(self) -> int:
        """Count the records without an outcome; negative if there are more outcomes than records."""
        return self.records - self.extractions - self.revisits - self.rejects - self.skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The values that index.html.j2 shows, beside the sample pages."""

    run: dict[str, Any]
    balance: Balance
    totals: dict[str, int]
    sites: list[dict[str, Any]]
    site_count: int
    templates: list[dict[str, Any]]
    template_count: int
    charsets: list[tuple[str, int]]
    charset_sources: list[tuple[str, int]]
    flags: list[tuple[str, int, str]]
    rejects: list[dict[str, Any]]

    @property
    def skipped(self) -> list[tuple[str, int]]:
        """List the filters that skipped records, with their counts, the largest first."""
        return _summed(self.run.get("skipped", {}).items())

    @property
    def crossed_share(self) -> float:
        """Divide the crossed captures by all."""
        return self.totals["crossed"] / max(self.totals["captures"], 1)

    @property
    def characters(self) -> int:
        """Count the characters of all page text that has a label."""
        return sum(self.totals[word] for word in LABEL_WORDS)

    @property
    def shares(self) -> dict[str, float]:
        """Divide the characters of all page text by label."""
        return label_shares(self.totals)


def overview(output: ReportOutput, counts: OutputCounts, views: Sequence[View]) -> Overview:
    """Sum up an output, from the counts of the extractions and one pass over the rejects."""
    rejected = reject_examples.read(output)
    run = output.run
    site_count, sites = _largest(counts, ["site"], SITES)
    template_count, templates = _largest(counts, ["template_id", "site"], TEMPLATES)
    _add_urls(output, "site", sites)
    _add_urls(output, "template_id", templates)
    _add_examples(output, templates, views)
    return Overview(
        run=run,
        balance=Balance(
            records=run.get("records_read", 0),
            extractions=counts.extractions,
            revisits=run.get("revisits", 0),
            rejects=rejected.counts.total(),
            skipped=sum(run.get("skipped", {}).values()),
        ),
        totals=_totals(counts),
        sites=sites,
        site_count=site_count,
        templates=templates,
        template_count=template_count,
        charsets=_summed((charset, n) for (charset, _), n in counts.charsets.items()),
        charset_sources=_summed((CHARSET_SOURCES.get(how, how), n) for (_, how), n in counts.charsets.items()),
        flags=[(flag, n, FLAGS.get(flag, "")) for flag, n in _summed(counts.flags.items())],
        rejects=rejected.listed(),
    )


def _totals(counts: OutputCounts) -> dict[str, int]:
    """Sum over all captures, and count those that are crossed and single."""
    by_status = {status: counts.total("captures", status=status) for status in STATUSES}
    return by_status | {name: counts.total(name) for name in SUMS}


def _largest(counts: OutputCounts, keys: Sequence[str], limit: int) -> tuple[int, list[dict[str, Any]]]:
    """Select the groups with the most captures, and count all groups. Captures without a template are in none."""
    if not len(counts.groups):
        return 0, []
    rows = counts.groups
    if "template_id" in keys:
        rows = rows.filter(pc.not_equal(rows["template_id"], ""))
    is_crossed = pc.cast(pc.equal(rows["status"], "crossed"), pa.int64())
    grouped = GroupedSums(keys, [*SUMS, "crossed"], FIRSTS)
    grouped.add(rows.append_column("crossed", pc.multiply(is_crossed, rows["captures"])))
    table = grouped.table()
    order = [("captures", "descending"), *((key, "ascending") for key in keys)]
    rows = table.sort_by(order).slice(0, limit).to_pylist()
    return len(table), [row | {"shares": label_shares(row)} for row in rows]


def _add_urls(output: ReportOutput, column: str, groups: Sequence[dict[str, Any]]) -> None:
    urls = distinct_urls(output, column, [group[column] for group in groups])
    for group in groups:
        group["urls"] = urls.get(group[column], 0)


def _add_examples(output: ReportOutput, templates: Sequence[dict[str, Any]], views: Sequence[View]) -> None:
    """Add an example to each template: a sample page if one is of it."""
    shown = {view.row["template_id"]: view for view in reversed(views)}
    ids = [ranked_capture(template["typical"]) for template in templates if template["template_id"] not in shown]
    rows = output.rows(ids, ["url", "title"])
    for template in templates:
        view = shown.get(template["template_id"])
        row = view.row if view else rows[ranked_capture(template["typical"])]
        template["example"] = {"title": row["title"], "url": row["url"], "page": view.name if view else ""}


def _summed(pairs: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Sum by name, largest first."""
    sums: Counter[str] = Counter()
    for name, n in pairs:
        sums[name] += n
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))
