"""The pages of a sample archive with their main text, for `dbce evaluate`: gold that ships with the program."""

import os

from benchmarks.samples.sample_crawl import Fetch, Schedule, fetches
from benchmarks.samples.sample_web import sites
from dbce_spark.files import jsonl

DATASET = "sample"


def write_gold(path: str | os.PathLike[str], *, pages: int, seed: int, weight: int = 0) -> int:
    """Write JSON lines, one for each page that came with a body of its own, by their times; return how many.

    The pages are those of `sample_archive.write_archive` with the same arguments. The gold is the site's own content, without
    what readers wrote below it: that is in `gold_comments`.
    """
    schedule = Schedule(sites(pages=pages, seed=seed, weight=weight))
    return jsonl.write(
        os.fspath(path),
        (
            _fields(fetch)
            for crawl in range(len(schedule.calendar.days))
            for fetch in fetches(schedule, crawl)
            if fetch.answer.drawn is not None and not fetch.again
        ),
    )


def _fields(fetch: Fetch) -> dict[str, str]:
    drawn = fetch.answer.drawn
    assert drawn is not None
    timestamp = f"{fetch.answered:%Y%m%d%H%M%S}"
    return {
        "dataset": DATASET,
        "id": f"{timestamp} {fetch.url}",
        "url": fetch.url,
        "site": fetch.site.host,
        "wayback_ts": timestamp,
        "lang": fetch.site.language,
        "page_type": fetch.answer.kind,
        "html": drawn.html,
        "gold": "\n".join(drawn.content),
        "gold_comments": "\n".join(drawn.comments),
    }
