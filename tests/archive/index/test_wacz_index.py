"""The index inside a WACZ, and the records it points at, stored or deflated."""

import zipfile
from pathlib import Path

import pytest

from dbce_spark.archive.index.byte_ranges import group_by_file
from dbce_spark.archive.index.fetch import Fetched, Unfetched, fetch
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.range_reader import open_ranges
from dbce_spark.archive.index.wacz_index import find_stored
from tests.support.builders import gzipped, record
from tests.support.indexes import FETCH, cdxj_line, entry, faults_in, found_in, write_wacz
from tests.support.range_server import served

MEMBERS = gzipped(*(record(url=f"http://www.example.org/{nth}") for nth in range(4)))
FILE = b"".join(MEMBERS)
STARTS = [sum(map(len, MEMBERS[:nth])) for nth in range(4)]
LINES = [
    cdxj_line(entry(urlkey=f"org,example)/{nth}", offset=start, length=len(member), filename="data.warc.gz"))
    for nth, (start, member) in enumerate(zip(STARTS, MEMBERS, strict=True))
]


def fetched(path: str) -> list[bytes]:
    """Fetch the records that the index of a WACZ points at."""
    files, _ = group_by_file(one for one in found_in(path) if isinstance(one, IndexEntry))
    return [
        one.data
        for inner, some in files.items()
        for one in fetch(inner, some, FETCH, 1 << 20)
        if isinstance(one, Fetched)
    ]


def test_directory_that_points_behind_the_end(tmp_path: Path) -> None:
    """It is damage, not a storage that fails for a while: it is not read again."""
    path = write_wacz(tmp_path / "a.wacz", FILE, LINES)
    content = bytearray(Path(path).read_bytes())
    at = content.index(b"PK\x01\x02")
    while b"data.warc.gz" not in content[at : at + 80]:
        at = content.index(b"PK\x01\x02", at + 1)
    content[at + 42 : at + 46] = (1 << 30).to_bytes(4, "little")
    Path(path).write_bytes(content)
    (found,) = fetch(f"{path}!/archive/data.warc.gz", [entry(offset=0, length=9)], FETCH, 1 << 20)

    assert isinstance(found, Unfetched)
    assert "attempts" not in found.detail


@pytest.mark.parametrize(
    ("at", "written"),
    [(6, b"\x63"), (46, b"\xff")],
    ids=["version-9.9", "name-not-utf-8"],
)
def test_directory_that_zipfile_refuses(tmp_path: Path, at: int, written: bytes) -> None:
    """It is a fault of the index, whatever error `zipfile` has for it, and ends no job."""
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("\xe4.txt", "")
    content = bytearray(path.read_bytes())
    entry_at = content.index(b"PK\x01\x02") + at
    content[entry_at : entry_at + 1] = written
    path.write_bytes(content)

    assert [(0, "index_unreadable")] == faults_in(str(path))


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_records_of_a_wacz(tmp_path: Path, compression: int) -> None:
    """Each record comes by itself, whether its archive was stored, as the format wants, or deflated."""
    path = write_wacz(tmp_path / "a.wacz", FILE, LINES, compression)

    assert MEMBERS == fetched(path)
    assert [f"{path}!/archive/data.warc.gz"] * 4 == [one.path for one in found_in(path)]


def test_wacz_in_a_wacz(tmp_path: Path) -> None:
    """Paths are written one inside the other, and lead to the records."""
    inner = Path(write_wacz(tmp_path / "inner.wacz", FILE, LINES))
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as outer:
        outer.write(inner, "inner.wacz")
    path = f"{tmp_path}/outer.zip!/inner.wacz!/archive/data.warc.gz"
    wanted = [entry(offset=start, length=len(member)) for start, member in zip(STARTS, MEMBERS, strict=True)]
    actual = [one.data for one in fetch(path, wanted, FETCH, 1 << 20) if isinstance(one, Fetched)]

    assert MEMBERS == actual


def test_wacz_on_a_server(tmp_path: Path) -> None:
    """Index and records are read by ranges; the archive between them is not."""
    padding = bytes(5_000_000)
    path = Path(write_wacz(tmp_path / "a.wacz", FILE + padding, LINES))
    with served(a__wacz=path.read_bytes()) as site:
        actual = fetched(f"{site.url}/a.wacz")
        sent = sum(min(last, path.stat().st_size) + 1 - first for _, first, last in site.asked)

    assert MEMBERS == actual
    assert sent < len(padding)


def test_place_of_a_stored_member(tmp_path: Path) -> None:
    """The bytes of a stored archive are bytes of the WACZ."""
    path = write_wacz(tmp_path / "a.wacz", FILE, LINES)
    place = find_stored(f"{path}!/archive/data.warc.gz", lambda outer: open_ranges(outer, FETCH))

    assert place is not None
    assert FILE == Path(path).read_bytes()[place.offset : place.offset + place.size]


def test_head_of_a_stored_member_that_is_broken(tmp_path: Path) -> None:
    """Its bytes are not looked for where whatever stands in its place says."""
    path = Path(write_wacz(tmp_path / "a.wacz", FILE, LINES))
    content = bytearray(path.read_bytes())
    at = content.index(b"archive/data.warc.gz") - 30
    content[at : at + 2] = b"XX"
    path.write_bytes(content)

    with pytest.raises(zipfile.BadZipFile, match=f"no file begins at {at}"):
        find_stored(f"{path}!/archive/data.warc.gz", lambda outer: open_ranges(outer, FETCH))


def test_range_does_not_leave_its_member(tmp_path: Path) -> None:
    """Behind the end of an archive there is nothing, though the WACZ goes on."""
    path = write_wacz(tmp_path / "a.wacz", FILE, LINES)
    wanted = [entry(offset=len(FILE) - 5, length=100), entry(offset=len(FILE), length=10)]
    found = list(fetch(f"{path}!/archive/data.warc.gz", wanted, FETCH, 1 << 20))

    assert [FILE[-5:]] == [one.data for one in found if isinstance(one, Fetched)]


def test_index_that_names_a_missing_archive(tmp_path: Path) -> None:
    """The records are faults, by the name of the archive."""
    path = write_wacz(tmp_path / "a.wacz", FILE, [line.replace("data.warc.gz", "none.warc.gz") for line in LINES])
    (inner,) = {one.path for one in found_in(path)}
    found = list(fetch(inner, [entry()], FETCH, 1 << 20))

    assert ["FileNotFoundError"] == [getattr(one, "detail", "").partition(":")[0] for one in found]


@pytest.mark.parametrize("name", ["../data.warc.gz", "/data.warc.gz", "..!/data.warc.gz"])
def test_index_that_leads_out(tmp_path: Path, name: str) -> None:
    """A WACZ names its own archives only."""
    path = write_wacz(tmp_path / "a.wacz", FILE, [LINES[0].replace("data.warc.gz", name)])

    assert ["unsafe_path"] == [fault for _, fault in faults_in(path)]


def test_zip_that_is_broken(tmp_path: Path) -> None:
    """Half a WACZ is a fault, and no exception."""
    path = Path(write_wacz(tmp_path / "a.wacz", FILE, LINES))
    path.write_bytes(path.read_bytes()[:200])

    assert [(0, "index_unreadable")] == faults_in(str(path))


def test_index_in_a_wacz_that_is_none(tmp_path: Path) -> None:
    """The fault names its path in the WACZ."""
    path = write_wacz(tmp_path / "a.wacz", FILE, ["<html>"])

    assert [(0, "not_an_index")] == faults_in(path)
