"""Make rows of the pages that arrive in one domain of the stream, and keep the state for the next."""

import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress
from typing import Any, Self

import numpy as np

from dbce_spark.errors import OutputError
from dbce_spark.model import Capture, Label, text_hash
from dbce_spark.output.schemas import stream_rows
from dbce_spark.streaming.stream.arrival import Arrival, Row, unpack_row
from dbce_spark.streaming.urltree.url_keys import STEPS
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig
from dbce_spark.streaming.urltree.window import Document, DomainTree, Labelled

VERSION = 1
"""Version of the state around the tree, which has a version of its own. A state of another is refused."""

LABELS, LATE_LABELS, REPEATS = "labels", "late_labels", "repeats"
"""Names of the tables."""

_FORMS = STEPS[:-1]
"""The forms of a URL before its key; the tree looks that up."""
_HEAD = struct.Struct("<8sHI")  # magic, version, bytes of JSON
_MAGIC = b"DBCESTRM"
_BLOCK_COLUMNS = ("labels", "counts")
_REPEAT_COLUMNS = [
    name for name in stream_rows.REPEATS.names if name in Capture.__dataclass_fields__ or name == "capture_id"
]
_WORDS = {label.value: label.word for label in Label}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row to be: its table, the packed row of its page, and the columns that the tree gives."""

    table: str
    packed_row: bytes
    columns: Row


class Domain:
    """The state that the stream keeps of a domain: its tree, and the forms of the URLs of the last pages.

    As many URLs of each form are kept as the tree may hold documents.
    """

    def __init__(self, name: str, config: UrlTreeConfig):
        self._config = config
        self._tree = DomainTree(name, config)
        self._recent: dict[str, dict[int, None]] = {form: {} for form in _FORMS}

    def __len__(self) -> int:
        """Count the documents in the tree."""
        return len(self._tree)

    def take(self, arrival: Arrival) -> Iterator[Outcome]:
        """Take a page in: yield its labels, or a repeat if it has the URL key of an earlier one; then the labels of
        earlier pages that are labelled once more."""
        steps = [form for form in _FORMS if self._has_seen(form, getattr(arrival.url_key, form))]
        document = Document(
            document_id=arrival.capture_id,
            url_key=arrival.url_key,
            timestamp=arrival.timestamp,
            keys=arrival.keys,
        )
        labelled = self._tree.add(document)
        place = {"domain": arrival.domain, "file_no": arrival.file_no, "row_no": arrival.row_no}
        keyed = place | {"key": arrival.url_key.key}
        if not labelled:
            yield Outcome(REPEATS, arrival.packed_row, keyed | {"steps": [*steps, STEPS[-1]]})
            return
        yield Outcome(LABELS, arrival.packed_row, keyed | {"steps": steps} | _decision(labelled[0]))
        for late in labelled[1:]:
            yield Outcome(LATE_LABELS, b"", place | {"capture_id": late.document_id} | _decision(late))

    def _has_seen(self, form: str, url: str) -> bool:
        """Return whether one of the last pages had a URL in this form, and remember this one."""
        recent, hashed = self._recent[form], text_hash(url)
        if hashed in recent:
            return True
        recent[hashed] = None
        if len(recent) > self._config.window.max_documents:
            del recent[next(iter(recent))]
        return False

    def to_bytes(self) -> bytes:
        """Pack the whole state, for `from_bytes`."""
        head = json.dumps({form: len(recent) for form, recent in self._recent.items()}).encode()
        recent = [np.fromiter(one, np.uint64, len(one)).astype("<u8").tobytes() for one in self._recent.values()]
        return b"".join([_HEAD.pack(_MAGIC, VERSION, len(head)), head, *recent, self._tree.to_bytes()])

    @classmethod
    def from_bytes(cls, data: bytes, config: UrlTreeConfig) -> Self:
        """Restore the domain as it was when `to_bytes` was called.

        Raises:
            OutputError: the state is of another version, or its keys were made by another hash.
        """
        magic, version, length = _HEAD.unpack_from(data)
        if magic != _MAGIC or version != VERSION:
            raise OutputError(
                f"the state of a domain is of version {version if magic == _MAGIC else 'unknown'}, this program has"
                f" {VERSION}: go on with the program that began the stream, or begin it anew with another --output"
            )
        at = _HEAD.size + length
        made = cls("", config)
        for form, count in json.loads(data[_HEAD.size : at]).items():
            made._recent[form] = dict.fromkeys(np.frombuffer(data, "<u8", count, at).tolist())
            at += 8 * count
        made._tree = DomainTree.from_bytes(data[at:], config)
        return made


def build_rows(arrivals: Iterable[Arrival], domain: Domain) -> Iterator[tuple[str, Row]]:
    """Yield the rows of these pages of a domain with their tables, in the order of the stream whatever order they are
    in."""
    for arrival in sorted(arrivals, key=lambda one: (one.file_no, one.row_no)):
        for outcome in domain.take(arrival):
            yield outcome.table, build_row(outcome)


def build_row(outcome: Outcome) -> Row:
    """Build the row of an outcome, for its table."""
    columns = {name: value for name, value in outcome.columns.items() if name not in _BLOCK_COLUMNS}
    if outcome.table == REPEATS:
        page = unpack_row(outcome.packed_row)
        return columns | {name: page[name] for name in _REPEAT_COLUMNS}
    labels, counts = (outcome.columns[name] for name in _BLOCK_COLUMNS)
    counted = [{"label": _WORDS[label], "count": count} for label, count in zip(labels, counts, strict=True)]
    if outcome.table == LATE_LABELS:
        return columns | {"blocks": counted}
    page = unpack_row(outcome.packed_row)
    xpaths, starts, ends, lengths = (page.pop(name) for name in ("xpaths", "starts", "ends", "words"))
    text, is_content = page["page_text"], [label == Label.CONTENT for label in labels]
    with_blocks = {
        "blocks": [
            {"xpath": xpath, "start": start, "end": end, **label}
            for xpath, start, end, label in zip(xpaths, starts, ends, counted, strict=True)
        ],
        "text": "\n".join([text[start:end] for start, end in compress(zip(starts, ends, strict=True), is_content)]),
        "words": sum(lengths),
        "text_words": sum(compress(lengths, is_content)),
    }
    return page | columns | with_blocks


def _decision(labelled: Labelled) -> dict[str, Any]:
    """Return the columns of a labelled document."""
    names = ("node", "node_documents", "domain_documents", "c_max")
    own: dict[str, Any] = {name: getattr(labelled, name) for name in names}
    return own | {name: getattr(labelled, name).tolist() for name in _BLOCK_COLUMNS}
