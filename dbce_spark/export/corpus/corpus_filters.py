"""The filters of a corpus: those of rows, and of how likely a text is content, and whether it is a duplicate."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.config import CorpusConfig
from dbce_spark.export import row_filters
from dbce_spark.export.row_filters import Filter, Mask
from dbce_spark.model import Label

SEGMENT_FIELDS = ("label", "score", "start", "end")
"""Fields of the segments that `probability` reads."""


def chosen(config: CorpusConfig) -> list[Filter]:
    """List the filters of a configuration, in the order in which they are applied, without those that would keep all.

    Raises:
        ConfigError: a date is none, or nothing lies between them.
    """
    least = config.min_probability
    own = [
        row_filters.at_least("probability", least, f"a probability of {least} or more"),
        duplicates(config.duplicates, config.within),
    ]
    return [*row_filters.chosen(config, "corpus"), *(one for one in own if one is not None)]


def duplicates(kind: str, within: str) -> Filter | None:
    """Keep the earliest capture of a text, in all or of each URL: of the very same text, or of nearly the same."""
    if kind == "keep":
        return None
    what = "text" if kind == "exact" else "text, and of those nearly like it"
    without = "--duplicates keep"
    if within == "url":
        repeated = pa.array(["exact"] if kind == "exact" else ["exact", "near"])
        keeps = f"of each URL the first capture of a {what}"
        return Filter(
            "duplicates", keeps, "repeats", without, lambda batch: ~_mask(pc.is_in(batch.column("repeats"), repeated))
        )
    name = "copy_of" if kind == "exact" else "duplicate_of"
    keeps = f"the first capture of a {what}"
    return Filter("duplicates", keeps, name, without, lambda batch: _mask(pc.is_null(batch.column(name))))


def probability(segments: pa.ListArray) -> npt.NDArray[np.float64]:
    """Compute how likely the main text of each row is content: the mean score of the segments that are labelled so, by
    their characters; 0 without one. `segments` have SEGMENT_FIELDS."""
    flat = segments.flatten()
    rows = pc.list_parent_indices(segments).to_numpy()
    is_content = pc.equal(flat.field("label"), Label.CONTENT.word).to_numpy(zero_copy_only=False)
    lengths = (flat.field("end").to_numpy() - flat.field("start").to_numpy()) * is_content
    scores = flat.field("score").to_numpy().astype(np.float64)
    weighed = np.bincount(rows, lengths * scores, len(segments))
    found: npt.NDArray[np.float64] = weighed / np.maximum(np.bincount(rows, lengths, len(segments)), 1)
    return found


def _mask(column: pa.BooleanArray) -> Mask:
    mask: Mask = column.to_numpy(zero_copy_only=False)
    return mask
