"""Pages as they come to their sites, each labelled by DBCE with what has come before."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, crosses, page_labels, pools, sites
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.model import ComparedPage, Evidence, Extraction, Page, by_time
from dbce_spark.streaming.stream.site_pool import SiteEvidence, SitePool


def arrived(unique: Sequence[Page], config: DbceConfig) -> list[Extraction]:
    """Extract pages as `local.extract_pages` does, each beside only those that had come to its site before it."""
    return [_last(pages[: at + 1], config) for pages in _by_site(unique) for at in range(len(pages))]


def by_site_pool(unique: Sequence[Page], config: DbceConfig) -> list[Extraction]:
    """Extract pages when they come, by what the state of their site keeps, which has no words to make crosses of."""
    return _by_pools(unique, {}, config)


def relabelled(unique: Sequence[Page], config: DbceConfig) -> list[Extraction]:
    """Extract pages as `by_site_pool`, each by its last label: when its site had the most of `stream.relabel_pages`
    that it came to have."""
    classifier = load_classifier(config.label.classifier)
    compared = []
    for pages in _by_site(unique):
        pool, waiting = _pool(config), []
        for page in pages:
            waiting.append((page, pool.take(page, classifier)))
            if len(pool) in config.stream.relabel_pages:
                waiting = [
                    (one, pool.evidence(one.capture_id, classifier) if one.capture_id in pool else shown)
                    for one, shown in waiting
                ]
        compared += [_compared(page, shown) for page, shown in waiting]
    return page_labels.label_pages(compared, config.label)


def primed(unique: Sequence[Page], config: DbceConfig) -> list[Extraction]:
    """Extract pages as `by_site_pool`, where sites begin with pages that a collection has of them: half of them, by
    their ids, which are extracted where the other half is the collection."""
    halves: tuple[list[Page], list[Page]] = ([], [])
    for page in unique:
        halves[int(page.capture_id, 16) % 2].append(page)
    found = []
    for own, others in (halves, halves[::-1]):
        pools_of: dict[str, SitePool] = defaultdict(partial(_pool, config))
        for page in sorted(others, key=_arrival):
            pools_of[page.capture.site].add(pools.page_features(page), buckets.member(page))
        found += _by_pools(own, pools_of, config)
    return found


def _by_pools(unique: Sequence[Page], begun: Mapping[str, SitePool], config: DbceConfig) -> list[Extraction]:
    """Extract pages when they come to their sites, some of which begin with pages of their own."""
    classifier = load_classifier(config.label.classifier)
    site_pools: dict[str, SitePool] = defaultdict(partial(_pool, config), begun)
    ordered = sorted(unique, key=_arrival)
    compared = [_compared(page, site_pools[page.capture.site].take(page, classifier)) for page in ordered]
    return page_labels.label_pages(compared, config.label)


def _pool(config: DbceConfig) -> SitePool:
    return SitePool(config.stream.pool_pages, config.stream.pool_blocks)


def _by_site(unique: Sequence[Page]) -> list[list[Page]]:
    """Group pages by site, those of a site in the order of their arrival."""
    of_site: dict[str, list[Page]] = defaultdict(list)
    for page in sorted(unique, key=_arrival):
        of_site[page.capture.site].append(page)
    return [*of_site.values()]


def _compared(page: Page, shown: SiteEvidence) -> ComparedPage:
    return sites.gather(page, [], pools.page_evidence(page, shown.by_siblings, shown.by_snapshots), "")


def _arrival(page: Page) -> tuple[bool, int, int]:
    capture = page.capture
    return capture.timestamp == 0, capture.timestamp, capture.warc_offset


def _last(pages: Sequence[Page], config: DbceConfig) -> Extraction:
    """Label the last of these pages of a site, beside the others."""
    page = pages[-1]
    own = page.capture_id
    found = sites.choose_crosses_of(buckets.group_by_bucket(buckets.members(pages)), {own}, config)
    annotations = sites.annotate_crosses([one.cross for one in found], pages, config).get(own, [])
    gathered = sites.gather(page, annotations, _evidence(page, pages, config), crosses.template_id(found))
    return page_labels.label_pages([gathered], config.label)[0]


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
