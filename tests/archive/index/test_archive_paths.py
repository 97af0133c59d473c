"""File names of an index cannot lead out of its folder."""

import posixpath
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index.archive_paths import UnsafePath, folder_of, locate
from dbce_spark.archive.index.capture_filter import FilterCounts
from tests.support.indexes import cdx_line, entry, faults_in, found_in, write_lines

LEADING_OUT = [
    "/etc/passwd",
    "../a.warc",
    "a/../../b.warc",
    "..",
    "..\\a.warc",
    "C:\\a.warc",
    "C:a.warc",
    "\\\\server\\a.warc",
    "~/a.warc",
    "file:///etc/passwd",
    "s3://other/a.warc",
    "a.warc::file:///etc/passwd",
    "filecache::a.warc",
    "%2e%2e/a.warc",
    "%252e%252e/a.warc",
    "a%2f..%2f..%2fb",
    "a.warc\n",
    "a\0.warc",
    "",
]


@pytest.mark.parametrize("base", ["/crawl", "crawl", ".", "s3://bucket/crawl", "https://www.example.org/crawl/"])
@pytest.mark.parametrize("filename", LEADING_OUT)
def test_name_that_leads_out(base: str, filename: str) -> None:
    """Steps upwards, absolute names and URLs are refused, for any kind of base."""
    with pytest.raises(UnsafePath):
        locate(filename, base)


@pytest.mark.parametrize(
    ("base", "filename", "expected"),
    [
        ("/crawl", "a.warc.gz", "/crawl/a.warc.gz"),
        ("/crawl/", "warc/a..b.warc.gz", "/crawl/warc/a..b.warc.gz"),
        ("/", "a.warc", "/a.warc"),
        (".", "a.warc", "a.warc"),
        ("/crawl", "/crawl/warc/a.warc", "/crawl/warc/a.warc"),
        ("s3://bucket", "crawl-data/a.warc.gz", "s3://bucket/crawl-data/a.warc.gz"),
        ("s3://bucket", "s3://bucket/crawl-data/a.warc.gz", "s3://bucket/crawl-data/a.warc.gz"),
        ("https://www.example.org", "a b?c#d.warc", "https://www.example.org/a%20b%3Fc%23d.warc"),
        ("https://www.example.org", "ab:1~2.warc", "https://www.example.org/ab:1~2.warc"),
    ],
)
def test_name_below_the_base(base: str, filename: str, expected: str) -> None:
    """A name is joined to its base; one that is written in full must lie below it."""
    assert expected == locate(filename, base)


@given(
    st.lists(st.sampled_from(["..", ".", "a", "/", "\\", "%2e", "%2E", "%2f", "%25", ":", "b.warc", "~"]), max_size=8)
)
def test_no_name_leads_out(parts: list[str]) -> None:
    """Whatever a name is made of, it is refused or lies below the base, percent-encoding undone or not."""
    name = "".join(parts)
    try:
        path = locate(name, "/crawl")
    except UnsafePath:
        return
    for written in (path, unquote(path), unquote(unquote(path))):
        assert posixpath.normpath(written.replace("\\", "/")).startswith("/crawl")


def test_unsafe_line_is_a_fault(tmp_path: Path) -> None:
    """It is a fault with its line, and counted as nothing else."""
    lines = [cdx_line(entry(filename=name)) for name in ("a.warc.gz", "../b.warc.gz", "/c.warc.gz")]
    path = write_lines(tmp_path / "a.cdx", lines)
    counts = FilterCounts()
    found_in(path, counts=counts)

    assert [(2, "unsafe_path"), (3, "unsafe_path")] == faults_in(path)
    assert (3, 1, {"unsafe_path": 2}) == (counts.read, counts.selected, counts.faults)


@pytest.mark.parametrize(
    ("path", "expected"), [("/a/b.cdx", "/a"), ("b.cdx", "."), ("/b.cdx", "/"), ("s3://bucket/b.cdx", "s3://bucket")]
)
def test_folder(path: str, expected: str) -> None:
    """The folder of an index."""
    assert expected == folder_of(path)
