"""Learn from archived pages which query parameters matter, and count duplicate URLs step by step."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.pages import fetches
from dbce_spark.html.dom import PageError
from dbce_spark.html.page import Parsed, parse
from dbce_spark.streaming.urltree import url_keys
from dbce_spark.streaming.urltree.blocks import block_keys
from dbce_spark.streaming.urltree.rule_learning import Learner
from dbce_spark.streaming.urltree.urltree_settings import Rule, UrlTreeConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedRules:
    """The rules learned from archived pages, with the number of documents read and of duplicates among them."""

    documents: int
    duplicates: Mapping[str, int]  # after each of `url_keys.KEY_FORMS`, within domains
    rules: list[Rule]


def learn_rules(files: Iterable[str], config: DbceConfig, tree: UrlTreeConfig) -> LearnedRules:
    """Learn rules from all pages of these files, read in their order."""
    learner, seen = Learner(tree.learn), []
    for url, page in _pages(files, config):
        key = url_keys.url_key(url, page.declared.title, tree.keys.rules)
        learner.see(key, block_keys(page.blocks, tree.blocks.hash))
        seen.append(key)
    return LearnedRules(documents=len(seen), duplicates=url_keys.duplicates(seen), rules=learner.rules())


def _pages(files: Iterable[str], config: DbceConfig) -> Iterator[tuple[str, Parsed]]:
    for file in files:
        for fetch in fetches(file, config):
            if isinstance(fetch, Fetch):
                try:
                    yield fetch.capture.url, parse(fetch.html, fetch.capture.declared_charset, config.page)
                except PageError:  # has no block to compare
                    continue
