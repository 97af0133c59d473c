"""Define the columns that every table of captures with a decoded page has."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dbce_spark.model import Capture, Metadata, Page
from dbce_spark.output.schemas.codec import INT, LONG, STRING, TIME, attributes, column_names, fields

CAPTURE = fields(
    capture_id=STRING,
    url=STRING,
    url_key=STRING,
    site=STRING,
    timestamp=TIME,
    warc_file=STRING,
    warc_offset=LONG,
    warc_length=LONG,
    record_id=STRING,
    record_type=STRING,
    payload_digest=STRING,
    declared_digest=STRING,
    http_status=INT,
    mime=STRING,
    declared_charset=STRING,
    truncated=pa.bool_(),
    charset=STRING,
    charset_source=STRING,
    title=STRING,
    declared_language=STRING,
    published=TIME,
    modified=TIME,
    canonical_url=STRING,
    flags=pa.list_(STRING),
)
_OF_CAPTURE = [name for name in column_names(CAPTURE) if name in Capture.__dataclass_fields__]


def capture_columns(pages: Sequence[Page]) -> dict[str, Any]:
    """List the values of these columns, by column."""
    columns = attributes([page.capture for page in pages], _OF_CAPTURE)
    columns |= attributes([page.metadata for page in pages], Metadata.__dataclass_fields__)
    columns |= attributes(pages, ("capture_id", "charset", "charset_source"))
    return columns | {"flags": [list(page.flags) for page in pages]}
