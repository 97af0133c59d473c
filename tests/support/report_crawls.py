"""Crawls of two sample sites, as they are, or with something wrong. The diary has a new design in the third."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.samples.diary import Diary
from benchmarks.samples.gazette import Gazette
from benchmarks.samples.sample_crawl import Fetch, Schedule, fetches
from benchmarks.samples.sample_records import WarcFiles
from dbce_spark.archive.index.index_entry import payload_digest

Change = Callable[[Fetch], Fetch | None]
GAZETTE, DIARY = "gazette.example", "dnevnik.example"
_WEB = Schedule(
    [
        Gazette(f"www.{GAZETTE}", "The Gazette", "7", pages=36, hue=210),
        Diary(DIARY, "Дневник", "7", pages=36, hue=180),
    ]
)
_LOST = """<html><head><title>Lost</title></head><body><div><ul><li><a href="/">Front page</a></li></ul></div>
<div><h1>This page is not here</h1><p>There is nothing at this address, or there is no more.</p></div>
<div><form><input name="q"></form><p><a href="/">Back to the front page</a></p></div></body></html>"""


def write(folder: Path, number: int, change: Change = lambda fetch: fetch) -> str:
    """The archive of one of the crawls 0 to 2; each fetch is changed, and left out where it becomes None."""
    folder.mkdir(parents=True, exist_ok=True)
    warcs = WarcFiles(folder, f"{number}")
    for fetch in fetches(_WEB, number):
        changed = change(fetch)
        if changed is not None:
            warcs.write(changed, payload_digest(changed.answer.body))
    warcs.close()
    return str(folder / f"crawl-{number}-00000.warc.gz")


def soft_404(fetch: Fetch) -> Fetch:
    """A third of the pages are not there, but the server says that all is well."""
    if fetch.answer.drawn is None or sum(fetch.answer.path.encode()) % 3:
        return fetch
    body = f"{_LOST}<!-- {fetch.answer.path} -->".encode()
    answer = replace(fetch.answer, headers=[("Content-Type", "text/html; charset=utf-8")], body=body)
    return replace(fetch, answer=answer, first_answered=fetch.answered)


def blocked(fetch: Fetch) -> Fetch:
    """A third of the pages are refused to the crawler."""
    if fetch.answer.drawn is None or sum(fetch.answer.path.encode()) % 3:
        return fetch
    return replace(fetch, answer=replace(fetch.answer, status="403 Forbidden"))


def without_diary(fetch: Fetch) -> Fetch | None:
    return None if fetch.site.host == DIARY else fetch
