"""Revisits as rows, and back."""

import dataclasses

from dbce_spark.archive.revisits import Resolved
from dbce_spark.model import Revisit
from dbce_spark.output.schemas import capture_rows, revisit_rows
from tests.support.builders import microseconds
from tests.support.sample_rows import PAGES

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
    batch = revisit_rows.revisits_batch(some, file_no=3, first_row=7)

    assert some == revisit_rows.revisits_from(batch)
    assert ([3, 3], [7, 8]) == (batch.column("file_no").to_pylist(), batch.column("row_no").to_pylist())


def test_capture_of_a_revisit() -> None:
    """A revisit is a capture of its own URL and time with the payload of its original."""
    original = PAGES[0].capture
    one = Resolved(REVISIT, original.capture_id, original.payload_digest)
    (row,) = capture_rows.revisited_batch([one]).to_pylist()
    (own,) = capture_rows.captures_batch([original]).to_pylist()

    assert (REVISIT.url, REVISIT.timestamp, "revisit", 304) == (
        row["url"],
        microseconds(row["timestamp"].isoformat()),
        row["record_type"],
        row["http_status"],
    )
    assert own["capture_id"] == own["extraction_id"] == row["extraction_id"] != row["capture_id"]
    assert own["payload_digest"] == row["payload_digest"]
    assert "response" == own["record_type"]
