"""Store the segments of extractions as a list column, and restore them."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dbce_spark.model import LABEL_WORDS, Extraction, Segments
from dbce_spark.output.schemas.codec import INT, STRING, build_batch, column_names, fields, lists
from dbce_spark.output.schemas.cross_rows import BITS_WORDS

SEGMENT = fields(
    xpath=STRING,
    block=INT,
    start=INT,
    end=INT,
    label=STRING,
    score=pa.float32(),
    bits=STRING,
    siblings=INT,
    siblings_with=INT,
    snapshots=INT,
    snapshots_with=INT,
    conflict=pa.bool_(),
)
_FIELDS = {
    "block": "blocks", "start": "starts", "end": "ends", "label": "labels", "score": "scores", "conflict": "conflicts",
}  # fmt: skip
"""Fields of Segments whose columns have another name."""


# A page has hundreds of segments: their columns are joined over all pages, and none becomes an object of its own.
def segments_column(extractions: Sequence[Extraction]) -> pa.ListArray:
    """Build the `segments` column of extractions."""
    parts = [extraction.segments for extraction in extractions]
    joined = {
        name: np.concatenate([getattr(one, _FIELDS.get(name, name)) for one in parts] or [np.empty(0, np.int32)])
        for name in column_names(SEGMENT[1:])
    }
    xpaths = pa.array([xpath for one in extractions for xpath in one.page.blocks.xpaths], STRING)
    firsts = np.cumsum([0, *(len(extraction.page.blocks) for extraction in extractions)])[: len(parts)]
    block_of_all = joined["block"] + np.repeat(firsts, [len(part) for part in parts])
    columns = joined | {
        "xpath": xpaths.take(pa.array(block_of_all)),
        "label": pa.array(LABEL_WORDS).take(pa.array(joined["label"])),
        "bits": BITS_WORDS.take(pa.array(joined["bits"])),
    }
    return lists(parts, build_batch(pa.schema(SEGMENT), len(block_of_all), columns).to_struct_array())


def segments_from(rows: Iterable[dict[str, Any]]) -> Segments:
    """Restore the segments of one extraction from the values of its `segments` column."""
    listed = list(rows)
    values = {field.name: [row[field.name] for row in listed] for field in SEGMENT[1:]}
    values["label"] = [LABEL_WORDS.index(word) for word in values["label"]]
    values["bits"] = [int(bits, 2) for bits in values["bits"]]
    kinds = {field.name: np.uint8 if field.type == STRING else field.type.to_pandas_dtype() for field in SEGMENT[1:]}
    return Segments(**{_FIELDS.get(name, name): np.array(values[name], kind) for name, kind in kinds.items()})
