"""Read the rows of a table of a collection that count: those that no later increment has replaced."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.model import RejectReason
from dbce_spark.output.collection import DUPLICATES, EXTRACTIONS, REJECTS, REMARKED, SUPERSEDED, Collection, Version
from dbce_spark.output.stored_rows import CAPTURE_ID, batches, capture_ids, chosen_columns

_REASON = "reason"
_ALSO = {DUPLICATES: (REMARKED,)}
"""The place of rows that stand beside no extraction of their increment."""
_REPLACED_BY = {EXTRACTIONS: (SUPERSEDED,), DUPLICATES: (SUPERSEDED, REMARKED)}
"""The tables that name captures of which the rows of earlier increments count no more."""

Numbered = tuple[int, str]
"""The number of an increment, 0 in an output, and the path of one of its files."""


@dataclass(frozen=True, slots=True)
class TableFiles:
    """The files of a table, by increment, the oldest first; and the files (`replacing`) that name captures whose rows
    of earlier increments no longer count. `newest` is the number of the newest increment."""

    table: str
    files: Sequence[Numbered]
    replacing: Sequence[Numbered]
    newest: int

    def batches(
        self, columns: Sequence[str] | None = None, *, rows: int, where: pc.Expression | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Read some columns, or all, of the rows that count, and of these those for which an expression is true.

        The ids of captures with a row that is replaced are held, some 100 bytes each.
        """
        last = replaced(self.replacing)
        for number, path in self.files:
            # Each run asks for all of these again.
            is_stale = self.table == REJECTS and number != self.newest
            key = [CAPTURE_ID] if last else [_REASON] if is_stale else []
            wanted = columns and [*dict.fromkeys([*columns, *key])]
            for batch in batches([path], wanted, rows=rows, where=where):
                if last:
                    batch = batch.filter(mark_current(batch.column(CAPTURE_ID), number, last))
                elif is_stale:
                    batch = batch.filter(pc.not_equal(batch.column(_REASON), str(RejectReason.REVISIT_UNRESOLVED)))
                yield chosen_columns(batch, wanted, columns) if wanted and columns else batch


def table_files(collection: Collection, version: Version, table: str) -> TableFiles:
    """List the files of a table of a version."""

    def listed(*tables: str) -> list[Numbered]:
        return sorted(one for name in tables for one in collection.files(version, name))

    files, replacing = listed(table, *_ALSO.get(table, ())), listed(*_REPLACED_BY.get(table, ()))
    return TableFiles(table, files, replacing, max((increment.number for increment in version.increments), default=0))


def replaced(files: Iterable[Numbered]) -> dict[str, int]:
    """Read the ids of captures with rows that are replaced: the last increment that replaces one, by id.

    Raises:
        OutputError: a file cannot be read.
    """
    found: dict[str, int] = {}
    for number, path in sorted(files):
        for ids in capture_ids([path]):
            found |= dict.fromkeys(ids.to_pylist(), number)
    return found


def mark_current(ids: pa.Array, number: int, last: Mapping[str, int]) -> pa.BooleanArray:
    """Mark the rows of an increment that count: those of captures that no later one replaces. `last` is the result of
    `replaced`."""
    return pa.array([last.get(one, 0) <= number for one in ids.to_pylist()], pa.bool_())
