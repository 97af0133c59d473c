"""Links that close one block after the other with the same few words, each to another place: "(about)", "edit", "¶".

Such a recurring link is the site's, as "more" is under each teaser, though it stands in one line with text. Set apart,
it is a block that can be judged by itself. No word of any language is listed: that it recurs shows it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

REPEATED = 3
"""Places that a recurring link leads to, at least: two are as likely by chance."""

_APART = 0.5
"""Distinct targets of a recurring link, as a share of its blocks, at least: a name leads to the same page each time."""

MOST_CHARS = 30
"""Of a recurring link: "Add to the basket" in any language."""

_STOPS = (".", ",", ";", ":", "!", "?", "\u3002", "\uff0c", "\uff01", "\uff1f")
_SAID = re.compile(r"[^\W_]")
_OPENING = " \v([{|<\u00ab\u2013\u2014\u00b7\u2022-"
_DIGIT = re.compile(r"\d")


class Closing(NamedTuple):
    """The end of a block that is links and signs alone: its text, where its links lead (the last of them), and how many
    links and texts of links it has."""

    block: int
    text: str
    target: str
    links: int
    texts: int


def closing_text(parts: Sequence[str], linked: Sequence[int]) -> tuple[int, str]:
    """Find the first part of a block's closing, which is a link, and its text; "" where it has none or is all of it.

    Signs before the link go with the text, as the bracket of `f(x)<a>¶</a>` does, but for those that open the closing
    (`cut_closing`).

    parts: the texts of the block, one behind the other. linked: which of them are in links, ascending.
    """
    first, rest = len(parts), len(linked)
    if "".join(parts[linked[-1] + 1 :]).strip().startswith(_STOPS):  # the link is the last word of a sentence
        return first, ""
    while first:
        if rest and linked[rest - 1] == first - 1:
            rest -= 1
        elif _SAID.search(parts[first - 1]):
            break
        first -= 1
    if not first or rest == len(linked):
        return first, ""
    first = linked[rest]
    text = " ".join("".join(parts[first:]).split())
    return first, "" if len(text) > MOST_CHARS or _DIGIT.search(text) else text


def recurring(closings: Iterable[Closing], link_texts: Iterable[str]) -> list[Closing]:
    """Choose the closings that recur; a link that as often stands within a line is none of them."""
    by_text: dict[str, list[Closing]] = defaultdict(list)
    for one in closings:
        by_text[one.text].append(one)
    repeated = {
        text: some
        for text, some in by_text.items()
        if len({one.target for one in some}) >= max(REPEATED, _APART * len(some))
    }
    if not repeated:
        return []
    times = Counter(text.strip() for text in link_texts)
    return sorted(one for text, some in repeated.items() if times[text] <= 2 * len(some) for one in some)


def cut_closing(text: str, closing: str) -> tuple[str, str]:
    """Cut a block's text before its closing; signs that open that, such as a bracket, go with it."""
    rest = text[: -len(closing)]  # the same but for the signs of line breaks
    kept = rest.rstrip(_OPENING) or rest.rstrip()
    return kept, text[len(kept) :].lstrip()
