"""The whole sample archive: WARC files, their index and the labels, streamed out page by page."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from surt import surt

from benchmarks.samples.sample_crawl import Fetch, Schedule, fetches
from benchmarks.samples.sample_records import Place, WarcFiles
from benchmarks.samples.sample_web import sites
from benchmarks.samples.sorted_lines import SortedLines
from dbce_spark.archive.index.index_entry import payload_digest
from dbce_spark.errors import OutputError
from dbce_spark.files import jsonl


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Counts of the written pages, captures, records and files."""

    files: int  # WARC files
    records: int  # of all types
    captures: int  # responses and revisits: the lines of the index
    pages: int  # distinct URLs of HTML pages
    sites: int

    def __str__(self) -> str:
        return (
            f"{self.pages} pages of {self.sites} sites, {self.captures} captures in {self.records} records, "
            f"{self.files} WARC files"
        )


def write_archive(folder: str | os.PathLike[str], *, pages: int, seed: int, weight: int = 0) -> Summary:
    """Write `crawl-*.warc.gz`, `index.cdxj` and `labels.jsonl` into a new or empty folder.

    `weight` is what each page carries beside its text, in the measure of `weight.py`: 0 nothing, 6 as much as a news site.

    `labels.jsonl` holds one object for each HTML page that came with a body of its own, in the order of the timestamps.

    Raises:
        OutputError: the folder is not empty, or cannot be made.
    """
    target = empty_folder(Path(folder))
    web = sites(pages=pages, seed=seed, weight=weight)
    schedule = Schedule(web)
    index = SortedLines(target)
    files = records = captures = 0
    with (target / "labels.jsonl").open("wb") as labels:
        for crawl, day in enumerate(schedule.calendar.days):
            with WarcFiles(target, f"{day:%Y%m%d}") as warcs:
                for fetch in fetches(schedule, crawl):
                    digest_of_body = payload_digest(fetch.answer.body)
                    index.add(_index_line(fetch, digest_of_body, warcs.write(fetch, digest_of_body)))
                    _write_labels(labels, fetch)
                    captures += 1
            files += warcs.files
            records += warcs.records
    index.write(target / "index.cdxj")
    return Summary(
        files=files, records=records, captures=captures, pages=sum(site.pages for site in web), sites=len(web)
    )


def empty_folder(folder: Path) -> Path:
    """Return the folder, made if need be. Raises OutputError if it holds anything, or cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise OutputError(f"{folder}: is not empty; give a new folder")
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created as a folder: {error.strerror}") from error
    return folder


def _index_line(fetch: Fetch, digest_of_body: str, place: Place) -> str:
    fields = {
        "url": fetch.url,
        "mime": "warc/revisit" if fetch.again else dict(fetch.answer.headers)["Content-Type"].partition(";")[0],
        "status": fetch.answer.status.partition(" ")[0],
        "digest": digest_of_body,
        "length": str(place.length),
        "offset": str(place.offset),
        "filename": place.filename,
    }
    return f"{surt(fetch.url)} {_timestamp(fetch)} {json.dumps(fields)}"


def _write_labels(out: BinaryIO, fetch: Fetch) -> None:
    drawn = fetch.answer.drawn
    if drawn is None or fetch.again:
        return
    fields = {
        "url": fetch.url,
        "timestamp": _timestamp(fetch),
        "kind": fetch.answer.kind,
        "lang": fetch.site.language,
        "content": drawn.content,
        "comments": drawn.comments,
        "boilerplate": drawn.boilerplate,
    }
    out.write(jsonl.line(fields))


def _timestamp(fetch: Fetch) -> str:
    return f"{fetch.answered:%Y%m%d%H%M%S}"
