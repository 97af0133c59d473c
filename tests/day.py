"""`python -m tests.day [DOCUMENTS]`: a day of a stream through URL Tree, 100,000 documents if no number is given.

Five sites of the sample archive publish all day, each more than a window holds. Prints a line for every twentieth of
the day: what the process holds in memory, what the trees hold, and how fast documents went through. Ends with 1 if
memory grew by more than a twentieth behind the warm-up, which ends when all windows have been full for a while.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psutil

from dbce_spark import config
from dbce_spark.page import parse
from dbce_spark.samples.diary import Diary
from dbce_spark.samples.gazette import Gazette
from dbce_spark.samples.manual import Manual
from dbce_spark.samples.recipes import Recipes
from dbce_spark.samples.shop import Shop
from dbce_spark.samples.site import Moment, Site
from dbce_spark.urltree import settings
from dbce_spark.urltree.blocks import block_keys
from dbce_spark.urltree.keys import url_key
from dbce_spark.urltree.settings import UrlTreeConfig
from dbce_spark.urltree.window import Document, DomainTree

KINDS: tuple[type[Site], ...] = (Gazette, Recipes, Shop, Manual, Diary)
DAY = 86_400_000_000
"""Microseconds."""
LINES = 20
WARM = 0.75
"""Share of the day behind which memory has to be flat: windows are full at half of it, and caches some time later."""
GROWTH = 1.05
MOMENT = Moment(crawl=2, edits=0)


@dataclass(frozen=True, slots=True)
class Mark:
    """The state after so many documents."""

    documents: int
    resident: int  # bytes of the process
    held: int  # documents in all windows
    blocks: int  # numbered in all vocabularies
    seconds: float  # of CPU since the mark before, without what drawing the pages took

    def __str__(self) -> str:
        return (
            f"{self.documents:>7,} documents  {self.resident / 2**20:6.1f} MB  {self.held:>6,} held"
            f"  {self.blocks:>9,} blocks  {self.seconds:6.1f} s"
        )


def marks(documents: int, parameters: UrlTreeConfig) -> Iterator[Mark]:
    """A day of so many documents, marked LINES times."""
    sites = [
        kind(f"{kind.__name__.lower()}.example", "Day", "1", documents // len(KINDS) * 5 // 4, 0) for kind in KINDS
    ]
    trees = {site.host: DomainTree(site.host, parameters) for site in sites}
    pages, process, seconds = config.default().page, psutil.Process(), 0.0
    for at in range(documents):
        number, place = divmod(at, len(sites))
        site = sites[place]
        html = "".join(site.draw_item(number, MOMENT).html).encode(site.charset, "replace")
        started = time.process_time()
        parsed = parse(html, site.charset, pages)
        key = url_key(f"http://{site.host}{site.item_path(number)}", parsed.declared.title, parameters.keys.rules)
        told = trees[site.host].add(
            Document(
                document_id=f"{at:032x}",
                url_key=key,
                timestamp=at * DAY // documents,
                keys=block_keys(parsed.blocks, parameters.blocks.hash),
            )
        )
        assert told, f"{key.key} came twice"
        seconds += time.process_time() - started
        if (at + 1) % (documents // LINES) == 0:
            yield Mark(
                documents=at + 1,
                resident=process.memory_info().rss,
                held=sum(map(len, trees.values())),
                blocks=sum(tree.blocks for tree in trees.values()),
                seconds=seconds,
            )
            seconds = 0.0


def main(documents: int) -> int:
    """Plays the day. Returns 1 if memory grew behind the warm-up."""
    seen = []
    for mark in marks(documents, settings.load()):
        print(mark, flush=True)
        seen.append(mark)
    warm = [mark.resident for mark in seen if mark.documents >= WARM * documents]
    print(f"{documents / sum(mark.seconds for mark in seen):,.0f} documents/s of CPU")
    print(f"behind the warm-up: {min(warm) / 2**20:.1f} to {max(warm) / 2**20:.1f} MB")
    return int(max(warm) > GROWTH * warm[0])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
