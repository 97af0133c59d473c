"""Send a day of a stream through URL Tree, 100,000 documents if no number is given:
`python -m benchmarks.programs.urltree_day [DOCUMENTS]`.

The pages of `published_day` come as HTML, and are parsed, made into keys and labelled. Prints a line for every
twentieth of the day: what the process holds in memory, what the trees hold, and how long the documents took. Ends with
1 if memory grew by more than a tenth behind the warm-up, which ends when all windows are full and have once thrown out
what nobody holds.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psutil

from benchmarks.programs.program_parser import program_parser
from benchmarks.programs.published_day import DAY, DOMAINS, LINES, Site, play
from dbce_spark import config
from dbce_spark.html.page import parse
from dbce_spark.streaming.urltree import urltree_settings
from dbce_spark.streaming.urltree.blocks import block_keys
from dbce_spark.streaming.urltree.domain_tree import Document, DomainTree
from dbce_spark.streaming.urltree.url_keys import url_key
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

WARM = 0.75
"""Share of the day behind which memory has to be flat: windows are full at half of it, and blocks that nobody holds are
thrown out for the first time, which takes room, at seven tenths."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The state after a number of documents."""

    documents: int
    resident: int  # bytes of the process
    held: int  # documents in all windows
    blocks: int  # numbered in all vocabularies
    parsing: float  # seconds of CPU since the mark before, until blocks had keys
    trees: float  # and those in trees

    def __str__(self) -> str:
        return (
            f"{self.documents:>7,} documents  {self.resident / 2**20:6.1f} MB  {self.held:>6,} held"
            f"  {self.blocks:>9,} blocks  parsing {self.parsing:6.1f} s  trees {self.trees:6.1f} s"
        )


def marks(documents: int, parameters: UrlTreeConfig) -> Iterator[Mark]:
    """Play a day of `documents` documents, marked LINES times."""
    sites = [Site(f"site{at}.eu", seed=at) for at in range(DOMAINS)]
    trees = [DomainTree(site.name, parameters) for site in sites]
    process, pages = psutil.Process(), config.default().page
    parsing = in_trees = 0.0
    for at in range(documents):
        number, place = divmod(at, DOMAINS)
        url, html = sites[place].page(number)
        began = time.process_time()
        parsed = parse(html, "utf-8", pages)
        document = Document(
            document_id=f"{number:032x}",
            url_key=url_key(url, parsed.declared.title, parameters.keys.rules),
            timestamp=at * DAY // documents,
            keys=block_keys(parsed.blocks, parameters.blocks.hash),
        )
        has_keys = time.process_time()
        trees[place].add(document)
        parsing, in_trees = parsing + has_keys - began, in_trees + time.process_time() - has_keys
        if (at + 1) % (documents // LINES) == 0:
            yield Mark(
                documents=at + 1,
                resident=process.memory_info().rss,
                held=sum(map(len, trees)),
                blocks=sum(tree.blocks for tree in trees),
                parsing=parsing,
                trees=in_trees,
            )
            parsing = in_trees = 0.0


def main(documents: int) -> int:
    """Play the day; return 1 if memory grew after the warm-up."""
    return play(marks(documents, urltree_settings.load()), documents, WARM, ("parsing", "trees"), "through trees")


if __name__ == "__main__":
    parser = program_parser()
    parser.add_argument("documents", type=int, nargs="?", default=100_000, metavar="DOCUMENTS")
    sys.exit(main(parser.parse_args().documents))
