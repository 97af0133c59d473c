"""Turn what a domain's state says of pages into rows of the tables of a stream."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress
from typing import Any, Protocol

from dbce_spark.model import Capture, Label
from dbce_spark.output.schemas import stream_rows
from dbce_spark.streaming.stream.arrival import Arrival, Row, unpack_row

LABELS, LATE_LABELS, REPEATS, REJECTS = "labels", "late_labels", "repeats", "rejects"
"""Names of the tables."""

_OF_BLOCKS = {"labels": "label", "counts": "count", "scores": "score"}
"""Columns of an outcome that have an entry a block, each with the name that it has in a row's `blocks`."""
_REPEAT_COLUMNS = [
    name for name in stream_rows.REPEATS.names if name in Capture.__dataclass_fields__ or name == "capture_id"
]
_WORDS = {label.value: label.word for label in Label}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row to be: its table, the packed row of its page, and the columns that the state of the domain gives."""

    table: str
    packed_row: bytes
    columns: Row


class DomainState(Protocol):
    """The state that a stream keeps of a domain, by whichever method it labels."""

    def take(self, arrivals: Iterable[Arrival]) -> Iterator[Outcome]:
        """Take pages in, in the order of the stream, and yield what becomes of each, in that order."""

    def to_bytes(self) -> bytes:
        """Pack the whole state."""


def place(arrival: Arrival) -> dict[str, Any]:
    """Return the columns that say where a page stands in the stream."""
    return {"domain": arrival.domain, "file_no": arrival.file_no, "row_no": arrival.row_no}


def build_rows(arrivals: Iterable[Arrival], state: DomainState) -> Iterator[tuple[str, Row]]:
    """Yield the rows of these pages of a domain with their tables, in the order of the stream whatever order they are
    in."""
    for outcome in state.take(sorted(arrivals, key=lambda one: (one.file_no, one.row_no))):
        yield outcome.table, build_row(outcome)


def build_row(outcome: Outcome) -> Row:
    """Build the row of an outcome, for its table."""
    columns = {name: value for name, value in outcome.columns.items() if name not in _OF_BLOCKS}
    if outcome.table == REJECTS:
        return columns
    if outcome.table == REPEATS:
        page = unpack_row(outcome.packed_row)
        return columns | {name: page[name] for name in _REPEAT_COLUMNS}
    labels, labelled = outcome.columns["labels"], _labelled_blocks(outcome.columns)
    if outcome.table == LATE_LABELS:
        return columns | {"blocks": labelled}
    page = unpack_row(outcome.packed_row)
    xpaths, starts, ends, lengths = (page.pop(name) for name in ("xpaths", "starts", "ends", "words"))
    text, is_content = page["page_text"], [label == Label.CONTENT for label in labels]
    with_blocks = {
        "blocks": [
            {"xpath": xpath, "start": start, "end": end, **label}
            for xpath, start, end, label in zip(xpaths, starts, ends, labelled, strict=True)
        ],
        "text": "\n".join([text[start:end] for start, end in compress(zip(starts, ends, strict=True), is_content)]),
        "words": sum(lengths),
        "text_words": sum(compress(lengths, is_content)),
    }
    return page | columns | with_blocks


def _labelled_blocks(columns: Row) -> list[dict[str, Any]]:
    """List what an outcome says of each block, by the names of a row's `blocks`."""
    given = {name: columns[column] for column, name in _OF_BLOCKS.items() if column in columns}
    given["label"] = [_WORDS[label] for label in given["label"]]
    return [dict(zip(given, values, strict=True)) for values in zip(*given.values(), strict=True)]
