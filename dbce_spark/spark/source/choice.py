"""Choice of records by the options: by the record's head, and only then by the HTTP response in it."""

from dataclasses import dataclass, replace
from typing import Self

from dbce_spark.archive.index.capture_filter import Selection, selection
from dbce_spark.archive.index.index_entry import IndexEntry, normal_digest
from dbce_spark.spark.source.options import Options
from dbce_spark.spark.source.rows import RecordRow

_OF_RESPONSE = frozenset({"status", "mime"})
_DECIDED = frozenset({"status", "mime", "digest"})
"""Filters that a record without a value does not pass, since nothing after it has one. Records have no languages."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The kinds of records that are wanted (all, if none is named), and the filters."""

    kinds: frozenset[str]
    selection: Selection
    filters: frozenset[str]

    @classmethod
    def of(cls, options: Options) -> Self:
        chosen = selection(options.select)
        return cls(options.kinds, chosen, frozenset(name for name, _ in chosen.checks))

    def takes(self, row: RecordRow, entry: IndexEntry | None) -> bool:
        """Return whether a record is wanted. Where an index led to it (`entry`), the filters on that have passed it."""
        if self.kinds and row.kind not in self.kinds:
            return False
        if not self.filters:
            return True
        if entry is None and row.date is None and "date" in self.filters:
            return False
        values = entry or IndexEntry(url=row.url or "", timestamp=row.date or 0, digest=normal_digest(row.digest))
        if entry is None and self.selection.refusal(values) is not None:
            return False
        if self.filters.isdisjoint(_DECIDED):
            return True
        decided = self.filters & (_DECIDED if entry is None else _OF_RESPONSE)
        return self._takes_all_of(row, values, decided)

    def _takes_all_of(self, row: RecordRow, entry: IndexEntry, decided: frozenset[str]) -> bool:
        mime = entry.mime
        if "mime" in self.filters and not mime:
            mime = row.mime or row.mime_detected or ""
        status = entry.status
        if "status" in self.filters and not status:
            status = row.http_status or 0
        refusal, undeclared = self.selection.match(replace(entry, mime=mime, status=status))
        # A revisit may have no values of its payload: they are those of the original.
        return refusal is None and (row.kind == "revisit" or decided.isdisjoint(undeclared))
