"""Store the evidence of other pages for a capture's blocks, and restore it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dbce_spark.model import Codes
from dbce_spark.output.schemas.codec import BINARY, INT, STRING, build_batch, fields, packed

EVIDENCE = pa.schema(fields(capture_id=STRING, kind=pa.int8(), features=INT, codes=BINARY))
"""The evidence of one kind of other pages, siblings or snapshots, for a capture: (features, blocks) bins."""

SIBLINGS, SNAPSHOTS = range(2)
"""The kinds of evidence."""


def evidence_batch(rows: Sequence[tuple[str, int, Codes]]) -> pa.RecordBatch:
    """Store capture ids, kinds and codes as EVIDENCE rows."""
    columns = {
        "capture_id": [capture_id for capture_id, _, _ in rows],
        "kind": [kind for _, kind, _ in rows],
        "features": [len(codes) for _, _, codes in rows],
        "codes": packed((codes for _, _, codes in rows), np.uint8),
    }
    return build_batch(EVIDENCE, len(rows), columns)


def codes_from(row: dict[str, Any]) -> Codes:
    """Restore the bins of an EVIDENCE row: uint8, shape (features, blocks)."""
    return np.frombuffer(row["codes"], np.uint8).reshape(row["features"], -1)
