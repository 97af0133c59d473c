"""A domain of the stream: what is made of each page that arrives, and what is kept for the next."""

import json
import struct
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from dbce_spark.errors import OutputError
from dbce_spark.labels import Label
from dbce_spark.model import text_hash
from dbce_spark.stream.arrival import Arrival, Row
from dbce_spark.urltree.keys import STEPS
from dbce_spark.urltree.settings import UrlTreeConfig
from dbce_spark.urltree.window import Document, DomainTree, Labelled

VERSION = 1
"""Of what is kept around the tree, which has a version of its own. A state of another is refused."""

LABELS, LATE_LABELS, REPEATS = "labels", "late_labels", "repeats"
"""The tables that rows are of."""

_FORMS = STEPS[:-1]
"""The forms of a URL before its key; the tree knows of that."""
_HEAD = struct.Struct("<8sHI")  # magic, version, bytes of JSON
_MAGIC = b"DBCESTRM"
_WORDS = {label.value: label.word for label in Label}


class Domain:
    """All that the stream keeps of a domain: its tree, and the forms of the URLs of the last pages.

    Of each form as many are kept as the tree may hold documents.
    """

    def __init__(self, name: str, config: UrlTreeConfig):
        self._config = config
        self._tree = DomainTree(name, config)
        self._recent: dict[str, dict[int, None]] = {form: {} for form in _FORMS}

    def __len__(self) -> int:
        """Documents in the tree."""
        return len(self._tree)

    def take(self, arrival: Arrival) -> Iterator[tuple[str, Row]]:
        """The rows that come of a page, each with its table: its labels, or that it is one of the same URL key as one
        before; then those of earlier pages that are labelled once more."""
        steps = [form for form in _FORMS if self._has_seen(form, getattr(arrival.url_key, form))]
        document = Document(
            document_id=arrival.row["capture_id"],
            url_key=arrival.url_key,
            timestamp=arrival.row["timestamp"],
            keys=arrival.keys,
        )
        labelled = self._tree.add(document)
        if not labelled:
            yield REPEATS, _repeat(arrival, [*steps, STEPS[-1]])
            return
        yield LABELS, _labels(arrival, labelled[0], steps)
        for late in labelled[1:]:
            yield LATE_LABELS, _late_labels(arrival, late)

    def _has_seen(self, form: str, url: str) -> bool:
        """Whether one of the last pages had a URL in this form; from now on this has."""
        recent, hashed = self._recent[form], text_hash(url)
        if hashed in recent:
            return True
        recent[hashed] = None
        if len(recent) > self._config.window.max_documents:
            del recent[next(iter(recent))]
        return False

    def to_bytes(self) -> bytes:
        """The whole state, for `from_bytes`."""
        head = json.dumps({form: len(recent) for form, recent in self._recent.items()}).encode()
        recent = [np.fromiter(one, np.uint64, len(one)).astype("<u8").tobytes() for one in self._recent.values()]
        return b"".join([_HEAD.pack(_MAGIC, VERSION, len(head)), head, *recent, self._tree.to_bytes()])

    @classmethod
    def from_bytes(cls, data: bytes, config: UrlTreeConfig) -> Self:
        """The domain as it was when `to_bytes` was called.

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


def rows(arrivals: Iterable[Arrival], domain: Domain) -> Iterator[tuple[str, Row]]:
    """What comes of some pages of a domain, in the order of the stream whatever order they are in."""
    for arrival in sorted(arrivals, key=lambda one: (one.file_no, one.row_no)):
        yield from domain.take(arrival)


def _labels(arrival: Arrival, labelled: Labelled, steps: list[str]) -> Row:
    page = arrival.row
    text, lines, words = page["page_text"], [], 0
    spans = zip(page["starts"], page["ends"], page["words"], labelled.labels.tolist(), strict=True)
    for start, end, length, label in spans:
        if label == Label.CONTENT:
            lines.append(text[start:end])
            words += length
    counted = _counted(labelled)
    places = zip(page["xpaths"], page["starts"], page["ends"], strict=True)
    blocks = [
        {"xpath": xpath, "start": start, "end": end, **own}
        for (xpath, start, end), own in zip(places, counted, strict=True)
    ]
    of_page = {name: value for name, value in page.items() if name not in ("xpaths", "starts", "ends")}
    own = {"blocks": blocks, "text": "\n".join(lines), "words": sum(page["words"]), "text_words": words, "steps": steps}
    return of_page | {"key": arrival.url_key.key} | _place(arrival) | _decision(labelled) | own


def _late_labels(arrival: Arrival, late: Labelled) -> Row:
    own = {"capture_id": late.document_id, "blocks": _counted(late)}
    return own | _place(arrival) | _decision(late)


def _repeat(arrival: Arrival, steps: list[str]) -> Row:
    names = ("capture_id", "url", "timestamp", "warc_file", "warc_offset", "warc_length", "record_id", "payload_digest")
    own = {name: arrival.row[name] for name in names}
    return own | {"key": arrival.url_key.key, "steps": steps} | _place(arrival)


def _place(arrival: Arrival) -> dict[str, Any]:
    return {"domain": arrival.domain, "file_no": arrival.file_no, "row_no": arrival.row_no}


def _decision(labelled: Labelled) -> dict[str, Any]:
    names = ("node", "node_documents", "domain_documents", "c_max")
    return {name: getattr(labelled, name) for name in names}


def _counted(labelled: Labelled) -> list[dict[str, Any]]:
    pairs = zip(labelled.labels.tolist(), labelled.counts.tolist(), strict=True)
    return [{"label": _WORDS[label], "count": count} for label, count in pairs]
