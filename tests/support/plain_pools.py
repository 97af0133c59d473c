"""Pools of pages counted one block after the other, as the method counts them in columns."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from dbce_spark.dbce.near_copies import SHARED
from dbce_spark.model import (
    TEXT,
    PageFeatures,
)
from tests.support.strategies import captures_of_few_texts


@st.composite
def pools(draw: st.DrawFn, urls: str = "uvwx", max_size: int = 6) -> list[PageFeatures]:
    """Draw captures of few URLs and few texts."""
    count = draw(st.integers(0, max_size))
    return [draw(captures_of_few_texts(st.sampled_from(urls), f"id{at}")) for at in range(count)]


def share(part: float, whole: float) -> float:
    """Compute the share of a part in a whole, which may be nothing."""
    return part / max(whole, 1)


def plainly_joined(pool: list[PageFeatures]) -> list[PageFeatures]:
    """Put near-copies under one URL, pair by pair."""
    first = first_captures(pool)
    url_of: dict[str, str] = {}
    for url in sorted(first):
        same = [other for other in sorted(url_of) if url_of[other] == other and near(first[url], first[other])]
        url_of[url] = same[0] if same else url
    return [replace(one, url_key=url_of[one.url_key]) for one in pool]


def near(one: PageFeatures, other: PageFeatures) -> bool:
    """Return whether each holds nearly all of the other's content mass."""

    def shared(these: list[dict[str, Any]], those: list[dict[str, Any]]) -> float:
        texts = {block["keys"][TEXT] for block in those}
        return share(sum(block["mass"] for block in these if block["keys"][TEXT] in texts), total_mass(these))

    first, second = rows(one), rows(other)
    return min(shared(first, second), shared(second, first)) >= SHARED


def total_mass(blocks: list[dict[str, Any]]) -> int:
    """Sum up the content mass of some blocks."""
    return sum(block["mass"] for block in blocks)


def first_captures(pool: list[PageFeatures]) -> dict[str, PageFeatures]:
    """Find the first capture of each URL."""
    found: dict[str, PageFeatures] = {}
    for one in sorted(pool, key=lambda one: (one.url_key, one.timestamp, one.capture_id)):
        found.setdefault(one.url_key, one)
    return found


def rows(of: PageFeatures) -> list[dict[str, Any]]:
    """List the blocks of a page, one by one."""
    return [
        {
            "words": int(of.words[at]),
            "links": int(of.link_words[at]),
            "score": int(of.first_scores[at]),
            "mass": int(of.words[at]) * int(of.first_scores[at]),
            "keys": of.keys[:, at].tolist(),
        }
        for at in range(len(of.words))
    ]
