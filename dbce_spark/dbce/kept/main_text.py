"""The main text of a page: its content segments, in lines as the page text has them (thesis 2.4, stage 3)."""

from collections.abc import Iterable, Sequence
from itertools import compress

import numpy as np

from dbce_spark.html.structure.kept_media import Kept
from dbce_spark.html.structure.kept_text import visible_before
from dbce_spark.model import Label, Segments


def text(page_text: str, segments: Segments) -> str:
    """Join the content segments of a page."""
    chosen = np.flatnonzero(segments.labels == Label.CONTENT)
    columns = (segments.blocks[chosen], segments.starts[chosen], segments.ends[chosen])
    return _joined(page_text, zip(*(column.tolist() for column in columns), strict=True))


def of_blocks(page_text: str, starts: Sequence[int], ends: Sequence[int], labels: Sequence[int]) -> str:
    """Join the content blocks of a page whose blocks are labelled as wholes."""
    blocks = range(len(labels))
    return _joined(
        page_text, compress(zip(blocks, starts, ends, strict=True), (one == Label.CONTENT for one in labels))
    )


def _joined(page_text: str, spans: Iterable[tuple[int, int, int]]) -> str:
    """Join spans of a page text: a line a block or more, a tab between cells of a row, as the page text has them, and a
    space between the blocks of a cell.

    What a block holds between two of its spans is left out. spans: block, start and end of each, in page order.
    """
    parts: list[str] = []
    last_block, last_end = -1, 0
    for block, start, end in spans:
        if parts:
            between = page_text[last_end:start]
            if block != last_block:
                between = _separator(between)
            elif between.strip():
                between = " "
            parts.append(between)
        parts.append(page_text[start:end])
        last_block, last_end = block, end
    return "".join(parts)


def _separator(between: str) -> str:
    """Return what parts two blocks, by the page text between them, which may hold blocks that are left out."""
    _, newline, row = between.rpartition("\n")
    if not newline:
        return "\t" * row.count("\t") or " "
    return "\n" if row.strip("\t") else newline + row


def kept_characters(page_text: str, segments: Segments) -> Kept:
    """Mark the content among the characters of the page text that are no white space."""
    is_content = segments.labels == Label.CONTENT
    before = visible_before(page_text)
    starts, ends = before[segments.starts[is_content]], before[segments.ends[is_content]]
    kept = np.zeros(before[-1], np.bool_)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        kept[start:end] = True
    return kept
