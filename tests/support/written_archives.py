"""Archives that the program has written, read back by warcio."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from benchmarks.samples import Summary


@dataclass(frozen=True)
class Record:
    """A WARC record as warcio reads it, its payload decoded from chunks and gzip."""

    type: str
    headers: dict[str, str]
    status: str  # "" without HTTP headers
    http: dict[str, str]
    payload: bytes
    offset: int
    length: int
    digests_verify: bool | None

    @property
    def url(self) -> str:
        return self.headers["WARC-Target-URI"]


@dataclass(frozen=True)
class Archive:
    """A written archive, read back."""

    folder: Path
    summary: Summary
    records: dict[str, list[Record]]  # by file name

    @property
    def all_records(self) -> list[Record]:
        return [record for records in self.records.values() for record in records]

    @property
    def labels(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "labels.jsonl").read_text("utf-8").splitlines()]

    @property
    def index(self) -> list[tuple[str, str, dict[str, str]]]:
        rows = (line.split(" ", 2) for line in (self.folder / "index.cdxj").read_text("utf-8").splitlines())
        return [(key, timestamp, json.loads(fields)) for key, timestamp, fields in rows]


def read(path: Path) -> list[Record]:
    """The records of a file."""
    found = []
    with path.open("rb") as file:
        records = ArchiveIterator(file, check_digests=True)
        for record in records:
            payload = record.content_stream().read()
            http = record.http_headers
            found.append(
                Record(
                    type=record.rec_type,
                    headers=dict(record.rec_headers.headers),
                    status=http.get_statuscode() if http else "",
                    http=dict(http.headers) if http else {},
                    payload=payload,
                    offset=records.get_record_offset(),
                    length=records.get_record_length(),
                    digests_verify=record.digest_checker.passed,
                )
            )
    return found
