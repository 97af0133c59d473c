"""Filter extractions: each filter marks the rows of a batch that it keeps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.config import CorpusConfig
from dbce_spark.model import Label

Mask = npt.NDArray[np.bool_]

STATUSES = ("crossed", "single")
SEGMENT_FIELDS = ("label", "score", "start", "end")
"""Fields of the segments that `probability` reads."""


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter: its name, what it keeps in words, and the function that marks the rows of a batch that it keeps."""

    name: str
    keeps: str
    marks: Callable[[pa.RecordBatch], Mask]


def chosen(config: CorpusConfig) -> list[Filter]:
    """List the filters of a configuration, in the order in which they are applied, without those that would keep
    all."""
    filters = [
        status(config.statuses),
        language(config.languages),
        words(config.min_words),
        likely(config.min_probability),
        duplicates(config.duplicates, config.within),
    ]
    return [one for one in filters if one is not None]


def status(statuses: Sequence[str]) -> Filter | None:
    """Keep pages of these statuses."""
    if {*STATUSES} <= {*statuses}:
        return None
    return Filter("status", " or ".join(statuses) or "none", lambda batch: _is_in(batch, "status", statuses))


def language(languages: Sequence[str]) -> Filter | None:
    """Keep texts in these languages, as the column `language` has them."""
    if not languages:
        return None
    return Filter("language", " or ".join(languages), lambda batch: _is_in(batch, "language", languages))


def words(least: int) -> Filter | None:
    """Keep texts of so many words, or more."""
    if not least:
        return None
    return Filter("words", f"{least:,} words or more", lambda batch: _numbers(batch, "text_words") >= least)


def likely(least: float) -> Filter | None:
    """Keep texts that are content with such a probability, or a higher one."""
    if not least:
        return None
    return Filter(
        "probability", f"a probability of {least} or more", lambda batch: _numbers(batch, "probability") >= least
    )


def duplicates(kind: str, within: str) -> Filter | None:
    """Keep the earliest capture of a text, in all or of each URL: of the very same text, or of nearly the same."""
    if kind == "keep":
        return None
    what = "text" if kind == "exact" else "text, and of those nearly like it"
    if within == "url":
        repeated = ["exact"] if kind == "exact" else ["exact", "near"]
        keeps = f"of each URL the first capture of a {what}"
        return Filter("duplicates", keeps, lambda batch: ~_is_in(batch, "repeats", repeated))
    name = "copy_of" if kind == "exact" else "duplicate_of"
    return Filter("duplicates", f"the first capture of a {what}", lambda batch: _is_null(batch, name))


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


def outcomes(batch: pa.RecordBatch, filters: Sequence[Filter]) -> npt.NDArray[np.intp]:
    """Find for each row the index of the first filter that removes it, or their number if none does. `batch` has the
    columns of extractions that filters read, those of duplicates, and `probability`."""
    found = np.full(len(batch), len(filters), np.intp)
    for at in reversed(range(len(filters))):
        found[~filters[at].marks(batch)] = at
    return found


def _is_in(batch: pa.RecordBatch, name: str, values: Sequence[str]) -> Mask:
    mask: Mask = pc.is_in(batch.column(name), pa.array(values, pa.string())).to_numpy(zero_copy_only=False)
    return mask


def _is_null(batch: pa.RecordBatch, name: str) -> Mask:
    mask: Mask = pc.is_null(batch.column(name)).to_numpy(zero_copy_only=False)
    return mask


def _numbers(batch: pa.RecordBatch, name: str) -> npt.NDArray[np.float64]:
    numbers: npt.NDArray[np.float64] = batch.column(name).to_numpy(zero_copy_only=False)
    return numbers
