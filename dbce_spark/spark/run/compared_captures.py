"""The results of comparing captures, as rows that are staged: what their labels follow from. Needs no PySpark."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbce_spark.dbce import crosses, pools, sites
from dbce_spark.model import ComparedPage, Page, Seen, digest
from dbce_spark.output.schemas import annotation_rows, cross_rows, evidence_rows
from dbce_spark.output.schemas.codec import column_names

Rows = dict[str, list[dict[str, Any]]]
"""Rows by the id of their capture."""
_OF_CROSS = [name for name in annotation_rows.ANNOTATIONS.names if name not in column_names(cross_rows.BUCKET)]


@dataclass(frozen=True, slots=True)
class Compared:
    """The results of comparing some captures, by their ids: ANNOTATIONS rows, EVIDENCE rows, and for those that were
    fetched again one row of when that was, with the fields of `Seen`."""

    annotations: Rows = field(default_factory=dict)
    evidence: Rows = field(default_factory=dict)
    seen: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def digest(self, capture_id: str) -> str:
        """Return the digest of a capture's evidence. Where that is the same, its labels are the same, too."""
        rows = sorted(self.annotations.get(capture_id, []), key=lambda row: row["cross_id"])
        annotations = [str({name: row[name] for name in _OF_CROSS}) for row in rows]
        evidence = sorted((row["kind"], row["codes"].hex()) for row in self.evidence.get(capture_id, []))
        return digest(_template_id(rows), *annotations, str(evidence))

    def gather(self, page: Page) -> ComparedPage:
        """Put a page together with all that comparing it gave."""
        rows = self.annotations.get(page.capture_id, [])
        codes = {row["kind"]: evidence_rows.codes_from(row) for row in self.evidence.get(page.capture_id, [])}
        return sites.gather(
            page,
            [annotation_rows.annotation_from(row) for row in rows],
            pools.page_evidence(page, codes.get(evidence_rows.SIBLINGS), codes.get(evidence_rows.SNAPSHOTS)),
            _template_id(rows),
        )

    def fetch_times(self, pages: Iterable[Page]) -> dict[str, Seen]:
        """Return the times of those pages that were fetched again, by their ids."""
        return {
            page.capture_id: _seen(page, self.seen[page.capture_id]) for page in pages if page.capture_id in self.seen
        }


def _template_id(rows: Iterable[dict[str, Any]]) -> str:
    return crosses.template_id(cross_rows.bucket_cross_from(row) for row in rows)


def _seen(page: Page, row: dict[str, Any]) -> Seen:
    own = page.capture.timestamp
    return Seen(first=min(own, row["first"]), last=max(own, row["last"]), revisits=row["revisits"])
