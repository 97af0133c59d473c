"""Captures by an index are those that reading whole files gives; without one, records pass the filters that index lines
do."""

import gzip
import subprocess
import sys
from dataclasses import replace
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive import indexed_records
from dbce_spark.archive.index.byte_ranges import group_by_file
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.warc import Fetch
from dbce_spark.dbce.pages import fetches
from dbce_spark.errors import ConfigError
from tests.support.builders import arc_header, arc_record, archive, config, gzipped, http, outcome_of, record
from tests.support.indexes import cdxj_line, entry, write_wacz
from tests.support.record_bytes import url

QUICK = ("fetch.first_wait_seconds=0.001", "fetch.attempts=2")


def entries(path: str | Path, stored: list[bytes], **fields: Any) -> list[IndexEntry]:
    """List the index entries of the records that a file has, one behind the other."""
    ends = [sum(map(len, stored[: nth + 1])) for nth in range(len(stored))]
    known = {"timestamp": 1_577_934_245_000_000, "path": str(path), "filename": Path(path).name} | fields
    return [
        entry(**({"url": url(nth), "offset": end - len(one), "length": len(one)} | known))
        for nth, (end, one) in enumerate(zip(ends, stored, strict=True))
    ]


def outcomes_at(some: list[IndexEntry], *settings: str) -> list[str]:
    return [outcome_of(one) for one in indexed_records.read(some, config(*QUICK, *settings))]


def captures(found: Any) -> list[tuple[Any, bytes]]:
    return [(one.capture, one.html) for one in found if isinstance(one, Fetch)]


@given(st.sampled_from(["plain", "gz", "arc", "arc.gz"]), st.sets(st.integers(0, 5)))
def test_some_records_by_index_are_as_in_the_whole_file(
    tmp_path_factory: pytest.TempPathFactory, kind: str, wanted: set[int]
) -> None:
    """Captures have the same place, length, id and bytes, whatever else is read."""
    make = arc_record if kind.startswith("arc") else record
    plain = [make(http(f"<p>Page {nth}</p>"), url=url(nth)) for nth in range(6)]
    plain = [arc_header(), *plain] if kind.startswith("arc") else plain
    stored = gzipped(*plain) if kind.endswith("gz") else plain
    path = archive(tmp_path_factory.mktemp("a") / "a", *stored)
    named = entries(path, stored)[len(stored) - 6 :]
    whole = captures(fetches(path, config()))

    assert [whole[nth] for nth in sorted(wanted)] == captures(
        indexed_records.read([named[nth] for nth in sorted(wanted)], config())
    )


def test_record_of_a_zstd_file_with_a_dictionary(tmp_path: Path) -> None:
    """Its offset is that in the file, though it is read behind the dictionary."""
    plain = [record(http(f"<p>Page {nth} of some</p>" * 20), url=url(nth)) for nth in range(9)]
    trained = zstandard.train_dictionary(1024, [*plain] * 20)
    raw = trained.as_bytes()
    head = b"\x5d\x2a\x4d\x18" + len(raw).to_bytes(4, "little") + raw
    stored = [head, *(zstandard.ZstdCompressor(dict_data=trained).compress(one) for one in plain)]
    path = archive(tmp_path / "a.warc.zst", *stored)
    whole = captures(fetches(path, config()))

    assert whole[4:6] == captures(indexed_records.read(entries(path, stored)[5:7], config()))


def test_record_of_a_wacz(tmp_path: Path) -> None:
    """A file in a WACZ has one name, by index or not."""
    stored = gzipped(*(record(http(f"<p>Page {nth}</p>"), url=url(nth)) for nth in range(3)))
    named = entries("data.warc.gz", stored)
    path = write_wacz(tmp_path / "a.wacz", b"".join(stored), [cdxj_line(one) for one in named])
    inside = [replace(one, path=f"{path}!/archive/data.warc.gz") for one in named]
    whole = captures(fetches(path, config()))

    assert [f"{path}!/archive/data.warc.gz"] * 3 == [capture.warc_file for capture, _ in whole]
    assert whole == captures(indexed_records.read(inside, config()))


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ({}, [url(1)]),
        ({"offset": 3}, ["reject:broken_record"]),
        ({"offset": 10_000}, ["reject:fetch_failed"]),
        ({"length": 70_000_000}, ["reject:too_large"]),
        ({"path": "/nowhere/a.warc.gz"}, ["reject:fetch_failed"]),
        ({"length": 20}, ["reject:broken_record"]),
    ],
)
def test_place_that_holds_no_record(tmp_path: Path, place: dict[str, Any], expected: list[str]) -> None:
    """It is a reject with its reason; nothing is lost silently."""
    stored = gzipped(record(url=url(1)))
    path = archive(tmp_path / "a.warc.gz", *stored)
    (one,) = entries(path, stored)

    assert expected == outcomes_at([replace(one, **place)])


def test_place_with_nothing_but_blanks(tmp_path: Path) -> None:
    """Bytes that are no loss are one here: an index says that a record is there."""
    path = archive(tmp_path / "a.warc", record(), b"\r\n" * 20)

    assert ["reject:broken_record"] == outcomes_at([entry(path=path, offset=len(record()), length=40)])


def test_place_with_several_records(tmp_path: Path) -> None:
    """All records of one member are read; the index's fields are those of the first."""
    stored = [gzip.compress(record(url=url(0)) + record(url=url(1)) + record(url="http://www.example.com/"))]
    path = archive(tmp_path / "a.warc.gz", *stored)

    assert [url(0), url(1), "skip:select:domain"] == outcomes_at(
        entries(path, stored), 'select.domains=["example.org"]'
    )


@pytest.mark.parametrize(
    ("declared", "settings", "expected"),
    [
        ({"status": 0}, ["select.statuses=[404]"], "skip:select:status"),
        ({"status": 0}, ["select.statuses=[200]"], url(0)),
        ({"mime": ""}, ['select.mimes=["text/plain"]'], "skip:select:mime"),
        ({"mime": ""}, ['select.mimes=["text/*"]'], url(0)),
        ({"digest": ""}, ['select.digests=["sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]'], "skip:select:digest"),
        ({"mime": "", "mime_detected": "text/plain"}, ['select.mimes=["text/plain"]'], url(0)),
        ({"mime": "text/plain"}, ['select.mimes=["text/plain"]'], url(0)),
        ({"status": 404}, ["select.statuses=[404]"], url(0)),
        ({"languages": ("deu",)}, ['select.languages=["de"]'], url(0)),
        ({"timestamp": 0}, ['select.until="1970"'], url(0)),
    ],
)
def test_record_decides_what_the_index_does_not_say(
    tmp_path: Path, declared: dict[str, Any], settings: list[str], expected: str
) -> None:
    """A field that the index declares holds, though the record may differ."""
    stored = gzipped(record(url=url(0)))
    path = archive(tmp_path / "a.warc.gz", *stored)

    assert [expected] == outcomes_at(entries(path, stored, **declared), *settings)


DIGEST = sha1(b"<p>Hello world</p>").hexdigest()


@pytest.mark.parametrize(
    ("name", "passing", "refusing"),
    [
        ("status", "statuses=[200, 404]", "statuses=[404]"),
        ("mime", 'mimes=["text/*"]', 'mimes=["image/png"]'),
        ("date", 'since="2020-01-02"', 'since="2020-01-03"'),
        ("date", 'until="2020-01-02"', 'until="2020-01-01"'),
        ("digest", f'digests=["{DIGEST}"]', 'digests=["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]'),
        ("host", 'hosts=["www.example.org"]', 'hosts=["example.org"]'),
        ("domain", 'domains=["example.org"]', 'domains=["example.com"]'),
        ("surt", 'surts=["org,example)/a"]', 'surts=["org,example)/b"]'),
        ("url", 'urls=["a\\\\.html$"]', 'urls=["^a"]'),
        ("sample", "sample=0.999999", "sample=0.000001"),
    ],
)
def test_filters_without_an_index(tmp_path: Path, name: str, passing: str, refusing: str) -> None:
    """A filter is applied as soon as a record declares its field."""
    path = archive(tmp_path / "a.warc", record())

    assert ["http://www.example.org/a.html"] == [outcome_of(one) for one in fetches(path, config(f"select.{passing}"))]
    assert [f"skip:select:{name}"] == [outcome_of(one) for one in fetches(path, config(f"select.{refusing}"))]


def test_undated_record_is_a_reject_before_it_is_filtered(tmp_path: Path) -> None:
    """Nobody can say whether it lies in a range of dates."""
    path = archive(tmp_path / "a.warc", record(date="yesterday", url="http://www.example.com/"))

    assert ["reject:bad_timestamp"] == [
        outcome_of(one) for one in fetches(path, config('select.domains=["example.org"]'))
    ]


@pytest.mark.parametrize(
    ("declared", "refusal"),
    [
        ({}, None),
        ({"status": 404}, "select:status"),
        ({"status": 0}, None),
        ({"mime": "image/png"}, "select:mime"),
        ({"mime": "application/xml"}, None),  # its root may be <html>
        ({"mime": "no-type"}, None),
        ({"mime": "", "is_revisit": True}, None),
    ],
)
def test_what_can_be_no_page_is_not_fetched(declared: dict[str, Any], refusal: str | None) -> None:
    """An index is filtered by the statuses and types of [input], as a record would be."""
    assert refusal == indexed_records.index_selection(config()).refusal(entry(**declared))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "select.statuses=[404, 500]",
            r"select\.statuses 404, 500: input\.statuses accepts 200, .* --set 'input\.statuses=\[200,404,500\]'$",
        ),
        (
            'select.mimes=["application/pdf"]',
            r"select\.mimes application/pdf: .* --set 'input\.mimes=\[\"text/html\",.*\"application/pdf\"\]'$",
        ),
        ('select.mimes=["image/*"]', r"select\.mimes image/\*: "),
    ],
)
def test_a_filter_that_no_page_can_pass_is_refused(setting: str, message: str) -> None:
    """It has nothing in common with what [input] accepts; the error has the setting that helps."""
    with pytest.raises(ConfigError, match=message):
        indexed_records.index_selection(config(setting))


@pytest.mark.parametrize(
    "settings",
    [
        ["select.statuses=[200, 404]"],
        ["select.statuses=[404]", "input.statuses=[200, 404]"],
        ['select.mimes=["Text/HTML", "image/png"]'],
        ['select.mimes=["application/*"]'],
        ['select.mimes=["application/xml"]'],
    ],
)
def test_a_filter_that_some_page_can_pass_is_taken(settings: list[str]) -> None:
    """One value in common is enough; XML may be a page."""
    assert indexed_records.index_selection(config(*settings)).checks


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=40), st.integers(1, 9))
def test_parts_hold_each_place_once(named: list[tuple[str, int]], most: int) -> None:
    """In order, all of the same size but the last."""
    files, _ = group_by_file(entry(path=path, offset=offset) for path, offset in named)
    parts = [[(one.path, one.offset) for one in part] for part in indexed_records.cut(files, most)]

    assert sorted(set(named)) == [place for part in parts for place in part]
    assert [most] * (len(parts) - 1) == [len(part) for part in parts[:-1]]


def test_index_on_the_web_needs_no_driver(tmp_path: Path) -> None:
    """An address is taken as it is, folders are searched for indexes."""
    for name in ("index.cdxj", "cdx-00000.gz", "a.warc.gz", "notes.txt"):
        (tmp_path / name).write_text("")
    patterns = config().input.index_patterns

    assert [
        str(tmp_path / "cdx-00000.gz"),
        str(tmp_path / "index.cdxj"),
        "https://example.org/x?y=z",
    ] == indexed_records.list_indexes(["https://example.org/x?y=z", str(tmp_path)], patterns)


def test_pandas_stays_out() -> None:
    """A worker that reads files does not load what only an index in Parquet needs: half a second for each."""
    code = (
        "import sys, dbce_spark.archive.indexed_records\n"
        + "print(sorted({'pandas', 'pyarrow.dataset'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == done.stdout.strip()
