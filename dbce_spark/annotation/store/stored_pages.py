"""Read and write the pages of a store: as they were archived, and as annotators have them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from dbce_spark.annotation.markup.outline import Outline
from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.annotation.markup.submission import Tags
from dbce_spark.annotation.store.workbench_store import IN_CORPUS, Connection, insert
from dbce_spark.archive import http_message, mime, warc
from dbce_spark.config import DbceConfig
from dbce_spark.files import timestamps
from dbce_spark.html.charset import decode
from dbce_spark.model import Label

CORPUS, TUTORIAL = "corpus", "tutorial"
LETTERS = {None: "-", Label.CONTENT: "c", Label.BOILERPLATE: "b", Label.UNDECIDED: "u"}
"""Letters by which a store encodes tags, one a segment."""
_PLAIN = (
    "kind corpus position url url_key site timestamp archive record_id head record charset title language words html"
    " text text_digest model doubt"
).split()
"""Columns that a page has as they are."""
_LABEL_OF = {letter: label for label, letter in LETTERS.items()}


@dataclass(frozen=True, slots=True)
class Unit:
    """A segment to tag: characters `start` to `end` of the page's text, and what the model makes of it."""

    xpath: str  # of the block that it is in
    start: int
    end: int
    label: Label
    score: float  # how likely it is content


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPage:
    """One page of a store."""

    page: str  # its id: the capture's
    kind: str = CORPUS
    corpus: str = ""  # its name, of those in the store
    position: int = 0  # in the tutorial, from 1
    url: str
    url_key: str
    site: str
    timestamp: int  # microseconds since 1970-01-01 UTC
    archive: str
    record_id: str
    head: str  # of the record, as JSON
    record: bytes  # its block as archived: HTTP head and body
    charset: str
    title: str
    language: str
    words: int  # of the text, cut at white space
    html: str  # with its nodes numbered
    text: str
    text_digest: str
    units: tuple[Unit, ...]
    outline: Outline
    model: str  # what gave the labels and scores of the units
    doubt: float  # mean of how near to a half the scores of its words are, 0 to 1
    reference: Tags = ()  # what a tutorial page should be tagged

    @property
    def labels(self) -> tuple[Label, ...]:
        """Return the model's label of each segment."""
        return tuple(unit.label for unit in self.units)


def encode_tags(tags: Tags) -> str:
    """Encode tags as a store has them."""
    return "".join(LETTERS[tag] for tag in tags)


def decode_tags(letters: str) -> Tags:
    """Decode tags from what a store has."""
    return tuple(_LABEL_OF[letter] for letter in letters)


def add(store: Connection, page: StoredPage, *, added: int) -> bool:
    """Add a page to a store, if it is missing. Return whether it is new."""
    units = [[unit.xpath, unit.start, unit.end, LETTERS[unit.label], unit.score] for unit in page.units]
    plain = {name: getattr(page, name) for name in _PLAIN}
    made = {
        "id": page.page,
        "segments": json.dumps(units, separators=(",", ":")),
        "outline": page.outline.as_json(),
        "reference": encode_tags(page.reference),
    }
    return insert(store, "pages", {**plain, **made, "added": added})


def set_reference(store: Connection, page: StoredPage) -> None:
    """Write anew what a tutorial page should be tagged, unless the store has it with other segments."""
    store.execute(
        "UPDATE pages SET reference = ? WHERE id = ? AND text_digest = ?",
        (encode_tags(page.reference), page.page, page.text_digest),
    )


def get(store: Connection, page: str) -> StoredPage | None:
    """Return a page by its id; None if there is none."""
    row = store.execute("SELECT * FROM pages WHERE id = ?", (page,)).fetchone()
    if row is None:
        return None
    units = json.loads(row["segments"])
    return StoredPage(
        page=row["id"],
        **{name: row[name] for name in _PLAIN},
        units=tuple(Unit(xpath, start, end, _label(of), score) for xpath, start, end, of, score in units),
        outline=Outline.from_json(row["outline"]),
        reference=decode_tags(row["reference"]),
    )


def read_kind(store: Connection, kind: str, corpus: str = "") -> Iterator[StoredPage]:
    """Yield the pages to label, of one corpus or of all, or those of the tutorial, in order of position and id.

    Each is read by itself: one query for all would keep everybody from writing until the last is taken.
    """
    found = (get(store, one) for one in ids(store, kind, corpus))
    return (page for page in found if page is not None)


def ids(store: Connection, kind: str, corpus: str = "") -> list[str]:
    """Return the ids of the pages that `read_kind` yields, in its order."""
    found = store.execute(
        f"SELECT id FROM pages WHERE kind = :kind AND {IN_CORPUS} ORDER BY position, id",
        {"kind": kind, "corpus": corpus},
    )
    return [row["id"] for row in found]


def sheet(page: StoredPage, utf8_html: str) -> Sheet:
    """Return the page as merging and scoring read it. `utf8_html` is its HTML as archived, but in UTF-8."""
    return Sheet(
        page=page.page,
        html=utf8_html,
        text=page.text,
        segments=tuple(SegmentSpan(unit.xpath, unit.start, unit.end) for unit in page.units),
        url=page.url,
        site=page.site,
        url_key=page.url_key,
        date=timestamps.to_datetime(page.timestamp).isoformat(timespec="seconds"),
        lang=page.language,
    )


def archived_html(page: StoredPage, config: DbceConfig) -> bytes:
    """Return the HTML as it was archived, but in UTF-8.

    Raises:
        BodyError: its encoding cannot be undone, by this configuration.
    """
    head = json.loads(page.head)  # ARC's names no kind
    response = warc.message(head, head.get("warc-type", "response").lower(), page.record)
    if response is None:
        response = http_message.Response(0, {}, page.record)
    content = http_message.decode_body(response, max_bytes=config.page.max_html_bytes, max_ratio=config.input.max_ratio)
    return decode(content.html, mime.declared_type(response.headers.get("content-type", "")).charset).html


def _label(letter: str) -> Label:
    found = _LABEL_OF[letter]
    assert found is not None  # a model leaves no segment without a label
    return found
