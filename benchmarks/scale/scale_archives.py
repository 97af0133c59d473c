"""The archives that are measured: made once in the work folder, and taken again by the next measurement."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks.samples import write_archive
from benchmarks.samples.calendar import Calendar
from benchmarks.samples.sample_crawl import Schedule, fetches
from benchmarks.samples.sample_records import VERSION, WarcFiles, response_record
from benchmarks.samples.sample_web import sites
from benchmarks.scale.shapes import SEED, Made, Shape
from dbce_spark import config
from dbce_spark.archive import warc
from dbce_spark.archive.index.index_entry import payload_digest
from dbce_spark.files.timestamps import warc_date

FILES = 16
"""Files of a shape. A file is a task: enough for several workers, and none is a large part of the whole."""
CAPTURES_OF_URL = 2.5
"""HTML captures that the sample archive has of each URL."""
CRAWL_FILES = 4
"""Files of one of many crawls: what a day brings, and work for several tasks."""

_STAMP = "made.json"
_HTML = [("Content-Type", "text/html; charset=utf-8")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """A folder of WARC files, and what is in them."""

    folder: str
    input_bytes: int  # of the files
    html_bytes: int  # of the pages in them
    equivalents: int  # pages, a longer one counted as so many small ones (shapes.Made)


def sample(work: Path, captures: int, weight: int) -> Archive:
    """Make the project's sample archive with about `captures` captures of pages: sites of eight kinds, crawled three
    times. `weight` is the load of each page beside its text (`sample_archive.write_archive`)."""

    def write(folder: Path) -> tuple[int, int]:
        write_archive(folder, pages=max(1, round(captures / CAPTURES_OF_URL)), seed=SEED, weight=weight)
        return _weigh(folder)

    return _made(work / f"sample-{captures}-{weight}", write)


def shaped(work: Path, name: str, shape: Shape, pages: int) -> Archive:
    """Make an archive of one shape, spread over 16 files."""
    return _made(work / f"{name}-{pages}", lambda folder: _write(folder, shape(pages), pages))


def crawls(work: Path, count: int, captures: int, weight: int) -> list[Archive]:
    """Crawl the same sites again and again, each time with about `captures` captures of pages, a crawl an archive. All
    pages come each time with a body of their own, a fifth of them edited; one site is redesigned halfway."""
    calendar = Calendar(
        days=tuple(date(2025, 1, 6) + timedelta(days=28 * number) for number in range(count)),
        born=(1.0,) * count,
        gone=0.0,
        edited=0.2,
        cached=0.0,
        redesigned=count // 2,
    )
    schedule = Schedule(sites(pages=captures, seed=SEED, weight=weight, calendar=calendar))

    def write(folder: Path, number: int) -> tuple[int, int]:
        with WarcFiles(folder, f"{calendar.days[number]:%Y%m%d}") as files:
            for place, fetch in enumerate(fetches(schedule, number), 1):
                files.write(fetch, payload_digest(fetch.answer.body))
                if place % (schedule.total // CRAWL_FILES + 1) == 0:
                    files.close()
        return _weigh(folder)

    inside = work / f"crawls-{count}-{captures}-{weight}"
    return [_made(inside / f"{number + 1:02}", partial(write, number=number)) for number in range(count)]


def together(crawled: Sequence[Archive]) -> Archive:
    """Join all crawls as one archive."""
    return Archive(
        folder=str(Path(crawled[0].folder).parent),
        input_bytes=sum(one.input_bytes for one in crawled),
        html_bytes=sum(one.html_bytes for one in crawled),
        equivalents=sum(one.equivalents for one in crawled),
    )


def _made(folder: Path, write: Callable[[Path], tuple[int, int]]) -> Archive:
    """Return the archive of the folder if it was made to its end, and else make it anew."""
    stamp = folder / _STAMP
    if not stamp.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        html_bytes, equivalents = write(folder)
        size = sum(path.stat().st_size for path in folder.glob("*.warc.gz"))
        made = Archive(folder=str(folder), input_bytes=size, html_bytes=html_bytes, equivalents=equivalents)
        stamp.write_text(json.dumps(asdict(made)))
    return Archive(**json.loads(stamp.read_text()) | {"folder": str(folder)})


def _weigh(folder: Path) -> tuple[int, int]:
    """Sum up the bytes of HTML of all pages in a folder, and count the pages."""
    settings = config.default()
    sizes = [
        len(record.html)
        for path in sorted(folder.glob("*.warc.gz"))
        for record in warc.read(str(path), settings.input, settings.page.max_html_bytes)
        if isinstance(record, warc.Fetch)
    ]
    return sum(sizes), len(sizes)


def _write(folder: Path, pages: Iterator[Made], count: int) -> tuple[int, int]:
    """Write pages to files, one behind the other; return the bytes of their HTML and the small pages they are worth."""
    html_bytes = equivalents = 0
    a_file = -(-count // FILES)
    for number, some in groupby(enumerate(pages), lambda numbered: numbered[0] // a_file):
        with (folder / f"part-{number:05d}.warc.gz").open("wb") as stream:
            for made in (one for _, one in some):
                html_bytes += _write_record(stream, made)
                equivalents += made.equivalents
    return html_bytes, equivalents


def _write_record(stream: BinaryIO, made: Made) -> int:
    body = made.html.encode()
    headers = {"WARC-Date": warc_date(made.when), "WARC-Payload-Digest": payload_digest(body)}
    record = response_record(made.url, StatusAndHeaders("200 OK", _HTML, protocol="HTTP/1.1"), body, headers)
    WARCWriter(stream, gzip=True, warc_version=VERSION).write_record(record)
    return len(body)
