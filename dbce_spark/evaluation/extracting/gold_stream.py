"""Gold pages as a stream that URL Tree labels: in the order of their dates, each by what has come before."""

import time
from collections.abc import Sequence
from dataclasses import replace

from dbce_spark.archive.warc import site_of
from dbce_spark.config import PageConfig
from dbce_spark.dbce.kept import main_text
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.html.dom import PageError
from dbce_spark.html.page import parse
from dbce_spark.model import Blocks
from dbce_spark.streaming.urltree.blocks import block_keys
from dbce_spark.streaming.urltree.domain_tree import Document, DomainTree, Labelled
from dbce_spark.streaming.urltree.url_keys import UrlKey, url_key
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig


def arrivals(pages: Sequence[GoldPage]) -> list[GoldPage]:
    """Order the pages of a set by arrival: by date, then those without one in the order of their lines."""
    return sorted(pages, key=lambda page: (page.timestamp == 0, page.timestamp))


def domain(page: GoldPage) -> str:
    """Return the domain whose tree a page goes to."""
    return site_of(page.address, "domain")


class Stream:
    """The trees of all domains, which label pages as they arrive."""

    def __init__(self, config: UrlTreeConfig, pages: PageConfig):
        self._config, self._pages = config, pages
        self._trees: dict[str, DomainTree] = {}

    def text(self, page: GoldPage) -> str:
        """Extract the content of a page as the tree labels it on its arrival.

        Raises:
            PageError: it cannot be parsed.
        """
        parsed = parse(page.body, "utf-8", self._pages)
        key = url_key(page.address, parsed.declared.title, self._config.keys.rules)
        tree = self._trees.setdefault(key.domain, DomainTree(key.domain, self._config))
        document = Document(
            document_id=page.page_id,
            url_key=_apart(key, page.page_id) if tree.holds(key) else key,
            timestamp=page.timestamp,
            keys=block_keys(parsed.blocks, self._config.blocks.hash),
        )
        return content(parsed.blocks, tree.add(document)[0])


def content(blocks: Blocks, labelled: Labelled) -> str:
    """Join the content of a page."""
    return main_text.of_blocks(blocks.text, blocks.starts.tolist(), blocks.ends.tolist(), labelled.labels.tolist())


def extract(gold: Sequence[GoldPage], config: UrlTreeConfig, pages: PageConfig) -> dict[str, Extracted]:
    """Extract the texts by URL Tree, by page id, each with the seconds that it took."""
    stream, found = Stream(config, pages), {}
    for page in arrivals(gold):
        started = time.process_time()
        try:
            text, error = stream.text(page), ""
        except PageError as caught:
            text, error = "", f"{caught.reason}: {caught}"
        found[page.page_id] = Extracted(text, time.process_time() - started, error)
    return found


def _apart(key: UrlKey, name: str) -> UrlKey:
    """Extend a key by a name where another page has it: every gold page needs a text, and a stream would drop it."""
    return replace(key, branch=(*key.branch, name))
