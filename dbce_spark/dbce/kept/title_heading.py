"""The title heading of a page: content to a reader who copies the page, and none where titles are kept apart."""

import re
from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier.block_scores import Scores
from dbce_spark.dbce.classifier.units import CUT_OF_FAVOR
from dbce_spark.html.metadata import TITLE_SIGN
from dbce_spark.model import Page

_WORD = re.compile(r"[^\W_]+")
_SHARED = 0.5
"""Words of a heading that the title has, as a share, at least. Of 143 headings of wcxb that have them 52 are in its
gold, which mostly leaves titles out."""

_PART_OF_CUT = 0.6
"""Of the score from which on other blocks are content. Of the headings with scores from .1 to .19, on 1,458 pages,
readers left out more than they kept (docs/method.md, which blocks are kept)."""


def with_title(page: Page, scores: Scores, is_kept: npt.NDArray[np.bool_], favor: str) -> npt.NDArray[np.bool_]:
    """Keep the main heading of a page of which anything is kept by its own score alone, whatever is around it: it
    stands between the menu and the text. If the title has all of its words, it is kept from a lower score on."""
    heading = main_heading(page)
    if heading is None or is_kept[heading] or not is_kept.any():
        return is_kept
    part = _PART_OF_CUT if is_of_title(page, heading) else 1.0
    if scores[heading] < part * CUT_OF_FAVOR[favor]:
        return is_kept
    more = is_kept.copy()
    more[heading] = True
    return more


def main_heading(page: Page) -> int | None:
    """Find the block of a page's only <h1>, by its index; a link that closes it is another, and does not count."""
    xpaths = page.blocks.xpaths
    headings = [at for at, one in enumerate(xpaths) if is_main_heading(one) and not (at and one == xpaths[at - 1])]
    return headings[0] if len(headings) == 1 else None


def is_of_title(page: Page, heading: int) -> bool:
    """Test for a heading that says no word which the page's title lacks."""
    words = {*_words(page.blocks.text_of(heading))}
    return bool(words) and words <= {*_words(page.metadata.title)}


def without_title(page: Page, is_kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Drop the title heading from the kept blocks: the first with the words of the title that the page declares, or of
    one part of it. Where there is none, it is the only kept block of an <h1>, if the kept text begins with it and it
    shares words with the title: many a title is reworded for search engines."""
    title = _title(page, np.flatnonzero(is_kept).tolist())
    if title is None:
        return is_kept
    left = is_kept.copy()
    left[title] = False
    return left


def title_blocks(page: Page) -> dict[int, str]:
    """Return the text of each block that `without_title` may drop, by its index in ascending order."""
    titles, blocks = _titles(page), page.blocks
    texts = {at: blocks.text_of(at) for at in range(len(blocks)) if titles}
    return {at: text for at, text in texts.items() if is_main_heading(blocks.xpaths[at]) or _words(text) in titles}


def is_main_heading(xpath: str) -> bool:
    """Test for a block in an <h1>, by its XPath."""
    return "/h1[" in xpath


def _title(page: Page, kept: Sequence[int]) -> int | None:
    titles, blocks = _titles(page), page.blocks
    words_of = {at: _words(blocks.text_of(at)) for at in kept if titles}
    for at, words in words_of.items():
        if words in titles:
            return at
    headings = [at for at in words_of if is_main_heading(blocks.xpaths[at])]
    if len(headings) != 1 or headings[0] != kept[0]:
        return None
    words, of_title = words_of[kept[0]], set(chain.from_iterable(titles))
    return kept[0] if sum(word in of_title for word in words) >= _SHARED * max(len(words), 1) else None


def _titles(page: Page) -> set[tuple[str, ...]]:
    """List the words of the title that the page declares, and of each part of it."""
    return {_words(part) for part in (page.metadata.title, *TITLE_SIGN.split(page.metadata.title))} - {()}


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))
