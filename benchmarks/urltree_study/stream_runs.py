"""Runs of a stream through URL Tree: the blocks that it keeps of each document, and how good that is."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

from benchmarks.urltree_study.similarity_hash import AlikeBlocks
from benchmarks.urltree_study.studied_documents import StudiedDocument
from dbce_spark.evaluation.scoring.metrics import of_counts
from dbce_spark.model import Label
from dbce_spark.streaming.urltree import urltree_settings
from dbce_spark.streaming.urltree.blocks import Keys, block_keys, letters
from dbce_spark.streaming.urltree.domain_tree import Document, DomainTree

Kept = npt.NDArray[np.bool_]
"""(blocks,) of a document: True for the blocks that are labelled content."""
Values = npt.NDArray[np.float64]


def exact_keys(documents: Sequence[StudiedDocument]) -> list[Keys]:
    """Hash the blocks of all documents as `dbce stream` does."""
    name = urltree_settings.load().blocks.hash
    return [block_keys(one.blocks, name) for one in documents]


def alike_keys(documents: Sequence[StudiedDocument], most: int) -> list[Keys]:
    """Give all blocks of a domain whose similarity hashes are within `most` bits one key."""
    seen: dict[str, AlikeBlocks] = {}
    keys = []
    for one in documents:
        blocks = seen.setdefault(one.stream, AlikeBlocks(most))
        texts = [letters(one.blocks.text_of(at).replace("\n", " ")) for at in range(len(one.blocks))]
        keys.append(blocks.number(texts).reshape(-1, 1))
    return keys


def label(documents: Sequence[StudiedDocument], keys: Sequence[Keys], settings: Sequence[str]) -> list[Kept]:
    """Label documents as they arrive, by the shipped parameters with these `settings` laid over them."""
    config = urltree_settings.load(settings=settings)
    trees: dict[str, DomainTree] = {}
    found = []
    for one, own in zip(documents, keys, strict=True):
        tree = trees.setdefault(one.stream, DomainTree(one.key.domain, config))
        arrived = Document(document_id=one.page.page_id, url_key=one.key, timestamp=one.page.timestamp, keys=own)
        found.append(tree.add(arrived)[0].labels == Label.CONTENT)
    return found


def f1(documents: Sequence[StudiedDocument], kept: Sequence[Kept]) -> Values:
    """Score documents: ROUGE-L F1 of the blocks kept with the gold text, the measure of the paper's section 5.2."""
    values = []
    for one, own in zip(documents, kept, strict=True):
        text = [word for at in np.flatnonzero(own).tolist() for word in one.words[at]]
        values.append(of_counts(LCSseq.similarity(one.gold, text), len(one.gold), len(text)).f1)
    return np.array(values)


def left_out(documents: Sequence[StudiedDocument], kept: Sequence[Values]) -> Mapping[str, float]:
    """Return of each kind of blocks the share of words that are left out.

    kept: (blocks,) of each document, the words that are kept of each block.
    """
    words: dict[str, float] = {}
    gone: dict[str, float] = {}
    for one, own in zip(documents, kept, strict=True):
        for kind, count, stays in zip(one.kinds, one.sizes.tolist(), own.tolist(), strict=True):
            words[kind] = words.get(kind, 0.0) + count
            gone[kind] = gone.get(kind, 0.0) + count - stays
    return {kind: gone[kind] / count for kind, count in words.items() if count}
