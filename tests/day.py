"""`python -m tests.day [DOCUMENTS]`: a day of a stream through URL Tree, 100,000 documents if no number is given.

Five domains publish all day, each more than a window holds: pages of 150 blocks, of which 80 are their domain's
template, 20 a list of the latest stories, and 50 their own. They come as keys of blocks, without HTML, so that what is
measured is the tree. Prints a line for every twentieth of the day: what the process holds in memory, what the trees
hold, and how fast documents went through. Ends with 1 if memory grew by more than a tenth behind the warm-up, which
ends when all windows are full and have once thrown out what nobody holds.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import psutil

from dbce_spark.urltree import settings
from dbce_spark.urltree.blocks import WORDS, Keys
from dbce_spark.urltree.keys import url_key
from dbce_spark.urltree.settings import UrlTreeConfig
from dbce_spark.urltree.window import Document, DomainTree

DOMAINS = 5
DAY = 86_400_000_000
"""Microseconds."""
LINES = 20
WARM = 0.75
"""Share of the day behind which memory has to be flat: windows are full at half of it, and blocks that nobody holds are
thrown out for the first time, which takes room, at seven tenths."""
GROWTH = 1.1
"""Blocks that nobody holds any more come and go: up to a third of the others, 8 % of memory."""
TEMPLATE, LATEST, OWN = 80, 20, 50
"""Blocks of a page."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The state after so many documents."""

    documents: int
    resident: int  # bytes of the process
    held: int  # documents in all windows
    blocks: int  # numbered in all vocabularies
    seconds: float  # of CPU since the mark before, in trees

    def __str__(self) -> str:
        return (
            f"{self.documents:>7,} documents  {self.resident / 2**20:6.1f} MB  {self.held:>6,} held"
            f"  {self.blocks:>9,} blocks  {self.seconds:6.1f} s"
        )


class Site:
    """A domain that publishes: each page in a section of ten days, under a name of its own."""

    def __init__(self, name: str, seed: int, words: int):
        self._name, self._words = name, words
        self._random = np.random.default_rng(seed)
        self._template, self._latest = self._keys(TEMPLATE), self._keys(LATEST)

    def page(self, number: int, timestamp: int) -> Document:
        """The page of this number. Its heading joins the list of the latest, and the oldest leaves it."""
        self._latest = np.concatenate([self._latest[1:], self._keys(1)])
        url = f"http://www.{self._name}/{'abcdefg'[number % 7]}/2011/{number // 1000}/a-story-of-the-day-{number}.html"
        return Document(
            document_id=f"{number:032x}",
            url_key=url_key(url, "", ()),
            timestamp=timestamp,
            keys=np.concatenate([self._template, self._latest, self._keys(OWN)]),
        )

    def _keys(self, blocks: int) -> Keys:
        return self._random.integers(0, 1 << 63, (blocks, self._words)).astype(np.uint64)


def marks(documents: int, parameters: UrlTreeConfig) -> Iterator[Mark]:
    """A day of so many documents, marked LINES times."""
    names = [f"site{at}.eu" for at in range(DOMAINS)]
    sites = [Site(name, seed, WORDS[parameters.blocks.hash]) for seed, name in enumerate(names)]
    trees = [DomainTree(name, parameters) for name in names]
    process, seconds = psutil.Process(), 0.0
    for at in range(documents):
        number, place = divmod(at, DOMAINS)
        page = sites[place].page(number, at * DAY // documents)
        started = time.process_time()
        trees[place].add(page)
        seconds += time.process_time() - started
        if (at + 1) % (documents // LINES) == 0:
            yield Mark(
                documents=at + 1,
                resident=process.memory_info().rss,
                held=sum(map(len, trees)),
                blocks=sum(tree.blocks for tree in trees),
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
    print(f"{documents / sum(mark.seconds for mark in seen):,.0f} documents/s of CPU in trees")
    print(f"behind the warm-up: {min(warm) / 2**20:.1f} to {max(warm) / 2**20:.1f} MB")
    return int(max(warm) > GROWTH * warm[0])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
