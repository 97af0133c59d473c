"""Pages without siblings: there is no evidence on them but themselves.

Where labels come from bit patterns alone, the numbers of words and links of a block decide.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dbce_spark.model import Blocks, Ints, Label, Segments, arm_bit


def segments(blocks: Blocks) -> Segments:
    """Make one segment a block, content or boilerplate by `main_blocks`, with no evidence for or against it."""
    labels = np.where(main_blocks(blocks), Label.CONTENT, Label.BOILERPLATE).astype(np.uint8)
    return dataclasses.replace(unlabelled(blocks), labels=labels)


def unlabelled(blocks: Blocks) -> Segments:
    """Make one segment a block, undecided, with no evidence."""
    return without_evidence(np.arange(len(blocks), dtype=np.int32), blocks.starts, blocks.ends, Label.UNDECIDED)


def of_spans(spans: Sequence[tuple[int, int]]) -> Segments:
    """Make one segment a span of characters, undecided, with no evidence, as if each were a block of its own."""
    starts, ends = np.array(spans, np.int32).reshape(-1, 2).T.copy()
    return without_evidence(np.arange(len(spans), dtype=np.int32), starts, ends, Label.UNDECIDED)


def without_evidence(blocks: Ints, starts: Ints, ends: Ints, label: Label) -> Segments:
    """Make segments at these places, all of one label, that were compared with nothing."""
    count = len(blocks)
    none = np.zeros(count, np.int32)
    return Segments(
        blocks=blocks,
        starts=starts,
        ends=ends,
        labels=np.full(count, label, np.uint8),
        scores=np.full(count, 0.5, np.float32),
        bits=np.full(count, arm_bit("cur"), np.uint8),
        siblings=none,
        siblings_with=none,
        snapshots=none,
        snapshots_with=none,
        conflicts=np.zeros(count, np.bool_),
    )


def main_blocks(blocks: Blocks) -> npt.NDArray[np.bool_]:
    """Mark the blocks that read like main content by their number of words and links, and their neighbours'.

    The decision tree of Kohlschütter, Fankhauser and Nejdl, *Boilerplate Detection using Shallow Text Features* (WSDM
    2010), algorithm 2; its constants are theirs.
    """
    words = blocks.words.astype(np.float64)
    links = blocks.link_words / np.maximum(words, 1)
    words_before, words_after = _shifted(words)
    links_before, _ = _shifted(links)
    by_length = (words > 16) | (words_after > 15) | (words_before > 4)
    behind_links = (words > 40) | (words_after > 17)
    return (links <= 1 / 3) & np.where(links_before <= 0.555556, by_length, behind_links)


def _shifted(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Shift values by one block either way: those of the block before and of the one behind, 0 beyond the ends."""
    return np.concatenate(([0.0], values[:-1])), np.concatenate((values[1:], [0.0]))
