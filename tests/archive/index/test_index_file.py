"""Indexes are recognised by their content."""

import gzip
import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index.capture_filter import FilterCounts
from dbce_spark.archive.index.index_file import Kind, kind_of
from tests.support.indexes import (
    cdx_line,
    cdxj_line,
    entry,
    faults_in,
    found_in,
    offsets_in,
    write_lines,
    write_parquet,
    write_wacz,
)
from tests.support.range_server import served

TEXTS = {
    "legend": (" CDX N b a m s k r M S V g\n", Kind.CDX),
    "legend with tabs": ("\tCDX\tN\tb\ta\tV\tg\n", Kind.CDX),
    "eleven fields": (cdx_line(entry()), Kind.CDX),
    "nine fields": (cdx_line(entry(), "N b a m s k r V g"), Kind.CDX),
    "CDXJ": (cdxj_line(entry()), Kind.CDXJ),
    "CDXJ behind its head": ('!meta 0 {"a": 1}\n\n' + cdxj_line(entry()), Kind.CDXJ),
    "CDXJ of an object alone": ('{"urlkey": "a", "timestamp": "2020", "filename": "a", "offset": 1}', Kind.CDXJ),
    "cluster": ("org,a)/ 2020\tcdx-00000.gz\t0\t100\t1", Kind.ZIPNUM),
    "index of a WACZ": ('!meta 0 {"filename": "a"}\norg,a)/ 2020 {"offset": 0, "length": 194}', Kind.ZIPNUM),
    "WARC": ("WARC/1.0\r\nWARC-Type: response\r\n", None),
    "ARC": ("filedesc://a.arc 0.0.0.0 20080430204825 text/plain 73\n1 0 InternetArchive\n", None),
    "HTML": ("<!doctype html>", None),
    "nothing": ("", None),
    "blanks": ("\n\n", None),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", TEXTS)
def test_kind(name: str, packed: bool) -> None:
    """By its first lines, gzip or not."""
    text, expected = TEXTS[name]
    data = gzip.compress(text.encode()) if packed else text.encode()

    assert expected == kind_of(io.BytesIO(data))


@pytest.mark.parametrize("name", ["a.warc.gz", "a.parquet", "a.cdx", "a"])
def test_names_say_nothing(tmp_path: Path, name: str) -> None:
    """Whatever a file is called, it is read as what it is."""
    path = tmp_path / name
    written = [
        write_lines(path, [cdxj_line(entry())]),
        gzip.compress((cdxj_line(entry()) + "\n").encode()),
        Path(write_parquet(tmp_path / "other", [entry()])).read_bytes(),
        Path(write_wacz(tmp_path / "other", b"", [cdxj_line(entry())])).read_bytes(),
    ]
    for one in written:
        if isinstance(one, bytes):
            path.write_bytes(one)
        assert [100] == offsets_in(str(path))


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", []), (b"<html>", [(0, "not_an_index")]), (b"\x1f\x8b\x08broken", [(0, "not_an_index")])],
)
def test_file_that_is_no_index(tmp_path: Path, data: bytes, expected: list[tuple[int, str]]) -> None:
    """It is one fault; an empty file is none."""
    path = tmp_path / "a.cdx"
    path.write_bytes(data)

    assert expected == faults_in(str(path))


def test_long_file_names_are_not_remembered(tmp_path: Path) -> None:
    """Lines may hold a megabyte of them."""
    lines = [cdxj_line(entry()), *(cdxj_line(entry(filename=str(nth).rjust(500_000, "a"))) for nth in range(20))]
    path = write_lines(tmp_path / "a.cdxj", lines)
    tracemalloc.start()
    found = len(offsets_in(path))
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    assert 21 == found
    assert held < 5 << 20


def test_file_that_is_not_there(tmp_path: Path) -> None:
    """It is a fault, and the other indexes are read."""
    good = write_lines(tmp_path / "a", [cdxj_line(entry())])
    paths = [str(tmp_path / "none.cdx"), "nosuch://index", good]

    assert [(0, "index_unreadable")] * 2 == faults_in(*paths)
    assert [100] == offsets_in(*paths)


def test_index_on_a_server() -> None:
    """Lines and archives come from where the index lies, with patience."""
    with served(index__cdxj=(cdxj_line(entry()) + "\n").encode()) as site:
        site.troubles = ["reset", "status 503"]
        (found,) = found_in(f"{site.url}/index.cdxj")

        assert f"{site.url}/a.warc.gz" == found.path


@given(
    data=st.binary(max_size=300),
    magic=st.sampled_from([b"", b" CDX N b a g V\n", b"\x1f\x8b\x08", b"PAR1", b"PK\x03\x04", b"a 2020 {"]),
)
def test_nothing_ends_a_job(tmp_path_factory: pytest.TempPathFactory, data: bytes, magic: bytes) -> None:
    """Any bytes are read to their end, and each line is counted: as selected, skipped or a fault."""
    path = tmp_path_factory.getbasetemp() / "any.cdx"
    path.write_bytes(magic + data)
    counts = FilterCounts()
    found_in(str(path), counts=counts, statuses=(200,))

    assert counts.read == counts.selected + counts.skipped.total() + counts.faults.total()
