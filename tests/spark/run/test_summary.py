"""The summary that ends a run: figures of run.json, for a person."""

from typing import Any

import pytest

from dbce_spark.spark.run import summary

REPORT: dict[str, Any] = {
    "seconds": {"start": 1.0, "pages": 22.26},
    "records_read": 1234,
    "files": 3,
    "extractions": 1000,
    "crossed": 900,
    "single": 100,
    "revisits": 4,
    "rejects": {"no_text": 1, "not_html": 3, "bad_http": 1},
    "skipped": {},
    "largest_bucket": 7,
    "capped_buckets": 3,
    "pages_per_second_per_core": 2.5,
    "cores": 2,
}
_ONES = ["in 1 file", "1 bucket cut", "on 1 core,"]
LINES = """
records              1,234  in 3 files
extractions          1,000  900 crossed, 100 single
revisits                 4  captures more that share an extraction
rejects                  5
  not_html                           3
  bad_http                           1
  no_text                            1
skipped                  0
largest bucket           7  captures; 3 buckets cut into chunks
seconds               23.3  start 1.0 s, pages 22.3 s
speed                  2.5  pages/s/core on 2 cores, start aside
output          /o"""


def test_a_person_reads_what_a_run_did() -> None:
    """A line for each figure; reasons with the most frequent first."""
    assert LINES == summary.text(REPORT, "/o")


def test_one_of_a_thing_is_no_plural() -> None:
    """One file, one bucket, one core."""
    text = summary.text({**REPORT, "files": 1, "capped_buckets": 1, "cores": 1}, "/o")

    assert _ONES == [part for part in _ONES if part in text]


def test_of_an_increment_counts_of_all_that_is_written_are_called_that() -> None:
    """Crossed and single are those of earlier captures, too, and add up to more than the extractions before them."""
    lines = summary.text({**REPORT, "relabelled": 250, "crossed": 1150}, "/o").splitlines()

    assert (
        "extractions          1,000  and 250 of earlier captures labelled again; together 1,150 crossed, 100 single"
    ) == lines[2]


def test_of_formats_the_share_of_rows_that_have_them_is_shown() -> None:
    """Of all that the run wrote, rows of earlier captures too."""
    lines = summary.text({**REPORT, "relabelled": 250, "formats": {"markdown": 1250, "about": 1000}}, "/o").splitlines()

    assert [
        "  markdown                       1,250  100.0%",
        "  about                          1,000  80.0%",
    ] == lines[3:5]


def test_extractions_whose_record_is_cut_or_damaged_are_counted() -> None:
    """A line for each flag that some have, beneath the extractions."""
    lines = summary.text({**REPORT, "flags": {"truncated": 1200, "damaged": 1}}, "/o").splitlines()

    assert [
        "  flag truncated                 1,200  words may be missing: the record, or its body, is cut",
        "  flag damaged                       1  words may be wrong: the record fails its check",
    ] == lines[3:5]


def test_of_an_index_the_lines_are_counted_first() -> None:
    """Lines that were read, lines that were selected, and the filters that others did not pass."""
    selection = {"read": 9, "selected": 5, "duplicate": 2, "skipped": {"mime": 1, "status": 3}}
    selection |= {"undeclared": {"language": 4}}
    lines = summary.text({**REPORT, "selection": selection}, "/o").splitlines()

    assert [
        "index lines              9  5 selected, 2 of them twice",
        "  mime                               1",
        "  status                             3",
        "  selected without language           4",
    ] == lines[1:5]
    assert LINES.splitlines()[1:] == lines[5:]


def test_a_selection_that_leaves_nothing_is_called_that() -> None:
    """The filters are named that records, and lines of an index, did not pass; what [input] left out is not."""
    nothing = {**REPORT, "extractions": 0, "revisits": 0, "rejects": {}, "skipped": {"select:domain": 1226, "mime": 3}}
    of_index = {"read": 9, "selected": 0, "duplicate": 0, "skipped": {"select:status": 9}}

    assert "no extraction: the selection left out select:domain 1,226, select:status 9; docs/selection.md has what" in (
        summary.text({**nothing, "selection": of_index}, "/o")
    )
    assert "no extraction:" not in summary.text({**nothing, "skipped": {"mime": 3}}, "/o")
    assert "no extraction:" not in summary.text({**nothing, "revisits": 1}, "/o")


@pytest.mark.parametrize("kind", ["conversion:text", "type:metadata"])
def test_why_an_archive_of_texts_or_metadata_gives_nothing_is_said(kind: str) -> None:
    """WET and WAT files hold no pages; where there is a page or a reject, other lines say what became of them."""
    nothing = {**REPORT, "extractions": 0, "revisits": 0, "rejects": {}, "skipped": {kind: 9, "type:warcinfo": 1}}
    said = "no extraction: no record is a page; WET and WAT files hold texts and metadata of pages: give the WARC files"

    assert said in summary.text(nothing, "/o")
    assert "no extraction:" not in summary.text({**nothing, "rejects": {"bad_http": 1}}, "/o")
    assert "no extraction:" not in summary.text({**nothing, "skipped": {kind: 9, "mime": 1}}, "/o")
    assert "no extraction:" not in summary.text({**nothing, "extractions": 1}, "/o")


def test_rejects_of_what_was_selected_come_before_what_was_not() -> None:
    """They are the cause then: the selection left some records."""
    nothing = {**REPORT, "extractions": 0, "revisits": 0, "rejects": {"fetch_failed": 8, "bad_http": 9}}
    of_index = {"read": 209, "selected": 17, "duplicate": 0, "skipped": {"select:mime": 192}}

    assert (
        "no extraction: all that was selected was rejected, bad_http 9, fetch_failed 8, as rejects has it; the"
        " selection left out select:mime 192; docs/selection.md has what each filter fits"
    ) in summary.text({**nothing, "selection": of_index}, "/o").splitlines()


def test_revisits_that_an_increment_takes_up_are_among_its_records() -> None:
    """Without them the outcomes are more than the records."""
    lines = summary.text({**REPORT, "revisits_taken_up": 2}, "/o").splitlines()

    assert "records              1,234  in 3 files; and 2 revisits of earlier crawls, looked up again" == lines[1]
