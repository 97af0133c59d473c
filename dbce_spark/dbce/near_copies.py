"""Near-copies: one page under several URLs, which differ in a query, a session, a scheme or a print view.

What they share is the page itself, so that they are no evidence against it: they count as captures of one URL.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dbce_spark.model import TEXT, PageFeatures, by_time

SHARED = 0.95
"""Near-copies hold so large a share of each other's words, each word weighted by how likely it is content: what a page
has in common with its siblings weighs little, what it has for itself weighs most (docs/method.md)."""

_TEXTS_AT_ONCE = 4096
"""Bounds the memory that is taken, whatever the pages."""


def under_one_url(captures: Iterable[PageFeatures]) -> list[PageFeatures]:
    """Return some captures in order of URL and time, those of near-copies under one of their URLs.

    The first capture of a URL stands for it. URLs are taken in order; each joins the earliest URL that it is a
    near-copy of, unless that one has itself joined another.
    """
    ordered = sorted(captures, key=_by_url)
    firsts = {one.url_key: one for one in reversed(ordered)}
    urls = sorted(firsts)
    if len(urls) < 2:
        return ordered
    shared = _shared([firsts[url] for url in urls])
    is_copy = (shared >= SHARED) & (shared.T >= SHARED)
    joins = np.arange(len(urls))
    for at in range(len(urls)):
        before = np.flatnonzero(is_copy[at, :at] & (joins[:at] == np.arange(at)))
        joins[at] = before[0] if len(before) else at
    url_of = {url: urls[at] for url, at in zip(urls, joins.tolist(), strict=True)}
    return sorted((_under(url_of[one.url_key], one) for one in ordered), key=_by_url)


def _by_url(one: PageFeatures) -> tuple[str, int, str]:
    return one.url_key, *by_time(one)


def _under(url_key: str, one: PageFeatures) -> PageFeatures:
    return one if one.url_key == url_key else replace(one, url_key=url_key)


def _shared(captures: Sequence[PageFeatures]) -> npt.NDArray[np.float64]:
    """Compute what share of each one's content mass lies in texts that each other one has: (captures, captures)."""
    owner = np.repeat(np.arange(len(captures)), [len(capture.words) for capture in captures])
    mass = np.concatenate([capture.words.astype(np.int64) * capture.first_scores for capture in captures])
    total = np.bincount(owner, mass, len(captures))
    _, texts = np.unique(np.concatenate([capture.keys[TEXT] for capture in captures]), return_inverse=True)
    pairs, of_pair = np.unique(texts * len(captures) + owner, return_inverse=True)
    of_text, holder = np.divmod(pairs, len(captures))
    is_shared = np.bincount(of_text)[of_text] > 1
    holder, mass = holder[is_shared], np.bincount(of_pair, mass, len(pairs))[is_shared]
    _, column = np.unique(of_text[is_shared], return_inverse=True)
    shared = np.zeros((len(captures), len(captures)))
    columns = int(column.max(initial=-1)) + 1
    for first in range(0, columns, _TEXTS_AT_ONCE):
        last = min(first + _TEXTS_AT_ONCE, columns)
        here = slice(*np.searchsorted(column, (first, last)))
        masses, holds = np.zeros((2, len(captures), last - first))
        masses[holder[here], column[here] - first] = mass[here]
        holds[holder[here], column[here] - first] = 1
        shared += masses @ holds.T
    return shared / np.maximum(total, 1)[:, None]
