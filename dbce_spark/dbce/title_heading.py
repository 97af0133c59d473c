"""The title heading of a page: content to a reader who copies the page, and none where titles are kept apart."""

import re

import numpy as np
import numpy.typing as npt

from dbce_spark.model import Page

_BETWEEN = re.compile(r"\s+[|/:·•»–—-]+\s+")
"""What stands between the title of a page and the name of its site: "Harbour opens - The Gazette"."""


_WORD = re.compile(r"\w+")


def without_title(page: Page, is_kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Drop the first kept block that has the words of the title that the page declares, or of one part of it."""
    titles = {_words(part) for part in (page.metadata.title, *_BETWEEN.split(page.metadata.title))} - {()}
    blocks = page.blocks
    for at in np.flatnonzero(is_kept).tolist() if titles else ():
        if _words(blocks.text[blocks.starts[at] : blocks.ends[at]]) in titles:
            left = is_kept.copy()
            left[at] = False
            return left
    return is_kept


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))
