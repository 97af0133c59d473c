"""Body text extraction: the stretch of a page with most words inside and most tags outside.

Finn, Kushmerick and Smyth, "Fact or fiction: content classification for digital libraries" (2001), section 3.1. A page
is a sequence of tokens B, where B_n is 1 for a tag and 0 for a word. The body reaches from i to j such that

    T(i, j) = sum of B_n before i  +  sum of 1 - B_n from i to j  +  sum of B_n behind j

is largest. All tags together are a constant, so T is that constant plus the sum of +1 for a word and -1 for a tag from
i to j: the stretch with the largest sum, which one pass finds.
"""

import html
import re

import numpy as np
import numpy.typing as npt

from dbce_spark.evaluation.extracting.child_process import Extract
from dbce_spark.html.elements import LINE_END_TAGS
from dbce_spark.html.tokens import tokens

_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?:script|style)\b.*?(?:</(?:script|style)\s*>|\Z)"
    r"|</?(?P<tag>[a-z][^\s/>]*)(?:=\s*+(?:\"[^\"]*\"|'[^']*')|[^>=]+|=)*>?"
    r"|<[!?][^>]*>?",
    re.IGNORECASE | re.DOTALL,
)
"""A comment, a script or a style with all it holds, a tag, or a declaration: only a tag has a name, and counts."""


def load() -> Extract:
    """Return the extractor, which needs nothing but the core."""
    return lambda page, lang: extract(page)


def extract(page: str) -> str:
    """Extract the body of a page of HTML: its words, with a line break where a block begins or ends."""
    pieces: list[str] = []
    weights: list[int] = []
    behind = 0
    for markup in _MARKUP.finditer(page):
        text = html.unescape(page[behind : markup.start()])
        tag = (markup["tag"] or "").lower()
        pieces += text, "\n" if tag in LINE_END_TAGS else ""
        weights += len(tokens(text)), -1 if tag else 0
        behind = markup.end()
    text = html.unescape(page[behind:])
    first, end = heaviest([*weights, len(tokens(text))])
    return "".join([*pieces, text][first:end]).strip()


def heaviest(weights: npt.ArrayLike) -> tuple[int, int]:
    """Find the slice of weights, shape (n,), with the largest sum, as first and end; (0, 0) if none is above 0.

    Of several it is the one that ends first, and of those the shortest.
    """
    sums = np.concatenate([[0], np.cumsum(np.asarray(weights, np.int64))])
    lowest = np.minimum.accumulate(sums)  # the best sum to begin behind, for each end
    end = int(np.argmax(sums - lowest))
    first = int(np.flatnonzero(sums[: end + 1] == lowest[end])[-1])
    return (first, end) if first < end else (0, 0)
