"""Show a cross: its five pages side by side, each arm coloured by what it shares with `cur`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.diff import Mask, shared
from dbce_spark.dbce.single import without_evidence
from dbce_spark.html.tokens import spans as token_spans
from dbce_spark.model import ARMS, SIBLING_ARMS, Blocks, Label, Segments
from dbce_spark.report.archived_html import Archived, HtmlGone, archived
from dbce_spark.report.html_frame import document, unlabelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One page of a cross. `document` is empty where it cannot be shown, and `note` says why."""

    name: str
    url: str
    title: str
    timestamp: Any
    similarity: float
    words: int
    shared_words: int
    document: str
    note: str


def fullest(crosses: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Choose the cross with the most arms; of equal ones the most similar."""
    return min(
        crosses,
        key=lambda one: (-one["bits"].count("1"), -(one["up_similarity"] + one["down_similarity"]), one["cross_id"]),
    )


def arms(cross: Mapping[str, Any], cur: Archived, rows: Mapping[str, dict[str, Any]], config: DbceConfig) -> list[Arm]:
    """Build the arms of a cross, without `cur`. `rows` holds the extractions of its captures, by id."""
    return [
        _arm(name, cross, cur, rows[cross[name]], config) for name in ARMS[1:] if cross[name] and cross[name] in rows
    ]


def _arm(name: str, cross: Mapping[str, Any], cur: Archived, row: dict[str, Any], config: DbceConfig) -> Arm:
    words, shared_words, shown, note = 0, 0, "", ""
    try:
        other = unlabelled(archived(row, config))
        mask = _shared_with(other.blocks, cur.blocks, cross[name] < cross["cur"], config)
        words, shared_words = len(mask), int(mask.sum())
        label = Label.BOILERPLATE if name in SIBLING_ARMS else Label.CONTENT
        shown = document(other, other.blocks.text, masked_segments(other.blocks, mask, label))
    except HtmlGone as gone:
        note = str(gone)
    return Arm(
        name=name,
        url=row["url"],
        title=row["title"],
        timestamp=row["timestamp"],
        similarity=cross[f"{name}_similarity"],
        words=words,
        shared_words=shared_words,
        document=shown,
        note=note,
    )


def _shared_with(other: Blocks, cur: Blocks, is_first: bool, config: DbceConfig) -> Mask:
    """Mark the tokens of `other` that stand in `cur`, by the diff that made the annotation: ties hang on the order."""
    if is_first:
        return shared(other.tokens, cur.tokens, config.diff.exact_limit)[0]
    return shared(cur.tokens, other.tokens, config.diff.exact_limit)[1]


def masked_segments(blocks: Blocks, mask: Mask, label: Label) -> Segments:
    """Convert the runs of masked tokens within the blocks to segments with one label; the other text belongs to
    none."""
    runs: list[tuple[int, int, int]] = []
    first = 0
    for block, count in enumerate(blocks.words.tolist()):
        of_block = mask[first : first + count]
        first += count
        if of_block.any():
            offset = int(blocks.starts[block])
            spans = token_spans(blocks.text[offset : int(blocks.ends[block])])
            edges = np.flatnonzero(np.diff(of_block.astype(np.int8), prepend=0, append=0)).tolist()
            runs += [
                (block, offset + spans[start][0], offset + spans[end - 1][1])
                for start, end in zip(edges[::2], edges[1::2], strict=True)
            ]
    columns = np.array(runs, np.int32).reshape(-1, 3)
    return without_evidence(columns[:, 0], columns[:, 1], columns[:, 2], label)
