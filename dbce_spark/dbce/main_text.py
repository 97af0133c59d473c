"""The main text of a page: its content segments, a line a block (thesis 2.4, stage 3)."""

import numpy as np

from dbce_spark.html.structure.kept_media import Kept
from dbce_spark.html.structure.kept_text import is_visible
from dbce_spark.model import Label, Segments


def text(page_text: str, segments: Segments) -> str:
    """Join the content segments, one line a block; what a block holds between two of them is left out."""
    chosen = np.flatnonzero(segments.labels == Label.CONTENT)
    columns = (segments.blocks[chosen], segments.starts[chosen], segments.ends[chosen])
    lines: list[str] = []
    last_block, last_end = -1, 0
    for block, start, end in zip(*(column.tolist() for column in columns), strict=True):
        between = page_text[last_end:start]
        if block != last_block:
            lines.append(page_text[start:end])
        elif between.strip():
            lines[-1] += " " + page_text[start:end]
        else:
            lines[-1] += between + page_text[start:end]
        last_block, last_end = block, end
    return "\n".join(lines)


def kept_characters(page_text: str, segments: Segments) -> Kept:
    """Tell of each character of the page text that is no white space whether it is content."""
    is_content = segments.labels == Label.CONTENT
    edges = np.zeros(len(page_text) + 1, np.int32)
    edges[segments.starts[is_content]] += 1
    edges[segments.ends[is_content]] -= 1
    kept: Kept = np.cumsum(edges[:-1])[is_visible(page_text)] > 0
    return kept
