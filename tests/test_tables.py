"""Tables: from the model into Arrow and back."""

import dataclasses
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark import tables
from dbce_spark.archive.revisits import Resolved
from dbce_spark.dbce import local, pools
from dbce_spark.html.language import UNKNOWN, Language
from dbce_spark.model import Annotation, Extraction, Found, Page, Reason, Reject, Revisit, Seen, Segments, Stage
from dbce_spark.output.history import page_history
from tests.support.builders import config, cross, microseconds, page, traits
from tests.support.strategies import annotations, documents

DOCS = Path(__file__).parents[1] / "docs" / "tables.md"
TEMPLATE = (
    "<html><head><title>Größe</title></head>"
    "<body><ul><li>{}</li></ul><h1>b</h1><p>c <a>d</a></p><div><b>e</b></div></body></html>"
)
CONFIG = config("label.by=T002")
PAGES = [
    page(TEMPLATE.format("日本 one"), "http://www.example.org/a", "1969-12-31T23:59:59.000001Z"),
    page("<p>few</p>", "http://www.example.org/b", truncated=True),
    page(TEMPLATE.format("two three"), "http://www.example.com/c"),
    page(TEMPLATE.format("two four"), "http://www.example.com/d"),
]
LOOKED_AT = [dataclasses.replace(one, traits=traits(one)) for one in PAGES]


def plain(value: Any) -> Any:
    """Dataclasses and arrays as what can be compared."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value.tolist() if isinstance(value, np.ndarray) else value


def bare(one: Page) -> Page:
    """A page as its rows keep it for the merge."""
    nothing = np.empty(0, np.uint64)
    blocks = dataclasses.replace(one.blocks, tokens=nothing)
    return dataclasses.replace(one, blocks=blocks, signature=None, bands=nothing)


def staged(pages: list[Page], htmls: list[bytes | None]) -> pa.RecordBatch:
    """Pages as rows of the staged file 3, from its row 7 on."""
    return tables.pages_batch(pages, htmls, file_no=3, first_row=7)


def extracted() -> list[Extraction]:
    return local.extractions(PAGES, CONFIG)


def segments_rows(extraction: Extraction) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        tables.extractions_batch([extraction], [UNKNOWN], [None], 4).column("segments")[0].as_py()
    )
    return rows


def test_pages_come_back() -> None:
    """A page's row gives the page, but for tokens and signature."""
    batch = staged(PAGES, [None] * len(PAGES))
    expected = [plain(bare(one)) for one in PAGES]
    actual = [plain(one) for one in tables.pages_from(batch)]

    assert expected == actual


def test_slice_of_pages_comes_back() -> None:
    """Rows out of the middle of a batch are read as what they are."""
    batch = staged(PAGES, [None] * len(PAGES)).slice(1, 2)
    expected = [plain(bare(one)) for one in PAGES[1:3]]
    actual = [plain(one) for one in tables.pages_from(batch)]

    assert expected == actual


@given(documents)
def test_any_blocks_come_back(html: str) -> None:
    """Whatever a page's blocks are, their row gives them."""
    one = page(html)
    (actual,) = tables.pages_from(staged([one], [None]))

    assert plain(bare(one).blocks) == plain(actual.blocks)


def test_staged_pages_hold_what_the_buckets_need() -> None:
    """Tokens, signature and bands are stored as fixed-width numbers, in bytes of one order."""
    (row,) = staged(PAGES[:1], [b"<p>"]).to_pylist()
    one = PAGES[0]

    assert one.signature is not None
    assert np.array_equal(one.blocks.tokens, np.frombuffer(row["tokens"], "<u8"))
    assert np.array_equal(one.signature, np.frombuffer(row["signature"], "<u4"))
    assert one.bands.view(np.int64).tolist() == row["bands"]
    assert row["html"] == b"<p>"


@given(documents, st.integers(1, 5))
def test_any_traits_come_back(html: str, features: int) -> None:
    """Codes, verdicts and keys of any page, in their shapes and types."""
    one = page(html)
    made = traits(one, features)
    (actual,) = tables.pages_from(staged([dataclasses.replace(one, traits=made)], [None]))

    assert actual.traits is not None
    assert plain(made) == plain(actual.traits)
    for name in ("codes", "verdicts", "keys"):
        assert getattr(made, name).dtype == getattr(actual.traits, name).dtype


def test_page_that_no_classifier_saw_has_null_traits() -> None:
    """Beside pages that it saw, whose columns are bytes."""
    rows = staged([PAGES[0], LOOKED_AT[1]], [None, None]).to_pylist()

    for name in ("traits_codes", "verdicts", "keys"):
        assert [True, False] == [row[name] is None for row in rows]


def test_witnesses_come_back() -> None:
    """What others see of a page, from the columns that travel."""
    rows = staged(LOOKED_AT, [None] * len(LOOKED_AT))
    numbers = [packed[len(packed) // 2 :] for packed in rows.column("block_numbers").to_pylist()]
    table = pa.table(
        {name: rows.column(name) for name in ("capture_id", "url_key", "verdicts", "keys")}
        | {"timestamp": rows.column("timestamp").cast(pa.int64()), "numbers": pa.array(numbers, pa.binary())}
    )
    expected = [plain(pools.witness(one)) for one in LOOKED_AT]
    actual = [plain(one) for one in tables.witnesses_from(table)]

    assert expected == actual


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5), st.sampled_from([0, 1])), max_size=4))
def test_evidence_comes_back(shapes: list[tuple[int, int, int]]) -> None:
    """Codes of any shape, with their capture and kind."""
    made = [
        (f"id{at}", kind, np.arange(features * blocks, dtype=np.uint8).reshape(features, blocks))
        for at, (features, blocks, kind) in enumerate(shapes)
    ]
    rows = tables.evidence_batch(made).to_pylist()
    actual = [(row["capture_id"], row["kind"], tables.codes_from(row).tolist()) for row in rows]

    assert [(capture_id, kind, codes.tolist()) for capture_id, kind, codes in made] == actual


def test_staged_pages_say_where_they_are() -> None:
    """Each row names its file and its place there."""
    rows = staged(PAGES, [None] * len(PAGES)).to_pylist()

    assert [(3, 7), (3, 8), (3, 9), (3, 10)] == [(row["file_no"], row["row_no"]) for row in rows]


def test_batch_of_nothing() -> None:
    """No rows are rows of the schema, too."""
    assert staged([], []).schema == tables.PAGES
    assert tables.rejects_batch([]).num_rows == 0


def test_rejects_have_their_fields() -> None:
    """A reject is a row, its stage and reason in words."""
    one = Reject(
        warc_file="a",
        warc_offset=3,
        record_id="r",
        url="u",
        stage=Stage.READ,
        reason=Reason.NO_URL,
        detail="d",
    )
    (row,) = tables.rejects_batch([one]).to_pylist()

    assert {name: getattr(one, name) for name in tables.REJECTS.names} == row
    assert (str, str) == (type(row["stage"]), type(row["reason"]))


def found(**fields: Any) -> Found:
    known: dict[str, Any] = {
        "cross": cross("a", "b"),
        "bucket_id": "k",
        "bucket_urls": 2,
        "group": "g",
    }
    return Found(**(known | fields))


def test_found_comes_back() -> None:
    """A cross and its bucket, from their row."""
    expected = [found(), found(cross=cross("a", "b", "c", "d", "e"), bucket_urls=9)]
    actual = [tables.found_from(row) for row in tables.found_batch(expected).to_pylist()]

    assert expected == actual


def test_found_says_its_id_and_bits() -> None:
    """What a cross derives from its arms stands in its row."""
    (row,) = tables.found_batch([found()]).to_pylist()

    assert (cross("a", "b").cross_id, "11000") == (row["cross_id"], row["bits"])


@given(annotations(9))
def test_annotations_come_back(some: list[Annotation]) -> None:
    """Runs and bits, from their row."""
    rows = tables.annotations_batch([(found(cross=one.cross), one) for one in some]).to_pylist()
    actual = [plain(tables.annotation_from(row)) for row in rows]

    assert [plain(one) for one in some] == actual


def test_extractions_have_the_schema() -> None:
    """A batch of extractions fits the table's schema and holds no null where there is a value."""
    some = extracted()
    batch = tables.extractions_batch(some, [UNKNOWN] * len(some), [None] * len(some), 4)
    batch.validate(full=True)
    nulls = [name for name, column in zip(batch.schema.names, batch.columns, strict=True) if column.null_count]

    assert tables.EXTRACTIONS == batch.schema
    assert nulls == ["published", "modified", "canonical_url", "html"]


def test_extraction_row() -> None:
    """Texts and counts of a row are those of its page."""
    some = extracted()
    rows = tables.extractions_batch(some, [Language("en", 0.5)] * len(some), ["<p>"] * len(some), 4).to_pylist()
    for one, row in zip(some, rows, strict=True):
        assert (one.text, one.status, "<p>") == (row["text"], row["status"], row["html"])
        assert (one.page.blocks.text, len(one.page.blocks)) == (row["page_text"], row["blocks"])
        assert (len(one.page.blocks.tokens), one.page.capture.timestamp) == (
            row["words"],
            (row["timestamp"] - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1),
        )
        assert row["site_part"] == tables.site_part(one.page.capture.site, 4)


def test_segment_rows_belong_to_their_page() -> None:
    """Rows of many pages in one batch: each segment with the path of its own page's block."""
    some = extracted()
    rows = tables.extractions_batch(some, [UNKNOWN] * len(some), [None] * len(some), 4).column("segments").to_pylist()
    expected = [[one.page.blocks.xpaths[block] for block in one.segments.blocks] for one in some]
    actual = [[segment["xpath"] for segment in segments] for segments in rows]

    assert expected == actual


def test_crosses_rows() -> None:
    """A row's crosses are its own, in order of their ids."""
    some = extracted()
    rows = tables.extractions_batch(some, [UNKNOWN] * len(some), [None] * len(some), 4).column("crosses").to_pylist()

    assert [[made.cross_id for made in one.crosses] for one in some] == [
        [made["cross_id"] for made in row] for row in rows
    ]


@pytest.mark.parametrize("at", range(len(PAGES)))
def test_segments_come_back(at: int) -> None:
    """The segments column gives the segments."""
    one = extracted()[at]
    actual = tables.segments_from(segments_rows(one))

    assert plain(one.segments) == plain(actual)


def test_segments_of_nothing() -> None:
    """No rows, no segments, and columns of their types."""
    made = tables.segments_from([])

    assert len(made) == 0
    assert {name: getattr(made, name).dtype for name in Segments.__dataclass_fields__} == {
        name: getattr(extracted()[0].segments, name).dtype for name in Segments.__dataclass_fields__
    }


@given(st.text(max_size=20), st.integers(1, 100))
def test_site_part_lies_within_the_parts(site: str, parts: int) -> None:
    """Every site has one partition of those there are."""
    assert 0 <= tables.site_part(site, parts) < parts


def documented(heading: str) -> list[str]:
    """The names in the first column of a table of docs/tables.md."""
    text = DOCS.read_text(encoding="utf-8").split(f"# {heading}\n", 1)[1].split("\n#", 1)[0]
    rows = re.findall(r"^\| ([a-z_, ]+?) \|", text, re.MULTILINE)
    return [name for row in rows for name in row.split(", ") if name not in ("column", "field")]


def test_documentation_names_every_column() -> None:
    """docs/tables.md lists the columns of all tables, in their order."""
    segment = tables.EXTRACTIONS.field("segments").type.value_type

    assert tables.EXTRACTIONS.names == documented("extractions")
    assert [segment.field(at).name for at in range(segment.num_fields)] == documented("segments")
    assert tables.DUPLICATES.names == documented("duplicates")
    assert tables.CAPTURES.names == documented("captures")
    assert tables.REJECTS.names == documented("rejects")
    assert tables.STEPS.names == documented("steps")
    assert tables.CHANGES.names == documented("changes")
    assert tables.LIVES.names == documented("lives")
    assert tables.REDESIGNS.names == documented("redesigns")
    assert tables.LABELS.names == documented("labels")
    assert tables.LATE_LABELS.names == documented("late_labels")
    assert tables.REPEATS.names == documented("repeats")


REVISIT = Revisit(
    url="http://www.example.org/ä",
    url_key="org,example)/ä",
    site="example.org",
    timestamp=-1_000_000,
    warc_file="a.warc",
    warc_offset=1 << 40,
    warc_length=99,
    record_id="<urn:uuid:1>",
    http_status=304,
    is_unmodified=True,
    digest="sha1:A",
    refers_to_id="",
    refers_to_key="org,example)/b",
    refers_to_time=None,
)


def test_revisits_survive_the_round_trip() -> None:
    """A revisit is the same when it was staged and read back, whether it names a date or none."""
    some = [REVISIT, dataclasses.replace(REVISIT, refers_to_time=1_500_000_000_123_456, is_unmodified=False)]
    batch = tables.revisits_batch(some, file_no=3, first_row=7)

    assert some == tables.revisits_from(batch)
    assert ([3, 3], [7, 8]) == (batch.column("file_no").to_pylist(), batch.column("row_no").to_pylist())


def test_capture_of_a_revisit() -> None:
    """A revisit is a capture of its own URL and time with the payload of its original."""
    original = PAGES[0].capture
    one = Resolved(REVISIT, original.capture_id, original.payload_digest)
    (row,) = tables.revisited_batch([one]).to_pylist()
    (own,) = tables.captures_batch([original]).to_pylist()

    assert (REVISIT.url, REVISIT.timestamp, "revisit", 304) == (
        row["url"],
        microseconds(row["timestamp"].isoformat()),
        row["record_type"],
        row["http_status"],
    )
    assert own["capture_id"] == own["extraction_id"] == row["extraction_id"] != row["capture_id"]
    assert own["payload_digest"] == row["payload_digest"]
    assert "response" == own["record_type"]


def test_when_an_extraction_was_seen() -> None:
    """An extraction that was not revisited was seen once; of others the times are given."""
    some = extracted()[:2]
    first = some[0].page.capture
    again = {first.capture_id: Seen(first=first.timestamp, last=first.timestamp + 7_000_000, revisits=2)}
    rows = tables.extractions_batch(some, [UNKNOWN] * 2, [None] * 2, 4, again).to_pylist()

    assert [2, 0] == [row["revisits"] for row in rows]
    assert [timedelta(seconds=7), timedelta(0)] == [row["last_seen"] - row["first_seen"] for row in rows]
    assert [row["timestamp"] for row in rows] == [row["first_seen"] for row in rows]


def test_schemas_are_nullable_throughout() -> None:
    """Spark writes nullable columns; a schema that promised more would break the files."""
    for schema in (tables.PAGES, tables.REJECTS, tables.FOUND, tables.ANNOTATIONS, tables.EVIDENCE, tables.EXTRACTIONS):
        assert isinstance(schema, pa.Schema)
        assert all(field.nullable for field in schema)


def held_row(capture_id: str, extraction_id: str, at: int, pieces: bytes | None) -> dict[str, Any]:
    signature = None if pieces is None else np.array([at], "<u4").tobytes()
    of_url = {"url_key": "org,example)/", "url": "http://example.org/", "site": "example.org", "template_id": None}
    return {
        **of_url,
        "capture_id": capture_id,
        "extraction_id": extraction_id,
        "timestamp": at,
        "pieces": pieces,
        "signature": signature,
    }


def test_what_captures_hold_comes_with_the_first_of_those_that_share_it() -> None:
    """A revisit of the capture before comes without; a capture whose extraction is nowhere is left out, and who shares
    what an earlier one held does not take the wrong one's."""
    extractions = tables.extractions_batch(extracted()[:2], [UNKNOWN] * 2, [None] * 2, 1)
    a, b = tables.held_batch(7, extractions).column("pieces").to_pylist()
    rows = [
        *(held_row("a", "a", 1, a), held_row("a2", "a", 2, None), held_row("x", "x", 3, None)),
        *(held_row("x2", "x", 4, None), held_row("b", "b", 5, b), held_row("a3", "a", 6, a)),
    ]
    moments = [*tables.moments_from(rows)]
    first, second = (
        page_history.pieces(row["page_text"], row["segments"])
        for row in extractions.select(["page_text", "segments"]).to_pylist()
    )

    assert ["a", "a2", "b", "a3"] == [one.capture_id for one in moments]
    assert [first, first, second, first] == [one.pieces for one in moments]
    assert [[1], [1], [5], [6]] == [one.signature.tolist() for one in moments if one.signature is not None]


def test_steps_changes_and_lives_become_rows() -> None:
    """Each with the captures that it lies between, or the page that it was on."""
    kept, old, new = (page_history.Piece(text=text, label="content", xpath="/p[1]") for text in ("Kept", "Old", "New"))
    of_url: dict[str, Any] = {"url_key": "org,example)/", "url": "http://example.org/", "site": "example.org"}
    line = [
        page_history.Moment(capture_id=name, timestamp=at, pieces=pieces, **of_url)
        for name, at, pieces in (("a", 1, (kept, old)), ("b", 2, (kept, new)))
    ]
    (step,) = page_history.steps(line)
    between = {"capture_id": "b", "before_id": "a", **of_url}
    (row,) = tables.steps_batch(step, is_redesigned=False).to_pylist()
    (change,) = tables.changes_batch(step).to_pylist()
    (life,) = tables.lives_batch(line[-1], page_history.lives(line[0], [step])[:1]).to_pylist()

    assert between | {"replaced": 1, "added": 0, "similarity": None} == {
        name: row[name] for name in (*between, "replaced", "added", "similarity")
    }
    assert between | {"kind": "replaced", "text_before": "Old", "text_after": "New", "xpath_after": "/p[1]"} == {
        name: change[name] for name in (*between, "kind", "text_before", "text_after", "xpath_after")
    }
    assert of_url | {"text": "Kept", "captures": 2, "place": 0, "began": "", "ended": ""} == {
        name: life[name] for name in (*of_url, "text", "captures", "place", "began", "ended")
    }
