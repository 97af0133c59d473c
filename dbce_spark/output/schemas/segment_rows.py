"""Store the segments of extractions as a list column, and restore them."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dbce_spark.model import Extraction, Label, Segments
from dbce_spark.output.schemas.codec import INT, STRING, build_batch, fields, lists
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
_LABEL_WORDS = pa.array([label.word for label in Label])


# A page has hundreds of segments: their columns are joined over all pages, and none becomes an object of its own.
def segments_column(extractions: Sequence[Extraction]) -> pa.ListArray:
    """Build the `segments` column of extractions."""
    parts = [one.segments for one in extractions]
    names = Segments.__dataclass_fields__
    joined = {name: np.concatenate([getattr(one, name) for one in parts] or [np.empty(0, np.int32)]) for name in names}
    xpaths = pa.array([xpath for one in extractions for xpath in one.page.blocks.xpaths], STRING)
    firsts = np.cumsum([0, *(len(one.page.blocks) for one in extractions)])[: len(parts)]
    block_of_all = joined["blocks"] + np.repeat(firsts, [len(part) for part in parts])
    columns = {
        "xpath": xpaths.take(pa.array(block_of_all)),
        "block": joined["blocks"],
        "start": joined["starts"],
        "end": joined["ends"],
        "label": _LABEL_WORDS.take(pa.array(joined["labels"])),
        "score": joined["scores"],
        "bits": BITS_WORDS.take(pa.array(joined["bits"])),
        "siblings": joined["siblings"],
        "siblings_with": joined["siblings_with"],
        "snapshots": joined["snapshots"],
        "snapshots_with": joined["snapshots_with"],
        "conflict": joined["conflicts"],
    }
    return lists(parts, build_batch(pa.schema(SEGMENT), len(block_of_all), columns).to_struct_array())


def segments_from(rows: Iterable[dict[str, Any]]) -> Segments:
    """Restore the segments of one extraction from the values of its `segments` column."""
    columns = list(rows)
    words = [label.word for label in Label]

    def column(name: str, kind: Any) -> Any:
        return np.array([row[name] for row in columns], kind)

    return Segments(
        blocks=column("block", np.int32),
        starts=column("start", np.int32),
        ends=column("end", np.int32),
        labels=np.array([words.index(row["label"]) for row in columns], np.uint8),
        scores=column("score", np.float32),
        bits=np.array([int(row["bits"], 2) for row in columns], np.uint8),
        siblings=column("siblings", np.int32),
        siblings_with=column("siblings_with", np.int32),
        snapshots=column("snapshots", np.int32),
        snapshots_with=column("snapshots_with", np.int32),
        conflicts=column("conflict", np.bool_),
    )
