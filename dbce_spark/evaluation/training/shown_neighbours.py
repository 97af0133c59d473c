"""Neighbours of examples, all or few of them, and what they show about each block."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, crosses, pools, sites
from dbce_spark.dbce.classifier import evidence
from dbce_spark.dbce.classifier.classify import block_keys
from dbce_spark.dbce.classifier.features import Columns
from dbce_spark.evaluation.training.example_columns import Scores, with_scores
from dbce_spark.evaluation.training.training_examples import Example, batches
from dbce_spark.model import Annotation, Cross, PageFeatures

FEW = 3
"""Most siblings of a page that is shown with few of them."""


@dataclass(frozen=True, slots=True)
class ShownNeighbours:
    """The neighbours of a page: the pools it is a wanted member of, and its crosses annotated.

    Snapshots are not learned from: those of few sites would teach what kind of sites have some (docs/quality.md)."""

    siblings: tuple[str, ...]
    annotations: tuple[Annotation, ...]


def find_all(examples: Sequence[Example], config: DbceConfig) -> dict[str, ShownNeighbours]:
    """Find the neighbours of each page when nothing is hidden, by capture id: exactly as in a run over all of them."""
    pages = [one.page for one in examples]
    siblings: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for pool, wanted in pools.sibling_pools(buckets.members(pages), config.bucket.cap):
        siblings |= {capture_id: tuple(pool) for capture_id in wanted}
    found = sites.choose_crosses(buckets.members(pages), config)
    annotated = sites.annotate_crosses([one.cross for one in found], pages, config)
    return {
        one.capture_id: ShownNeighbours(siblings[one.capture_id], tuple(annotated[one.capture_id])) for one in pages
    }


def hide_most(
    examples: Sequence[Example], every: Mapping[str, ShownNeighbours], config: DbceConfig, seed: int
) -> dict[str, ShownNeighbours]:
    """Hide siblings at random: half of the pages keep none of them, the others at most FEW.

    Else a page without siblings would reveal its kind of site: in a collection of news sites only the odd pages
    have none.
    """
    urls = {one.page.capture_id: one.page.capture.url_key for one in examples}
    chosen: dict[str, tuple[str, ...]] = {}
    few_crosses: list[Cross] = []
    for one in examples:
        capture_id, draw = one.page.capture_id, random.Random(f"{seed}/{one.page.capture_id}")
        others = sorted({other for other in every[capture_id].siblings if urls[other] != urls[capture_id]})
        some = draw.sample(others, min(draw.randint(1, FEW), len(others))) if draw.random() < 0.5 else []
        chosen[capture_id] = (capture_id, *some) if some else ()
        if some:
            few_crosses.append(crosses.of_siblings(capture_id, some))
    annotated = sites.annotate_crosses(few_crosses, [one.page for one in examples], config)
    return {
        capture_id: ShownNeighbours(some, tuple(annotated.get(capture_id, ()))) for capture_id, some in chosen.items()
    }


def page_features(examples: Sequence[Example], scores: Scores) -> dict[str, PageFeatures]:
    """Collect the features of the pages that their neighbours see, by capture id."""
    found: dict[str, PageFeatures] = {}
    for some, (pages, of_blocks) in zip(batches(examples), with_scores(examples, scores), strict=True):
        keys = block_keys(pages)
        for at, one in enumerate(some):
            rows = slice(int(pages.starts[at]), int(pages.starts[at + 1]))
            found[one.page.capture_id] = PageFeatures(
                capture_id=one.page.capture_id,
                url_key=one.page.capture.url_key,
                timestamp=one.page.capture.timestamp,
                words=one.page.blocks.words,
                link_words=one.page.blocks.link_words,
                first_scores=of_blocks[rows].astype(np.uint16),
                keys=np.ascontiguousarray(keys[:, rows]),
            )
    return found


def evidence_columns(
    examples: Sequence[Example], shown: Mapping[str, ShownNeighbours], seen: Mapping[str, PageFeatures]
) -> dict[str, list[Columns]]:
    """Compute the features of each page's blocks from siblings and from crosses; empty where there are none."""
    wanted: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for example in examples:
        wanted[shown[example.page.capture_id].siblings].add(example.page.capture_id)
    of_pools = {some: evidence.of_siblings([seen[other] for other in some], ids) for some, ids in wanted.items()}
    found: dict[str, list[Columns]] = {"siblings": [], "crosses": []}
    for example in examples:
        capture_id, words_of = example.page.capture_id, example.page.blocks.words
        one = shown[capture_id]
        found["siblings"].append(of_pools[one.siblings].get(capture_id) or {})
        found["crosses"].append(evidence.of_crosses(words_of, one.annotations))
    return found
