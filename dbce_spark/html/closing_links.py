"""Links that close one block after the other with the same few words, each to another place: "(about)", "edit", "¶".

Such a recurring link is the site's, as "more" is under each teaser, though it stands in one line with text. Set apart,
it is a block that can be judged by itself. No word of any language is listed: that it recurs shows it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

REPEATED = 3
"""Places that a recurring link leads to, at least: two are as likely by chance."""

_APART = 0.5
"""Distinct targets of a recurring link, as a share of its blocks, at least: a name leads to the same page each time."""

MOST_CHARS = 30
"""Of a recurring link: "Add to the basket" in any language."""

_STOPS = (".", ",", ";", ":", "!", "?", "\u3002", "\uff0c", "\uff01", "\uff1f")
_LETTER = re.compile(r"[^\W_]")
_OPENING = " \v([{|<\u00ab\u2013\u2014\u00b7\u2022-"
_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)


class Closing(NamedTuple):
    """The end of a block that is links and signs alone: its text, where its links lead (the last of them), and how many
    links and texts of links it has."""

    block: int
    text: str
    target: str
    links: int
    texts: int


def closing_texts(
    parts: Sequence[str], linked: Sequence[int], links: Sequence[int], *, to_place: bool
) -> Iterator[tuple[int, str]]:
    """Iterate over the closings that a block may have, the shortest first: of each the first part, which begins a link,
    and the text.

    Signs before the link go with the text, as the bracket of `f(x)<a>¶</a>` does, but for those that open the closing
    (`cut_closing`). A block of links alone has one only if the last of them leads to a place in the page, as that of a
    heading does which is a link itself; its first link is none of it.

    parts: the texts of the block, one behind the other. linked: which of them are in links, ascending. links: the part
    that comes next at each link.
    """
    in_links = {*linked}
    first = -1
    if not _LETTER.search("".join([part for at, part in enumerate(parts) if at not in in_links])):
        if not to_place:
            return
        first = linked[0]
    behind = "".join(parts[linked[-1] + 1 :]).strip()
    if behind.startswith(_STOPS) or _LETTER.search(behind):  # the link is the last word of a sentence, or within one
        return
    begins = in_links.intersection(links)
    text = before = ""
    for at in range(len(parts) - 1, first, -1):
        part = parts[at]
        if at not in in_links and _LETTER.search(part):
            return
        text = (" " if part[:1].isspace() else "") + " ".join((part + text).split())  # as short as the rest is blank
        if len(text) > MOST_CHARS + 1:
            return
        if at in begins:
            closing = text.strip()
            if len(closing) > MOST_CHARS or _DIGIT.search(closing):
                return
            if closing != before:
                yield at, closing
            before = closing


def recurring(closings: Iterable[Closing], link_texts: Iterable[str]) -> list[Closing]:
    """Choose the closings that recur, of each block the longest; a link that as often stands within a line is none of
    them."""
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
    in_links = Counter(map(_without_signs, link_texts))
    in_closings = Counter(_without_signs(one.text) for some in by_text.values() for one in some)
    chosen: dict[int, Closing] = {}
    for text, some in repeated.items():
        words = _without_signs(text)
        if in_links[words] <= 2 * in_closings[words]:
            chosen |= {one.block: one for one in some if one.block not in chosen or one.links > chosen[one.block].links}
    return sorted(chosen.values())


def _without_signs(text: str) -> str:
    """Cut the signs around the words of a text; signs alone stay."""
    words = _WORDS.search(text)
    return words[0] if words else text.strip()


def cut_closing(text: str, closing: str) -> tuple[str, str]:
    """Cut a block's text before its closing; signs that open that, such as a bracket, go with it."""
    rest = text[: -len(closing)]  # the same but for the signs of line breaks
    kept = rest.rstrip(_OPENING) or rest.rstrip()
    return kept, text[len(kept) :].lstrip()
