"""Archives in zips: which of a WACZ's files are read, what they are called, and what is refused."""

import io
import struct
import zipfile
from collections.abc import Mapping
from hashlib import sha512

import pytest

from dbce_spark.archive.records import Cause, Damage, Limits, Record, records
from tests.support.builders import arc_header, arc_record, at_most, gzipped, record
from tests.support.record_bytes import url

LIMITS = at_most(record_bytes=1 << 20)
WARC = b"".join(gzipped(*(record(url=url(nth)) for nth in range(3))))
SIDE = {"pages/pages.jsonl": b'{"url": "x"}\n', "indexes/index.cdx.gz": gzipped(b"org,example)/ 2020 {}\n")[0]}


def zipped(files: Mapping[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as target:
        for name, content in files.items():
            target.writestr(zipfile.ZipInfo(name), content, how)
    return made.getvalue()


def read(content: bytes, limits: Limits = LIMITS) -> list[Record | Damage]:
    return list(records(io.BytesIO(content), limits))


def places(found: list[Record | Damage]) -> list[tuple[str, str]]:
    return [(one.within, one.url) for one in found if isinstance(one, Record)]


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_of_a_wacz(how: int) -> None:
    """The archives in a zip are read, stored or compressed; records have offsets of their own file, and its name."""
    found = read(zipped({"archive/data.warc.gz": WARC, **SIDE}, how))

    assert [("archive/data.warc.gz", url(nth)) for nth in range(3)] == places(found)
    first, second = (one for one in found[:2])
    assert (0, first.length) == (first.offset, second.offset)


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_account_of_a_wacz(how: int) -> None:
    """The records and damages of each file in a zip are that file; the heads and the directory are counted too."""
    files = {"archive/data.warc.gz": WARC + b"junk", **SIDE}
    content = zipped(files, how)
    found = read(content)
    sums = {name: sum(one.length for one in found if one.within == name) for name in ["", *files]}

    with zipfile.ZipFile(io.BytesIO(content)) as directory:
        stored = sum(entry.compress_size for entry in directory.infolist())
    assert {name: len(one) for name, one in files.items()} | {"": len(content) - stored} == sums


def test_archives_are_known_by_their_bytes() -> None:
    """A name says nothing: an archive without an ending is read, a list of pages is not."""
    arc = arc_header() + arc_record()
    addresses = b"http://www.example.org/ of a page\n"
    lists = {"readme.txt": b"text", "list.txt": addresses, "list.gz": gzipped(addresses)[0]}
    found = read(zipped({"data/one": WARC, "two.bin": arc, **lists, **SIDE}))

    assert {"data/one", "two.bin"} == {name for name, _ in places(found)}
    assert {*lists, *SIDE, ""} == {one.within for one in found if isinstance(one, Damage) and one.cause is Cause.BESIDE}


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "A.WARC.ZST", "a.arc", "a.arc.gz"])
def test_archives_whose_start_is_broken_are_known_by_their_names(name: str) -> None:
    """The bytes of such a start are lost, and named; the records behind them are read."""
    found = read(zipped({name: b"broken" + WARC}))

    assert [(name, url(nth)) for nth in range(3)] == places(found)
    assert [(0, 6)] == [(one.offset, one.length) for one in found if isinstance(one, Damage) and one.cause.is_loss]


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_wacz_in_a_wacz(how: int) -> None:
    """A collection of collections is read to its archives; names are joined by "!/"."""
    inner = zipped({"archive/data.warc.gz": WARC})
    found = read(zipped({"one.wacz": inner, "two.wacz": inner}, how))

    assert {"one.wacz!/archive/data.warc.gz", "two.wacz!/archive/data.warc.gz"} == {name for name, _ in places(found)}
    assert 6 == len(places(found))


def test_nesting_has_an_end() -> None:
    """Behind `depth` zips in zips the next is a file without records."""
    content = WARC
    for _ in range(6):
        content = zipped({"a.wacz": content}, zipfile.ZIP_DEFLATED)
    found = read(content)

    assert [Cause.FOREIGN] == [one.cause for one in found if isinstance(one, Damage) and one.cause.is_loss]


@pytest.mark.parametrize(
    "name", ["../a.warc.gz", "/etc/a.warc.gz", "a/../../b.warc", "..\\a.warc", "\\a.warc", "C:\\a.warc", "a\nb"]
)
def test_names_that_leave_the_zip(name: str) -> None:
    """A file whose name leads out of the zip is refused, and counted; the others are read."""
    found = read(zipped({name: WARC, "archive/data.warc.gz": WARC}))
    refused = [one for one in found if isinstance(one, Damage) and one.cause.is_loss]

    assert 3 == len(places(found))
    assert [(Cause.BROKEN, len(WARC))] == [(one.cause, one.length) for one in refused]


@pytest.mark.parametrize(("name", "shown", "detail"), [("", "?", "it has no name"), ("folder/", "folder/", "")])
def test_bytes_of_what_is_no_file(name: str, shown: str, detail: str) -> None:
    """A file without a name, and a folder that has content, are counted and end nothing."""
    *damages, frame = read(zipped({name: b"more"}))

    assert [(shown, 4, detail)] == [(one.within, one.length, one.detail) for one in damages if isinstance(one, Damage)]
    assert frame.length == len(zipped({name: b"more"})) - 4


def test_bomb_in_a_zip() -> None:
    """A file that inflates beyond the limits is read as far as the limits go."""
    bomb = record(url=url(0)) + record(bytes(40 << 20), url=url(1))
    content = zipped({"a.warc": bomb, "b.warc.gz": WARC}, zipfile.ZIP_DEFLATED)
    found = read(content, at_most(record_bytes=100_000, inflated_bytes=1 << 20, inflated_ratio=10))

    assert [url(0), url(1), *(url(nth) for nth in range(3))] == [address for _, address in places(found)]
    assert [("a.warc", Cause.SWOLLEN, 0)] == [
        (one.within, one.cause, one.length) for one in found if isinstance(one, Damage) and one.cause.is_loss
    ]


def test_the_directory_of_a_zip_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each of its files, whose number it grows with."""
    opened: list[object] = []
    read_directory = zipfile.ZipFile._RealGetContents  # type: ignore[attr-defined]

    def counted(one: zipfile.ZipFile) -> None:
        opened.append(one)
        read_directory(one)

    content = zipped({f"{nth}.warc": record(url=url(nth)) for nth in range(9)}, zipfile.ZIP_BZIP2)
    monkeypatch.setattr(zipfile.ZipFile, "_RealGetContents", counted)

    assert [(f"{nth}.warc", url(nth)) for nth in range(9)] == places(read(content))
    assert 2 == len(opened)  # to list them, and to open them


def test_files_that_share_their_bytes() -> None:
    """A zip whose directory names the same bytes again and again is a bomb of another kind: each is read once."""
    content = bytearray(zipped({"a.warc.gz": WARC, "b.warc.gz": WARC}))
    second = content.rindex(b"PK\x01\x02")
    content[second + 42 : second + 46] = (0).to_bytes(4, "little")
    found = read(bytes(content))

    assert 3 == len(places(found))


def test_a_file_that_is_longer_than_its_zip() -> None:
    """The directory lies of one file: the others are read, and it is named."""
    content = bytearray(zipped({"a.warc.gz": WARC, "b.warc.gz": WARC}))
    second = content.rindex(b"PK\x01\x02")
    content[second + 20 : second + 28] = (10 * len(content)).to_bytes(4, "little") * 2
    found = read(bytes(content))

    assert [("a.warc.gz", url(nth)) for nth in range(3)] == places(found)
    assert [("b.warc.gz", "BadZipFile: it is longer than the zip")] == [
        (one.within, one.detail) for one in found if isinstance(one, Damage) and one.cause.is_loss
    ]


def test_broken_directory() -> None:
    """The stored archives of a WACZ that lost its end are found all the same."""
    content = zipped({"archive/data.warc.gz": WARC, **SIDE})
    cut = content[: content.index(b"PK\x01\x02") + 10]
    found = read(cut)

    assert [("", url(nth)) for nth in range(3)] == places(found)
    assert len(cut) == sum(one.length for one in found)


@pytest.mark.parametrize("junk", [b"\xff" * 20, b"\x55" * 9000], ids=["other bytes", "no deflate"])
def test_broken_file_in_a_zip(junk: bytes) -> None:
    """A deflated file with a damage is read up to it, and says so at its end, where no byte of it is counted twice."""
    many = b"".join(record(sha512(b"%d" % nth).hexdigest().encode(), url=url(nth)) for nth in range(500))
    content = bytearray(zipped({"a.warc": many, "b.warc.gz": WARC}, zipfile.ZIP_DEFLATED))
    content[30_000 : 30_000 + len(junk)] = junk
    found = read(bytes(content))
    *parts, last = (one for one in found if one.within == "a.warc")

    assert ("a.warc", url(0)) == places(found)[0]
    assert 3 == sum(name == "b.warc.gz" for name, _ in places(found))
    assert isinstance(last, Damage)
    assert Damage(sum(one.length for one in parts), 0, Cause.BROKEN, last.detail, 0, "a.warc") == last


@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_file_in_a_zip_that_breaks_at_once(how: int) -> None:
    """Whatever a decompressor raises of one file, the others are read."""
    content = bytearray(zipped({"a.warc": WARC * 9, "b.warc.gz": WARC}, how))
    content[50:90] = b"\xff" * 40
    found = read(bytes(content))

    assert 3 == sum(name == "b.warc.gz" for name, _ in places(found))
    assert [("a.warc", Cause.BROKEN)] == [
        (one.within, one.cause) for one in found if isinstance(one, Damage) and one.cause.is_loss
    ]


def test_directory_that_claims_too_much() -> None:
    """A zip of more files than allowed is not taken apart."""
    content = zipped({f"{nth}.txt": b"" for nth in range(50)})
    (found,) = read(content, at_most(record_bytes=1, zip_files=20))

    assert isinstance(found, Damage)
    assert (Cause.FOREIGN, len(content)) == (found.cause, found.length)


@pytest.mark.parametrize(("allowed", "is_read"), [(4, True), (3, False)])
def test_directory_of_a_large_zip(allowed: int, is_read: bool) -> None:
    """Its files are counted where the format for large ones has their number."""
    content = zipped({"a.warc.gz": WARC, **SIDE, "b.txt": b""})
    end, start = content.rindex(b"PK\x05\x06"), content.index(b"PK\x01\x02")
    large = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 4, 4, end - start, start)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1)
    small = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    found = read(content[:end] + large + locator + small, at_most(record_bytes=1 << 20, zip_files=allowed))

    assert is_read is (("a.warc.gz", url(0)) in places(found))


def test_directory_that_is_larger_than_its_end_says() -> None:
    """zipfile reads what the record for large ones names, so that is what counts, too."""
    content = zipped({f"{nth}.txt": b"" for nth in range(50)})
    end, start = content.rindex(b"PK\x05\x06"), content.index(b"PK\x01\x02")
    large = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 50, 50, end - start, start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    small = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 46, start, 0)
    content = content[:end] + large + locator + small

    assert 50 == len(zipfile.ZipFile(io.BytesIO(content)).namelist())
    assert [Cause.FOREIGN] == [one.cause for one in read(content, at_most(zip_files=20)) if isinstance(one, Damage)]


@pytest.mark.parametrize("files", [SIDE, {"a.txt": b"", "folder/": b""}])
def test_zip_without_an_archive(files: dict[str, bytes]) -> None:
    """It is a foreign file, as any other one without a record."""
    losses = [one for one in read(zipped(files)) if isinstance(one, Damage) and one.cause.is_loss]

    assert [("", Cause.FOREIGN, "a zip without an archive in it")] == [(o.within, o.cause, o.detail) for o in losses]


def test_an_encrypted_archive_is_a_named_damage() -> None:
    """Nobody can read it without its key; its bytes are counted as lost."""
    content = bytearray(zipped({"archive/data.warc.gz": WARC}))
    for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + flags] |= 1
    found = [one for one in read(bytes(content)) if one.within]

    assert [("archive/data.warc.gz", len(WARC), "it is encrypted", True)] == [
        (one.within, one.length, one.detail, one.cause.is_loss) for one in found if isinstance(one, Damage)
    ]
    assert [] == places(found)
