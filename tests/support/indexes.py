"""One line makes what a test of indexes needs: parameters, entries, lines, and files of every kind."""

import gzip
import json
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dbce_spark.archive.index.capture_filter import FilterCounts, selection
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.index_fault import BadLine
from dbce_spark.archive.index.index_file import read_entries
from dbce_spark.config import FetchConfig, SelectConfig
from dbce_spark.files import timestamps

SELECT = SelectConfig(
    surts=(),
    domains=(),
    hosts=(),
    mimes=(),
    statuses=(),
    since="",
    until="",
    languages=(),
    digests=(),
    urls=(),
    sample=1.0,
    sample_seed=1,
    max_wanted=1000,
)
FETCH = FetchConfig(
    gap_bytes=64,
    span_bytes=1 << 20,
    attempts=3,
    first_wait_seconds=0.001,
    max_wait_seconds=0.01,
    start_jitter_seconds=0.0,
    timeout_seconds=5.0,
    max_failed_spans=2,
)
DIGEST = "CZBHCHHR4IFLFUDLNLKGN5MTNTAA4DV6"


def select(**fields: Any) -> SelectConfig:
    return replace(SELECT, **fields)


def fetching(**fields: Any) -> FetchConfig:
    return replace(FETCH, **fields)


def entry(**fields: Any) -> IndexEntry:
    """A capture of http://www.example.org/a at noon of 2 January 2020."""
    known: dict[str, Any] = {
        "urlkey": "org,example)/a",
        "timestamp": micros("2020-01-02T12:00:00"),
        "url": "http://www.example.org/a",
        "mime": "text/html",
        "mime_detected": "",
        "status": 200,
        "digest": f"sha1:{DIGEST}",
        "languages": (),
        "offset": 100,
        "length": 50,
        "filename": "a.warc.gz",
        "path": "a.warc.gz",
        "is_revisit": False,
    }
    return IndexEntry(**(known | fields))


def micros(date: str) -> int:
    return int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp()) * 1_000_000


def cdx_line(of: IndexEntry, letters: str = "N b a m s k r M S V g", separator: str = " ") -> str:
    """An entry as a line of CDX; what a letter means that no entry holds is "-"."""
    values = {
        "N": of.urlkey,
        "b": timestamps.digits(of.timestamp),
        "a": of.url,
        "m": "warc/revisit" if of.is_revisit else of.mime or "-",
        "s": str(of.status or "-"),
        "k": of.digest.removeprefix("sha1:") or "-",
        "S": str(of.length) if of.length >= 0 else "-",
        "V": str(of.offset),
        "g": of.filename,
    }
    return separator.join(values.get(letter, "-") for letter in letters.split(" "))


def cdxj_line(of: IndexEntry) -> str:
    """An entry as pywb and Common Crawl write it."""
    fields = {
        "url": of.url,
        "mime": "warc/revisit" if of.is_revisit else of.mime,
        "mime-detected": of.mime_detected,
        "status": str(of.status or ""),
        "digest": of.digest.removeprefix("sha1:"),
        "length": str(of.length) if of.length >= 0 else "",
        "offset": str(of.offset),
        "filename": of.filename,
        "languages": ",".join(of.languages),
    }
    written = json.dumps({name: value for name, value in fields.items() if value})
    return f"{of.urlkey} {timestamps.digits(of.timestamp)} {written}"


def write_lines(path: Path, lines: Sequence[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def write_zipnum(folder: Path, lines: Sequence[str], per_block: int, shards: int = 1) -> str:
    """A cluster of sorted lines, spread evenly over some shards. The path of its secondary index."""
    blocks = [lines[at : at + per_block] for at in range(0, len(lines), per_block)]
    secondary = []
    for nth, block in enumerate(blocks):
        path = folder / f"cdx-{nth * shards // len(blocks):05}.gz"
        data = gzip.compress("".join(f"{line}\n" for line in block).encode(), mtime=0)
        offset = path.stat().st_size if path.exists() else 0
        with path.open("ab") as shard:
            shard.write(data)
        first = " ".join(block[0].split(" ")[:2])
        secondary.append(f"{first}\t{path.name}\t{offset}\t{len(data)}\t{nth + 1}")
    return write_lines(folder / "cluster.idx", secondary)


def write_parquet(path: Path, entries: Sequence[IndexEntry], rows_per_group: int = 1000) -> str:
    """A columnar index with Common Crawl's names and types."""
    rows = [
        {
            "url_surtkey": one.urlkey,
            "url": one.url,
            "fetch_time": datetime.fromtimestamp(one.timestamp / 1e6, UTC),
            "fetch_status": one.status or None,
            "content_digest": one.digest.removeprefix("sha1:"),
            "content_mime_type": one.mime,
            "content_mime_detected": one.mime_detected or None,
            "content_charset": "UTF-8",
            "content_languages": ",".join(one.languages) or None,
            "warc_filename": one.filename,
            "warc_record_offset": one.offset,
            "warc_record_length": one.length,
        }
        for one in entries
    ]
    text = ("url_surtkey", "url", "content_digest", "content_mime_type", "content_mime_detected", "content_charset")
    schema = pa.schema(
        [pa.field(name, pa.string()) for name in (*text, "content_languages", "warc_filename")]
        + [("fetch_time", pa.timestamp("ms", "UTC")), ("fetch_status", pa.int16())]
        + [("warc_record_offset", pa.int32()), ("warc_record_length", pa.int32())]
    )
    pq.write_table(pa.Table.from_pylist(rows, schema), path, row_group_size=rows_per_group)
    return str(path)


def write_wacz(path: Path, archive: bytes, lines: Sequence[str], compression: int = zipfile.ZIP_STORED) -> str:
    """A WACZ of one archive, data.warc.gz, with a CDXJ."""
    with zipfile.ZipFile(path, "w", compression) as made:
        made.writestr("archive/data.warc.gz", archive)
        made.writestr("indexes/index.cdx", "".join(f"{line}\n" for line in lines))
    return str(path)


def found_in(
    *paths: str, base: str = "", counts: FilterCounts | None = None, **filters: Any
) -> list[IndexEntry | BadLine]:
    """List the entries of some indexes."""
    chosen = selection(select(**filters))
    return list(read_entries(paths, base, chosen, FETCH, FilterCounts() if counts is None else counts))


def offsets_in(*paths: str, **filters: Any) -> list[int]:
    """The offsets of the entries that some indexes give, in their order."""
    return [one.offset for one in found_in(*paths, **filters) if isinstance(one, IndexEntry)]


def faults_in(*paths: str, **filters: Any) -> list[tuple[int, str]]:
    """(line, fault) of the lines of some indexes that are no entries."""
    return [(one.line, one.fault.value) for one in found_in(*paths, **filters) if isinstance(one, BadLine)]
