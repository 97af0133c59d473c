"""Gold pages as a stream: in the order of their dates, each labelled when it comes, by what has come before."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from dbce_spark.archive.warc import site_of
from dbce_spark.config import DbceConfig, PageConfig
from dbce_spark.dbce import buckets, crosses, local, pools, sites
from dbce_spark.dbce.classifier_file import load_classifier
from dbce_spark.evaluation.child_process import Extracted
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.html.dom import PageError
from dbce_spark.html.page import parse
from dbce_spark.model import Blocks, ComparedPage, Evidence, Extraction, Label, Page, by_time
from dbce_spark.streaming.stream.site_pool import SiteEvidence, SitePool
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
        """Extract the content of a page, one line a block, as the tree labels it on its arrival.

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
    """Join the content of a page, one line a block."""
    spans = zip(blocks.starts.tolist(), blocks.ends.tolist(), labelled.labels.tolist(), strict=True)
    return "\n".join(blocks.text[start:end] for start, end, label in spans if label == Label.CONTENT)


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


def arrived(unique: Sequence[Page], config: DbceConfig) -> list[Extraction]:
    """Extract pages as `local.extract_pages` does, each beside only those that had come to its site before it."""
    of_site: dict[str, list[Page]] = defaultdict(list)
    for page in sorted(unique, key=_arrival):
        of_site[page.capture.site].append(page)
    return [_last(pages[: at + 1], config) for pages in of_site.values() for at in range(len(pages))]


def by_site_pool(unique: Sequence[Page], config: DbceConfig) -> list[Extraction]:
    """Extract pages when they come, by what the state of their site keeps, which has no words to make crosses of."""
    return _by_pools(unique, {}, config)


def relabelled(unique: Sequence[Page], config: DbceConfig) -> list[Extraction]:
    """Extract pages as `by_site_pool`, each by its last label: when its site had the most of `stream.relabel_pages`
    that it came to have."""
    classifier = load_classifier(config.label.classifier)
    of_site: dict[str, list[Page]] = defaultdict(list)
    for page in sorted(unique, key=_arrival):
        of_site[page.capture.site].append(page)
    compared = []
    for pages in of_site.values():
        pool, waiting = SitePool(config.stream.pool_pages), []
        for page in pages:
            waiting.append((page, pool.take(page, classifier)))
            if len(pool) in config.stream.relabel_pages:
                waiting = [(one, pool.evidence(one.capture_id, classifier)) for one, _ in waiting]
        compared += [_compared(page, shown) for page, shown in waiting]
    return local.label_pages(compared, config.label)


def primed(unique: Sequence[Page], config: DbceConfig) -> list[Extraction]:
    """Extract pages as `by_site_pool`, where sites begin with pages that a collection has of them: half of them, by
    their ids, which are extracted where the other half is the collection."""
    halves: tuple[list[Page], list[Page]] = ([], [])
    for page in unique:
        halves[int(page.capture_id, 16) % 2].append(page)
    found = []
    for own, others in (halves, halves[::-1]):
        pools_of: dict[str, SitePool] = defaultdict(partial(SitePool, config.stream.pool_pages))
        for page in sorted(others, key=_arrival):
            pools_of[page.capture.site].add(pools.page_features(page), buckets.member(page))
        found += _by_pools(own, pools_of, config)
    return found


def _by_pools(unique: Sequence[Page], begun: Mapping[str, SitePool], config: DbceConfig) -> list[Extraction]:
    """Extract pages when they come to their sites, some of which begin with pages of their own."""
    classifier = load_classifier(config.label.classifier)
    site_pools: dict[str, SitePool] = defaultdict(partial(SitePool, config.stream.pool_pages), begun)
    ordered = sorted(unique, key=_arrival)
    compared = [_compared(page, site_pools[page.capture.site].take(page, classifier)) for page in ordered]
    return local.label_pages(compared, config.label)


def _compared(page: Page, shown: SiteEvidence) -> ComparedPage:
    return local.gather(page, [], pools.page_evidence(page, shown.by_siblings, shown.by_snapshots), "")


def _arrival(page: Page) -> tuple[bool, int, int]:
    capture = page.capture
    return capture.timestamp == 0, capture.timestamp, capture.warc_offset


def _last(pages: Sequence[Page], config: DbceConfig) -> Extraction:
    """Label the last of these pages of a site, beside the others."""
    page = pages[-1]
    own = page.capture_id
    found = sites.choose_crosses_of(buckets.group_by_bucket(buckets.members(pages)), {own}, config)
    annotations = local.annotate_crosses([one.cross for one in found], pages, config).get(own, [])
    gathered = local.gather(page, annotations, _evidence(page, pages, config), crosses.template_id(found))
    return local.label_pages([gathered], config.label)[0]


def _evidence(page: Page, pages: Sequence[Page], config: DbceConfig) -> Evidence:
    """Collect the evidence that pages, `page` among them, give on `page`."""
    if page.features is None:
        return pools.page_evidence(page)
    classifier, own = load_classifier(config.label.classifier), page.capture_id
    looked_at = {one.capture_id: one for one in pages if one.features is not None}
    siblings = {}
    for ids, wanted in pools.sibling_pools(buckets.members(looked_at.values()), config.bucket.cap, {own}):
        siblings.update(classifier.of_siblings([pools.page_features(looked_at[one]) for one in ids], wanted))
    captures = [pools.page_features(one) for one in looked_at.values() if one.capture.url_key == page.capture.url_key]
    snapshots = classifier.of_snapshots(sorted(captures, key=by_time)) if len(captures) > 1 else {}
    return pools.page_evidence(page, siblings.get(own), snapshots.get(own))


def _apart(key: UrlKey, name: str) -> UrlKey:
    """Extend a key by a name where another page has it: every gold page needs a text, and a stream would drop it."""
    return replace(key, branch=(*key.branch, name))
