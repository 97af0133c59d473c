"""The recurrence of a page's gold: how much of it the site repeats, on most of the page's siblings, in the same place.

Such gold disagrees with what siblings show, whoever is right: a form's "required", a shop's address below each page, a
list of news that every page has. A method that compares pages loses there for what it is, so such pages are reported
apart.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.scoring import leaves
from dbce_spark.evaluation.scoring.leaves import Leaves
from dbce_spark.html.dom import PageError

MIN_SIBLINGS = 2
"""Siblings that a page must have: what it has in common with a single one may be chance."""

MAX_RECURRENCE = 0.05
"""Share of a gold's words that recur: who leaves out so many has an F1 of .974 at best. Pages above it are reported
apart."""

GROUPS = ("none", f"up to {100 * MAX_RECURRENCE:g} %", f"over {100 * MAX_RECURRENCE:g} %")

Place = tuple[int, str]
"""A slot, and a text in it."""


def of_set(pages: Sequence[GoldPage]) -> dict[str, float]:
    """Measure the share of each page's gold that recurs, by the id of the page.

    A word recurs if its text node is in more than half of the siblings too, in the same slot. The share is 0 of a page
    with fewer than MIN_SIBLINGS siblings. Siblings are the other pages of its group, as `datasets.siblings` counts
    them; the first capture stands for a page.
    """
    groups: dict[str, list[GoldPage]] = defaultdict(list)
    for page in pages:
        groups[page.group or page.page_id].append(page)
    return {page.page_id: share for some in groups.values() for page, share in _of_group(some)}


def group(share: float) -> str:
    """Name the group of a page by the share of its gold that recurs."""
    return GROUPS[(share > 0) + (share > MAX_RECURRENCE)]


def _of_group(pages: Sequence[GoldPage]) -> Iterator[tuple[GoldPage, float]]:
    latest_first = sorted(pages, key=lambda page: (page.timestamp, page.page_id), reverse=True)
    firsts = {page.url_key: page for page in latest_first}
    siblings = len(firsts) - 1
    if siblings < MIN_SIBLINGS:
        yield from ((page, 0.0) for page in pages)
        return
    places = {url_key: {*_nodes(page)[1]} for url_key, page in firsts.items()}
    holders = Counter(place for of_page in places.values() for place in of_page)
    for page in pages:
        found, at = _nodes(page)
        own = places[page.url_key]
        recurs = [2 * (holders[place] - (place in own)) > siblings for place in at]
        in_gold = [
            (len(words), again)
            for words, again, held in zip(found.words, recurs, leaves.held(found, page.gold).tolist(), strict=True)
            if held
        ]
        yield page, sum(count * again for count, again in in_gold) / max(sum(count for count, _ in in_gold), 1)


def _nodes(page: GoldPage) -> tuple[Leaves, list[Place]]:
    """List the text nodes of a page, and the place of each; none of a page that cannot be parsed."""
    try:
        found, slots = leaves.parse_in_slots(page.html)
    except PageError:
        return leaves.NONE, []
    return found, [(slot, " ".join(words)) for slot, words in zip(slots, found.words, strict=True)]
