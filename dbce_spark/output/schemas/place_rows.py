"""Store places of records, as indexes list them, and restore them."""

import pyarrow as pa

from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.output.schemas.codec import INT, LONG, STRING, fields

ENTRIES = pa.schema(
    [
        *fields(urlkey=STRING, url=STRING, mime=STRING, mime_detected=STRING, digest=STRING, filename=STRING),
        *fields(path=STRING, timestamp=LONG, offset=LONG, length=LONG, status=LONG),
        *fields(languages=pa.list_(STRING), is_revisit=pa.bool_()),
    ]
)
"""An `IndexEntry`."""

PLACES = pa.schema([*ENTRIES, *fields(part=INT)])
"""An entry, and the number of the part that its place is read in."""


def entries_from(rows: pa.Table) -> list[IndexEntry]:
    """Restore entries from ENTRIES rows."""
    stored = rows.select(ENTRIES.names).to_pylist()
    return [IndexEntry(**(row | {"languages": tuple(row["languages"])})) for row in stored]
