"""Write labels and evidence of a page's text as attributes over it: spans [start, end, score], as Dolma's taggers do.

The text is `page_text`, and stays whole. Offsets count its characters (code points), as Python and Dolma's mixer do. A
span reaches to where the next segment begins: all of them together are the page, and a text without some of them has no
empty lines in their place. Dolma's own paragraphs hold the line's end, too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dbce_spark.files import jsonl
from dbce_spark.model import LABEL_WORDS, Label

Span = tuple[int, int, float]
Spans = list[Span]

LABELS, EVIDENCE = FOLDERS = ("dbce_labels", "dbce_evidence")
"""Names by which a mixer asks for attributes: each a folder beside the documents', with the same files in it."""

_SEGMENT = ("block", "start", "label", "score", "siblings", "siblings_with", "snapshots", "snapshots_with")
NEEDED = ("capture_id", "page_text", "words", "text_words", *(f"segments.{name}" for name in _SEGMENT))

_DIGITS = 4
"""Of scores: those of blocks are in steps of 1/10,000."""


@dataclass(frozen=True, slots=True)
class _Page:
    """The segments of a page, a column each, and the length of its text."""

    length: int
    columns: Mapping[str, npt.NDArray[Any]]

    def spans(self, scores: npt.NDArray[Any], chosen: npt.NDArray[np.bool_], *same: str) -> Spans:
        """List the chosen segments with their scores; neighbours of one block are joined where the scores are the same,
        and the columns `same`."""
        starts = self.columns["start"]
        if not len(starts):
            return []
        compared = [scores, chosen, *(self.columns[name] for name in ("block", *same))]
        is_first = np.concatenate(([True], np.any([one[1:] != one[:-1] for one in compared], axis=0)))
        firsts = np.flatnonzero(is_first)
        ends = np.append(starts[firsts[1:]], self.length)
        rows = zip(starts[firsts].tolist(), ends.tolist(), _rounded(scores[firsts]), strict=True)
        return [span for span, is_chosen in zip(rows, chosen[firsts].tolist(), strict=True) if is_chosen]


def labels(batch: pa.RecordBatch, source: str) -> Iterator[bytes]:
    """Write a line for each row: the spans of each label, and one span over all of the page.

    Spans are scored by the probability of their label (`undecided`: that of content); the last one by the share of the
    page's words that are in its main text.
    """
    shares = np.divide(batch.column("text_words").to_numpy(), np.maximum(batch.column("words").to_numpy(), 1))
    for capture_id, page, share in zip(
        batch.column("capture_id").to_pylist(), _pages(batch), _rounded(shares), strict=True
    ):
        score = page.columns["score"].astype(np.float64)
        found = {
            f"dbce__labels__{label.word}": page.spans(
                1 - score if label is Label.BOILERPLATE else score, page.columns["label"] == label, "label"
            )
            for label in Label
        }
        yield _line(capture_id, source, found | {"dbce__labels__main_text": [(0, page.length, share)]})


def evidence(batch: pa.RecordBatch, source: str) -> Iterator[bytes]:
    """Write a line for each row: the share of its siblings (pages of its template) and of its snapshots (captures of
    its URL) that have each span, too. Text that was compared with none has no span."""
    for capture_id, page in zip(batch.column("capture_id").to_pylist(), _pages(batch), strict=True):
        found = {}
        for kind in ("siblings", "snapshots"):
            compared = page.columns[kind]
            shares = page.columns[f"{kind}_with"] / np.maximum(compared, 1)
            found[f"dbce__evidence__{kind}"] = page.spans(shares, compared > 0)
        yield _line(capture_id, source, found)


def _line(capture_id: str, source: str, found: Mapping[str, Spans]) -> bytes:
    return jsonl.line({"id": capture_id, "source": source, "attributes": found}, compact=True)


def _rounded(scores: npt.NDArray[Any]) -> list[float]:
    rounded: list[float] = np.round(scores.astype(np.float64), _DIGITS).tolist()
    return rounded


def _pages(batch: pa.RecordBatch) -> Iterator[_Page]:
    """Split a batch into the segments of each row."""
    lists = batch.column("segments")
    flat = lists.flatten()
    columns = {name: _numbers(name, flat.field(name)) for name in _SEGMENT}
    lengths = lists.value_lengths().to_numpy()
    ends = np.cumsum(lengths)
    for text, start, end in zip(batch.column("page_text").to_pylist(), ends - lengths, ends, strict=True):
        yield _Page(len(text), {name: column[start:end] for name, column in columns.items()})


def _numbers(name: str, column: pa.Array) -> npt.NDArray[Any]:
    """Convert a column to numbers, labels to codes."""
    codes = pa.compute.index_in(column, pa.array(LABEL_WORDS)) if name == "label" else column
    numbers: npt.NDArray[Any] = codes.to_numpy()
    return numbers
