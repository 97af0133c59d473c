"""Turn what a domain's state says of pages into rows of the tables of a stream."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import compress
from typing import Any, Protocol

import numpy as np

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.kept import main_text
from dbce_spark.dbce.kept.kept_formats import Formats, write_formats
from dbce_spark.dbce.pages import failed, spared
from dbce_spark.dbce.single import unlabelled
from dbce_spark.dbce.time_limit import time_limit
from dbce_spark.model import LABEL_WORDS, Blocks, Capture, Label, Reject, RejectStage
from dbce_spark.output.schemas import stream_rows
from dbce_spark.streaming.stream.arrival import Arrival, Row, unpack_row
from dbce_spark.streaming.urltree.url_keys import KEY_FORMS

LABELS, LATE_LABELS, REPEATS, REJECTS = "labels", "late_labels", "repeats", "rejects"
"""Names of the tables."""

_OF_BLOCKS = {"labels": "label", "counts": "count", "scores": "score"}
"""Columns of an outcome that have an entry a block, each with the name that it has in a row's `blocks`."""
_REPEAT_COLUMNS = [
    name for name in stream_rows.REPEATS.names if name in Capture.__dataclass_fields__ or name == "capture_id"
]


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


def keyed(arrival: Arrival, steps: list[str]) -> dict[str, Any]:
    """Return these columns, the URL key of the page, and the steps by which it was known again."""
    return place(arrival) | {"key": arrival.url_key.key, "steps": steps}


def repeat(arrival: Arrival, steps: list[str]) -> Outcome:
    """Return the outcome of a page of which the domain had another; `steps` as `keyed` has them, before the last."""
    return Outcome(REPEATS, arrival.packed_row, keyed(arrival, [*steps, KEY_FORMS[-1]]))


def build_rows(
    arrivals: Iterable[Arrival], state: DomainState, config: DbceConfig | None = None
) -> Iterator[tuple[str, Row]]:
    """Yield the rows of these pages of a domain with their tables, in the order of the stream whatever order they are
    in."""
    for outcome in state.take(sorted(arrivals, key=lambda one: (one.file_no, one.row_no))):
        yield outcome.table, build_row(outcome, config)


def build_row(outcome: Outcome, config: DbceConfig | None = None) -> Row:
    """Build the row of an outcome, for its table, in the formats of `config` where the page came with its HTML."""
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
    if (html := page.pop("html", None)) is not None and config is not None:
        columns |= _formats(html.encode("utf-8", "surrogateescape"), page, labels, config)
    xpaths, starts, ends, lengths = (page.pop(name) for name in ("xpaths", "starts", "ends", "words"))
    is_content = [label == Label.CONTENT for label in labels]
    with_blocks = {
        "blocks": [
            {"xpath": xpath, "start": start, "end": end, **label}
            for xpath, start, end, label in zip(xpaths, starts, ends, labelled, strict=True)
        ],
        "text": main_text.of_blocks(page["page_text"], starts, ends, labels),
        "words": sum(lengths),
        "text_words": sum(compress(lengths, is_content)),
    }
    return page | columns | with_blocks


def _formats(html: bytes, page: Mapping[str, Any], labels: Sequence[int], config: DbceConfig) -> dict[str, Any]:
    """Write the formats of a page whose blocks have these labels; a page that they cannot be written of is flagged."""
    starts, ends = (np.array(page[name], np.int32) for name in ("starts", "ends"))
    none = np.zeros(len(labels), np.int32)
    blocks = Blocks(
        text=page["page_text"], starts=starts, ends=ends, xpaths=page["xpaths"], words=none, link_words=none,
        tokens=np.empty(0, np.uint64),
    )  # fmt: skip
    segments = replace(unlabelled(blocks), labels=np.array(labels, np.uint8))
    capture = Capture(
        **{name: page[name] for name in Capture.__dataclass_fields__ if name in page},
        url_key="",
        site="",
        declared_charset="",
        truncated=False,
    )

    def write(some: Sequence[bytes]) -> list[Formats]:
        with time_limit(config.page.max_seconds):
            return [write_formats(one, blocks, segments, capture, config.formats) for one in some]

    (written,) = spared(write, [html], lambda _, error: failed(capture, RejectStage.LABEL, error))
    if isinstance(written, Reject):
        return {"flags": [*page["flags"], "formats_failed"]}
    about = None if written.about is None else asdict(written.about)
    return {"markdown": written.markdown, "html": written.html, "about": about}


def _labelled_blocks(columns: Row) -> list[dict[str, Any]]:
    """List what an outcome says of each block, by the names of a row's `blocks`."""
    given = {name: columns[column] for column, name in _OF_BLOCKS.items() if column in columns}
    given["label"] = [LABEL_WORDS[label] for label in given["label"]]
    return [dict(zip(given, values, strict=True)) for values in zip(*given.values(), strict=True)]
