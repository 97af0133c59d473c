"""List the versions of a collection, and the rows and bytes of one, as lines for a person."""

from collections.abc import Sequence
from pathlib import Path

from dbce_spark.output.collection import (
    CAPTURES,
    DIGESTS,
    DUPLICATES,
    EXTRACTIONS,
    MEMBERS,
    PAGES,
    PENDING,
    REJECTS,
    REMARKED,
    SUPERSEDED,
    Collection,
    Version,
)
from dbce_spark.output.current_rows import table_files
from dbce_spark.output.stored_rows import count_rows

_ROWS_OF_REASONS = 1 << 16
_COUNTED = (EXTRACTIONS, CAPTURES, SUPERSEDED)
_TABLES = (EXTRACTIONS, DUPLICATES, REMARKED, CAPTURES, REJECTS, SUPERSEDED)
_KEPT = (PAGES, MEMBERS, DIGESTS, PENDING)
"""Tables that later runs read to extend the collection."""


def log(collection: Collection, versions: Sequence[Version]) -> str:
    """Write a line for each of these versions."""
    head = f"{'version':>7}  {'made':25}  {'crawls':>6}{'captures':>12}{'extractions':>13}{'relabelled':>12}  why"
    return "\n".join([head, *(_line(collection, one) for one in versions)])


def _line(collection: Collection, one: Version) -> str:
    extractions = sum(part.extractions for part in one.increments)
    relabelled = one.increments[-1].relabelled if one.why == "extract" else 0
    counts = f"{len(collection.run_files(one)):>6,}{one.captures:>12,}{extractions:>13,}{relabelled:>12,}"
    return f"{one.number:>7}  {one.made:25}  {counts}  {one.why}"


def show(collection: Collection, version: Version) -> str:
    """List the increments of a version, the rows that count and those that do not, and bytes."""
    rows = {name: _rows(collection, version, name) for name in _COUNTED}
    labelled = version.settings["config"]["label"]
    return "\n".join(
        [
            f"collection      {collection.folder}",
            f"version         {version.number}, made {version.made} by {version.why}",
            f"labelled        by {labelled['by']}, in favour of {labelled['favor']}",
            f"captures        {rows[CAPTURES]:>14,}",
            f"extractions     {rows[EXTRACTIONS] - rows[SUPERSEDED]:>14,}",
            f"replaced        {rows[SUPERSEDED]:>14,}  rows of extractions, by later increments",
            f"rejects         {_rejects(collection, version):>14,}",
            f"bytes           {_bytes(collection, version, _TABLES):>14,}  of tables",
            f"                {_bytes(collection, version, _KEPT):>14,}  of pages, kept to be set beside later ones",
            "",
            f"{'increment':>9}{'captures':>12}{'extractions':>13}{'relabelled':>12}",
            *(
                f"{increment.number:>9}{increment.captures:>12,}{increment.extractions:>13,}{increment.relabelled:>12,}"
                for increment in version.increments
            ),
        ]
    )


def files(collection: Collection, version: Version) -> str:
    """List the path of each Parquet file, table by table."""
    return "\n".join(path for name in _TABLES for _, path in collection.files(version, name))


def _rows(collection: Collection, version: Version, table: str) -> int:
    return sum(count_rows(path) for _, path in collection.files(version, table))


def _rejects(collection: Collection, version: Version) -> int:
    rows = table_files(collection, version, REJECTS).batches(["reason"], rows=_ROWS_OF_REASONS)
    return sum(batch.num_rows for batch in rows)


def _bytes(collection: Collection, version: Version, tables: Sequence[str]) -> int:
    return sum(Path(path).stat().st_size for table in tables for _, path in collection.files(version, table))
