"""The classifier with part of its evidence hidden: what siblings are worth, and snapshots, on the same pages."""

from collections.abc import Mapping, Sequence

import xxhash

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, crosses, page_labels, pools, sites
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.model import Evidence, Extraction, Page


def extractions(
    unique: Sequence[Page], config: DbceConfig, *, siblings: int | None, snapshots: bool
) -> list[Extraction]:
    """Extract pages as `local.extract_pages` does, with or without snapshots, showing each at most `siblings` siblings
    (None: all), which are chosen at random, the same ones in every run."""
    evidence = pools.evidence(unique, config.bucket.cap, lambda: load_classifier(config.label.classifier))
    if siblings is None:
        chosen = [one.cross for one in sites.choose_crosses(buckets.members(unique), config)]
    else:
        siblings_of = _some_siblings(unique, config, siblings)
        evidence = {page.capture_id: _page_evidence(page, evidence, siblings_of, config) for page in unique}
        chosen = [
            crosses.of_siblings(capture_id, [one.capture_id for one in shown])
            for capture_id, shown in siblings_of.items()
            if shown
        ]
    annotations = sites.annotate_crosses(chosen, unique, config)
    gathered = [
        sites.gather(
            page,
            annotations.get(page.capture_id, []),
            evidence[page.capture_id] if snapshots else pools.page_evidence(page, evidence[page.capture_id].siblings),
            "",
        )
        for page in unique
    ]
    return page_labels.label_pages(gathered, config.label)


def _some_siblings(unique: Sequence[Page], config: DbceConfig, most: int) -> dict[str, list[Page]]:
    """Choose for each page, by its id, at most `most` pages of its pool, of different URLs."""
    pages = {page.capture_id: page for page in unique}
    chosen: dict[str, list[Page]] = {}
    for pool, members in pools.sibling_pools(buckets.members(unique), config.bucket.cap):
        for capture_id in members:
            own = pages[capture_id].capture.url_key
            by_url = {pages[other].capture.url_key: pages[other] for other in pool}
            candidates = [page for url_key, page in by_url.items() if url_key != own]
            candidates.sort(key=lambda page: xxhash.xxh3_64_intdigest(f"{own} {page.capture.url_key}".encode()))
            chosen[capture_id] = candidates[:most]
    return chosen


def _page_evidence(
    page: Page, evidence: Mapping[str, Evidence], shown: Mapping[str, Sequence[Page]], config: DbceConfig
) -> Evidence:
    snapshots = evidence[page.capture_id].snapshots
    features = [pools.page_features(one) for one in (page, *shown.get(page.capture_id, ()))]
    siblings = load_classifier(config.label.classifier).of_siblings(features, [page.capture_id])
    return pools.page_evidence(page, siblings.get(page.capture_id), snapshots if len(snapshots) else None)
