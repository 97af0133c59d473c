"""Send a day of a stream through DBCE, 20,000 documents if no number is given:
`python -m benchmarks.programs.stream_day [DOCUMENTS]`.

The pages of `published_day` are read, packed, taken in by the state of their site and made rows; each state is packed
and restored between batches of 20 pages, as Spark does it. Prints a line for every twentieth of the day: what the
process holds in memory, what the states take as bytes, and how long the documents took. Ends with 1 if memory grew by
more than a tenth behind the warm-up, the first half, in which pools become full and the last late labels are given. The
URLs that a state remembers, 32 bytes a page, become as many as they may (10,000 pages of a site) in the first half only
of a day of 100,000 documents and more; on a shorter day states grow by them to its end.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psutil

from benchmarks.programs.program_parser import program_parser
from benchmarks.programs.published_day import DAY, DOMAINS, LINES, Site, play
from dbce_spark import config
from dbce_spark.archive.index.urls import url_key
from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import pages
from dbce_spark.model import Capture, Page
from dbce_spark.streaming.stream.arrival import make_arrival
from dbce_spark.streaming.stream.outcomes import build_rows
from dbce_spark.streaming.stream.stream_method import stream_method
from dbce_spark.streaming.urltree import urltree_settings
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

WARM = 0.5
"""Share of the day behind which memory has to be flat."""
BATCH = 20
"""Pages of a domain in a batch."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The state after a number of documents."""

    documents: int
    resident: int  # bytes of the process
    states: int  # bytes of all states
    reading: float  # seconds of CPU since the mark before, until pages were packed
    labelling: float  # and those from state to state

    def __str__(self) -> str:
        return (
            f"{self.documents:>7,} documents  {self.resident / 2**20:6.1f} MB  {self.states / 2**20:6.2f} MB of states"
            f"  reading {self.reading:6.1f} s  labelling {self.labelling:6.1f} s"
        )


def marks(documents: int, parameters: DbceConfig, tree: UrlTreeConfig) -> Iterator[Mark]:
    """Play a day of `documents` documents, marked LINES times."""
    method = stream_method(parameters, tree)
    sites = [Site(f"site{at}.eu", seed=at) for at in range(DOMAINS)]
    states = [method.begin(site.name).to_bytes() for site in sites]
    process = psutil.Process()
    reading = labelling = 0.0
    since = 0
    for first in range(0, documents // DOMAINS, BATCH):
        for place, site in enumerate(sites):
            began = time.process_time()
            fetches = [_fetch(site, first + at, documents) for at in range(BATCH)]
            found = [one for one in pages.parse_fetches(fetches, parameters) if isinstance(one, Page)]
            arrivals = [
                make_arrival((page, None), 0, first + at, tree, method.pack_blocks) for at, page in enumerate(found)
            ]
            are_read = time.process_time()
            state = method.restore(states[place])
            for _ in build_rows(arrivals, state):
                pass
            states[place] = state.to_bytes()
            reading, labelling = reading + are_read - began, labelling + time.process_time() - are_read
            since += BATCH
        if since >= documents // LINES:
            done = DOMAINS * (first + BATCH)
            yield Mark(done, process.memory_info().rss, sum(map(len, states)), reading, labelling)
            reading = labelling = 0.0
            since = 0


def _fetch(site: Site, number: int, documents: int) -> Fetch:
    """Make the capture of the page of this number."""
    url, html = site.page(number)
    capture = Capture(
        url=url,
        url_key=url_key(url),
        site=site.name,
        timestamp=number * DOMAINS * DAY // documents,
        warc_file="",
        warc_offset=number,
        warc_length=len(html),
        record_id="",
        payload_digest=str(number),
        http_status=200,
        mime="text/html",
        declared_charset="utf-8",
        truncated=False,
    )
    return Fetch(capture, html)


def main(documents: int) -> int:
    """Play the day; return 1 if memory grew after the warm-up."""
    day = marks(documents, config.load(settings=["stream.by=dbce"]), urltree_settings.load())
    return play(day, documents, WARM, ("reading", "labelling"), "in states")


if __name__ == "__main__":
    parser = program_parser()
    parser.add_argument("documents", type=int, nargs="?", default=20_000, metavar="DOCUMENTS")
    sys.exit(main(parser.parse_args().documents))
