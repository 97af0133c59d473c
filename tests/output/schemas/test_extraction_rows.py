"""Extractions as rows; their segments back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.kept.kept_formats import Formats
from dbce_spark.html.language import UNKNOWN, Language
from dbce_spark.html.tokens import hashed
from dbce_spark.model import Extraction, Seen, Segments
from dbce_spark.output.schemas import extraction_rows, segment_rows
from tests.support.sample_rows import PAGES, extracted, plain


def segments_rows(extraction: Extraction) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        extraction_rows.extractions_batch([extraction], [UNKNOWN], [Formats()], 4).column("segments")[0].as_py()
    )
    return rows


def test_extractions_have_the_schema() -> None:
    """A batch of extractions fits the table's schema and holds no null where there is a value."""
    some = extracted()
    batch = extraction_rows.extractions_batch(some, [UNKNOWN] * len(some), [Formats()] * len(some), 4)
    batch.validate(full=True)
    nulls = [name for name, column in zip(batch.schema.names, batch.columns, strict=True) if column.null_count]

    assert extraction_rows.EXTRACTIONS == batch.schema
    assert nulls == [
        *(
            "published",
            "modified",
            "canonical_url",
            "confidence",
            "page_type",
            "annotated_html",
            "markdown",
            "html",
            "about",
        ),
    ]


def test_extraction_row() -> None:
    """Texts and counts of a row are those of its page."""
    some = [replace(one, confidence=0.25, page_type="form") for one in extracted()]
    rows = extraction_rows.extractions_batch(
        some, [Language("en", 0.5)] * len(some), [Formats(html="<p>")] * len(some), 4
    ).to_pylist()
    for one, row in zip(some, rows, strict=True):
        assert (one.text, one.status, "<p>") == (row["text"], row["status"], row["html"])
        assert (0.25, "form") == (row["confidence"], row["page_type"])
        assert (one.page.blocks.text, len(one.page.blocks)) == (row["page_text"], row["blocks"])
        assert (len(one.page.blocks.tokens), one.page.capture.timestamp) == (
            row["words"],
            (row["timestamp"] - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1),
        )
        assert row["site_part"] == extraction_rows.site_part(one.page.capture.site, 4)


def test_text_words_are_those_of_the_main_text() -> None:
    """A row counts the words of the page, and those that are kept of it."""
    some = extracted()
    rows = extraction_rows.extractions_batch(some, [UNKNOWN] * len(some), [Formats()] * len(some), 4).to_pylist()

    assert [len(hashed(one.text)[1]) for one in some] == [row["text_words"] for row in rows]


def test_segment_rows_belong_to_their_page() -> None:
    """Rows of many pages in one batch: each segment with the path of its own page's block."""
    some = extracted()
    rows = (
        extraction_rows.extractions_batch(some, [UNKNOWN] * len(some), [Formats()] * len(some), 4)
        .column("segments")
        .to_pylist()
    )
    expected = [[one.page.blocks.xpaths[block] for block in one.segments.blocks] for one in some]
    actual = [[segment["xpath"] for segment in segments] for segments in rows]

    assert expected == actual


def test_crosses_rows() -> None:
    """A row's crosses are its own, in order of their ids."""
    some = extracted()
    rows = (
        extraction_rows.extractions_batch(some, [UNKNOWN] * len(some), [Formats()] * len(some), 4)
        .column("crosses")
        .to_pylist()
    )

    assert [[made.cross_id for made in one.crosses] for one in some] == [
        [made["cross_id"] for made in row] for row in rows
    ]


@pytest.mark.parametrize("at", range(len(PAGES)))
def test_segments_come_back(at: int) -> None:
    """The segments column gives the segments."""
    one = extracted()[at]
    actual = segment_rows.segments_from(segments_rows(one))

    assert plain(one.segments) == plain(actual)


def test_segments_of_nothing() -> None:
    """No rows, no segments, and columns of their types."""
    made = segment_rows.segments_from([])

    assert len(made) == 0
    assert {name: getattr(made, name).dtype for name in Segments.__dataclass_fields__} == {
        name: getattr(extracted()[0].segments, name).dtype for name in Segments.__dataclass_fields__
    }


@given(st.text(max_size=20), st.integers(1, 100))
def test_site_part_lies_within_the_parts(site: str, parts: int) -> None:
    """Every site has one partition of those there are."""
    assert 0 <= extraction_rows.site_part(site, parts) < parts


def test_when_an_extraction_was_seen() -> None:
    """An extraction that was not revisited was seen once; of others the times are given."""
    some = extracted()[:2]
    first = some[0].page.capture
    again = {first.capture_id: Seen(first=first.timestamp, last=first.timestamp + 7_000_000, revisits=2)}
    rows = extraction_rows.extractions_batch(some, [UNKNOWN] * 2, [Formats()] * 2, 4, again).to_pylist()

    assert [2, 0] == [row["revisits"] for row in rows]
    assert [timedelta(seconds=7), timedelta(0)] == [row["last_seen"] - row["first_seen"] for row in rows]
    assert [row["timestamp"] for row in rows] == [row["first_seen"] for row in rows]
