"""The title heading of a page: content to a reader who copies the page, and none where titles are kept apart."""

import re

import numpy as np
import numpy.typing as npt

from dbce_spark.model import Page

_BETWEEN = re.compile(r"\s+[|/:·•»–—-]+\s+")
"""Signs between the title of a page and the name of its site: "Harbour opens - The Gazette"."""


_WORD = re.compile(r"\w+")


def without_title(page: Page, is_kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Drop the first kept block that has the words of the title that the page declares, or of one part of it."""
    titles, blocks = _titles(page), page.blocks
    for at in np.flatnonzero(is_kept).tolist() if titles else ():
        if _words(blocks.text[blocks.starts[at] : blocks.ends[at]]) in titles:
            left = is_kept.copy()
            left[at] = False
            return left
    return is_kept


def title_blocks(page: Page) -> dict[int, str]:
    """Return the text of each block that `without_title` may drop, by its index in ascending order."""
    titles, blocks = _titles(page), page.blocks
    texts = (blocks.text[start:end] for start, end in zip(blocks.starts.tolist(), blocks.ends.tolist(), strict=True))
    return {at: text for at, text in enumerate(texts) if _words(text) in titles} if titles else {}


def _titles(page: Page) -> set[tuple[str, ...]]:
    """List the words of the title that the page declares, and of each part of it."""
    return {_words(part) for part in (page.metadata.title, *_BETWEEN.split(page.metadata.title))} - {()}


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))
