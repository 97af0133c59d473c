"""Sum rows by key, batch by batch."""

from collections.abc import Sequence

import pyarrow as pa

CONSOLIDATE = 200_000
"""Rows of partial sums that are summed up in one go, or twice as many as there are keys: few enough to hold, enough to
do it seldom."""


class GroupedSums:
    """Sums and least values by key, from any number of batches, in memory that grows with the keys alone."""

    def __init__(self, keys: Sequence[str], sums: Sequence[str], firsts: Sequence[str] = ()):
        self._keys, self._sums, self._firsts = list(keys), sums, firsts
        self._parts: list[pa.Table] = []
        self._most = CONSOLIDATE

    def add(self, rows: pa.Table) -> None:
        """Add rows that have all these columns."""
        self._parts.append(self._summed(rows))
        if self.rows_held > self._most:
            self._parts = [self.table()]
            self._most = max(CONSOLIDATE, 2 * self.rows_held)  # of many keys not with each batch

    @property
    def rows_held(self) -> int:
        """Count the rows of partial sums that are held."""
        return sum(map(len, self._parts))

    def table(self) -> pa.Table:
        """Build a table with one row a key: the keys, the sums and the least values under their own names."""
        return self._summed(pa.concat_tables(self._parts)) if self._parts else pa.table({})

    def _summed(self, rows: pa.Table) -> pa.Table:
        wanted = [*((name, "sum") for name in self._sums), *((name, "min") for name in self._firsts)]
        summed = rows.group_by(self._keys, use_threads=False).aggregate(wanted)
        return summed.select([*self._keys, *(f"{name}_{how}" for name, how in wanted)]).rename_columns(
            [*self._keys, *(name for name, _ in wanted)]
        )
