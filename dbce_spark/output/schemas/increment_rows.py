"""Define the rows by which an increment of a collection replaces rows of earlier ones."""

import pyarrow as pa

from dbce_spark.output.schemas.capture_rows import CAPTURE_IDS
from dbce_spark.output.schemas.codec import STRING, fields

DIGESTS = pa.schema(fields(capture_id=STRING, digest=STRING))
"""The digest of a capture's evidence from other pages."""

SUPERSEDED = CAPTURE_IDS
"""A capture whose rows of earlier increments this one replaces."""
