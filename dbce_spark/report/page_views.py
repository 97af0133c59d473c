"""Prepare the sample pages for their template."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbce_spark.config import DbceConfig
from dbce_spark.model import ARMS
from dbce_spark.output.schemas.segment_rows import segments_from
from dbce_spark.report.archived_html import COLUMNS as ARCHIVED_COLUMNS
from dbce_spark.report.archived_html import HtmlGone, archived
from dbce_spark.report.arms import Arm, arms, fullest
from dbce_spark.report.html_frame import document
from dbce_spark.report.output_counts import label_shares
from dbce_spark.report.page_sample import Pick
from dbce_spark.report.report_output import ReportOutput

COLUMNS = (
    *ARCHIVED_COLUMNS,
    "site", "record_id", "charset", "charset_source", "flags", "status", "template_id", "crosses", "segments", "text",
    "words", "text_words", "confidence", "page_type", "markdown",
)  # fmt: skip

MAX_SEGMENTS = 2000
"""Rows of a page's table of segments; a browser takes seconds for ten times as many."""


ROWS_AT_ONCE = 100
"""Rows of sample pages, and of those beside them, that are held at once: some 50 MB."""

_LISTED = ("url", "timestamp", "title", "template_id", "words", "text_words")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A sample page. `document` is empty where its HTML is gone, and `note` gives the reason."""

    name: str  # of its file, without a suffix
    why: str
    row: dict[str, Any]
    document: str
    note: str
    segments: list[dict[str, Any]]  # as in the table, with their `text`
    shares: dict[str, float]  # of the page text, in characters, by label
    cross: dict[str, Any] | None
    arms: list[Arm]

    @property
    def lines(self) -> list[list[dict[str, Any]]]:
        """Group the segments by block."""
        blocks: dict[int, list[dict[str, Any]]] = {}
        for segment in self.segments:
            blocks.setdefault(segment["block"], []).append(segment)
        return list(blocks.values())

    @property
    def listed(self) -> "View":
        """Leave out all that only the page's own files show."""
        row = {name: self.row[name] for name in _LISTED}
        return replace(self, row=row, document="", segments=[], arms=[replace(arm, document="") for arm in self.arms])


def views(picks: Sequence[Pick], output: ReportOutput) -> Iterator[View]:
    """Build the sample pages one by one, in order."""
    config, number = output.config(), 0
    for start in range(0, len(picks), ROWS_AT_ONCE):
        some = picks[start : start + ROWS_AT_ONCE]
        rows, arm_rows = _rows(some, output)
        for pick in some:
            if pick.capture_id in rows:
                number += 1
                yield _view(f"{number:02}", pick.why, rows[pick.capture_id], arm_rows, config)


def _rows(picks: Sequence[Pick], output: ReportOutput) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Read the rows of some pages by id; and those of all pages that are beside them, or among them."""
    rows = output.rows([pick.capture_id for pick in picks], COLUMNS)
    crosses = [fullest(row["crosses"]) for row in rows.values() if row["crosses"]]
    of_arms = {cross[arm] for cross in crosses for arm in ARMS[1:] if cross[arm]}
    return rows, rows | output.rows(of_arms - set(rows), ARCHIVED_COLUMNS)


def _view(name: str, why: str, row: dict[str, Any], arm_rows: Mapping[str, dict[str, Any]], config: DbceConfig) -> View:
    shown, note, around = "", "", []
    cross = fullest(row["crosses"]) if row["crosses"] else None
    try:
        cur = archived(row, config)
        shown = document(cur, row["page_text"], segments_from(row["segments"]))
        around = arms(cross, cur, arm_rows, config) if cross else []
    except HtmlGone as gone:
        note = str(gone)
    page_text = row["page_text"]
    segments = [segment | {"text": page_text[segment["start"] : segment["end"]]} for segment in row["segments"]]
    return View(
        name=name,
        why=why,
        row=row,
        document=shown,
        note=note,
        segments=segments,
        shares=_shares(segments),
        cross=cross,
        arms=around,
    )


def _shares(segments: Sequence[dict[str, Any]]) -> dict[str, float]:
    characters: Counter[str] = Counter()
    for segment in segments:
        characters[segment["label"]] += segment["end"] - segment["start"]
    return label_shares(characters)
