"""The merge of a capture's annotations from several crosses (thesis 2.4, figure 2.10).

Merging is the union of sets of annotations, each named by its cross (`sites.gather`): commutative, associative and
idempotent as unions are. The labels are decided once, by `resolve`, when the union is whole.
"""

import dataclasses
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce import single
from dbce_spark.dbce.patterns import labels_of_bits
from dbce_spark.html.tokens import spans as token_spans
from dbce_spark.model import (
    SIBLING_ARMS,
    SNAPSHOT_ARMS,
    Annotation,
    Blocks,
    ComparedPage,
    Ints,
    Label,
    Segments,
    arm_bit,
)


def label_by_scores(one: ComparedPage, scores: npt.NDArray[np.float64], is_kept: npt.NDArray[np.bool_]) -> Segments:
    """Label the segments of a page: each has the score of its block, and is content where that block is kept."""
    blocks, annotations = one.page.blocks, one.annotations
    segments = resolve(blocks, annotations, undecided=Label.UNDECIDED) if annotations else single.unlabelled(blocks)
    labels = np.where(is_kept[segments.blocks], Label.CONTENT, Label.BOILERPLATE).astype(np.uint8)
    return dataclasses.replace(segments, labels=labels, scores=scores[segments.blocks].astype(np.float32))


def label_by_patterns(one: ComparedPage, test_case: str) -> Segments:
    """Label the segments of a page by the bit patterns of its crosses: T001, or T002 for undecided as boilerplate.

    Without a cross there is no pattern; then the page's own words and links decide.
    """
    if not one.annotations:
        return single.segments(one.page.blocks)
    undecided = Label.BOILERPLATE if test_case == "T002" else Label.UNDECIDED
    return resolve(one.page.blocks, one.annotations, undecided=undecided)


def resolve(blocks: Blocks, annotations: Iterable[Annotation], *, undecided: Label) -> Segments:
    """Cut a capture into segments, and label each by all its crosses together.

    Crosses that agree give their label, the undecided ones aside. Where some have content and some boilerplate, the
    evidence decides: siblings that lack the text and snapshots that keep it are evidence for content, siblings that
    have it and snapshots that lack it against. A draw, like a segment on which all crosses are undecided, gets the
    label `undecided`.
    """
    ordered = sorted(annotations, key=lambda annotation: annotation.cross.cross_id)
    block_starts = np.concatenate(([0], np.cumsum(blocks.words)[:-1])).astype(np.int32)
    # The first token of each segment: where a block begins, or the bits change in any cross.
    firsts = np.unique(np.concatenate([block_starts, *(annotation.ends[:-1] for annotation in ordered)]))
    bits = np.stack([one.bits[np.searchsorted(one.ends, firsts, side="right")] for one in ordered])
    labels = np.stack([labels_of_bits(one.cross.bits, of_one) for one, of_one in zip(ordered, bits, strict=True)])
    siblings, siblings_with = _presence(ordered, bits, SIBLING_ARMS)
    snapshots, snapshots_with = _presence(ordered, bits, SNAPSHOT_ARMS)
    evidence_for = siblings - siblings_with + snapshots_with
    evidence_against = siblings_with + snapshots - snapshots_with
    content, boilerplate = (labels == Label.CONTENT).any(axis=0), (labels == Label.BOILERPLATE).any(axis=0)
    conflicts = content & boilerplate
    content = np.where(conflicts, evidence_for > evidence_against, content)
    boilerplate = np.where(conflicts, evidence_for < evidence_against, boilerplate)
    in_block = (np.searchsorted(block_starts, firsts, side="right") - 1).astype(np.int32)
    starts, ends = _spans(blocks, block_starts, firsts, in_block)
    return Segments(
        blocks=in_block,
        starts=starts,
        ends=ends,
        labels=np.select([content, boilerplate], [Label.CONTENT, Label.BOILERPLATE], undecided).astype(np.uint8),
        scores=(evidence_for / (evidence_for + evidence_against)).astype(np.float32),
        bits=bits[0],
        siblings=np.full(len(firsts), siblings, np.int32),
        siblings_with=siblings_with,
        snapshots=np.full(len(firsts), snapshots, np.int32),
        snapshots_with=snapshots_with,
        conflicts=conflicts,
    )


def _presence(annotations: Iterable[Annotation], bits: npt.NDArray[np.uint8], arms: Iterable[str]) -> tuple[int, Ints]:
    """Count the different captures on these arms in all crosses, and those of them that hold each segment."""
    holds: dict[str, npt.NDArray[np.bool_]] = {}
    for annotation, of_one in zip(annotations, bits, strict=True):
        for arm in arms:
            if capture_id := getattr(annotation.cross, arm):
                holds[capture_id] = (of_one & arm_bit(arm)) != 0
    none = np.zeros(bits.shape[1], np.int32)
    return len(holds), sum((held.astype(np.int32) for held in holds.values()), none)


def _spans(blocks: Blocks, block_starts: Ints, firsts: Ints, in_block: Ints) -> tuple[Ints, Ints]:
    """Find the span of each segment in the page text. Only blocks of several segments need their words looked up."""
    starts, ends = blocks.starts[in_block], blocks.ends[in_block]
    continues = np.flatnonzero(firsts != block_starts[in_block])
    spans: list[tuple[int, int]] = []
    last_block = -1
    for at in continues.tolist():
        block = int(in_block[at])
        if block != last_block:
            last_block, offset = block, int(blocks.starts[block])
            spans = token_spans(blocks.text[offset : int(blocks.ends[block])])
        token = int(firsts[at] - block_starts[block])
        starts[at] = offset + spans[token][0]
        ends[at - 1] = offset + spans[token - 1][1]
    return starts, ends
