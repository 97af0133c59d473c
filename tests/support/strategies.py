"""Generators of whatever a law must hold for."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from dbce_spark.dbce.classifier.context import CERTAIN
from dbce_spark.model import Annotation, Hashes, Member, PageFeatures
from tests.support.builders import annotation, filled_cross, member

WORDS = ("alpha", "beta", "gamma", "delta", "größe", "本", "ไทย", "a&amp;b", "x", "19", "2024", "7:30", "Omega", "end.")
BLOCK_TAGS = ("div", "p", "ul", "li", "section", "h2", "blockquote", "tr", "td", "pre")
INLINE_TAGS = ("span", "a", "b", "em", "my-tag", "o:p", "font", "sup")
HIDDEN = ("<script>var x = 1;</script>", "<style>p {}</style>", "<!-- note -->", "<br>", "<br><br>", "<input value=q>")

texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


def _element(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tags = st.sampled_from(BLOCK_TAGS + INLINE_TAGS)
    return st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        tags,
        st.lists(st.one_of(inner, texts, st.sampled_from(HIDDEN)), max_size=4),
    )


markup = st.recursive(texts, _element, max_leaves=25)
"""HTML as it may stand in a <body>: nested, with text around the elements, scripts and comments in between."""

documents = markup.map(lambda inner: f"<html><head><title>T</title></head><body><div>word {inner}</div></body></html>")
"""Pages with at least one word."""


@dataclass
class Node:
    """An element with its children."""

    name: str
    children: list["Node"]

    def html(self) -> str:
        return f"<{self.name}>{''.join(child.html() for child in self.children)}</{self.name}>"


trees = st.recursive(
    st.sampled_from(("div", "span", "b")).map(lambda name: Node(name, [])),
    lambda inner: st.builds(Node, st.sampled_from(("div", "section", "ul")), st.lists(inner, max_size=4)),
    max_leaves=30,
)
"""Trees of elements that the parser of HTML leaves as they are: inline ones have no children."""


def hashes(vocabulary: int, max_size: int = 60) -> st.SearchStrategy[Hashes]:
    """Texts as token hashes, of so many different words."""
    spread = np.uint64(0x9E3779B97F4A7C15)
    return st.lists(st.integers(1, vocabulary), max_size=max_size).map(lambda some: np.array(some, np.uint64) * spread)


@st.composite
def members(draw: st.DrawFn, max_size: int = 12) -> list[Member]:
    """Captures of a bucket: few URLs, few dates and few signature rows, so that ties are many."""
    count = draw(st.integers(0, max_size))
    return [
        member(
            f"id{at:02}",
            draw(st.sampled_from("uvwxyz")),
            draw(st.integers(0, 5)),
            draw(st.lists(st.integers(0, 2), min_size=5, max_size=5)),
        )
        for at in draw(st.permutations(range(count)))
    ]


@st.composite
def captures_of_few_texts(
    draw: st.DrawFn, url: st.SearchStrategy[str], capture_id: str, blocks: int = 6
) -> PageFeatures:
    """Draw a page of few texts in few slots, so that much recurs."""
    count = draw(st.integers(1, blocks))

    def numbers(low: int, high: int) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    words = numbers(1, 9)
    return PageFeatures(
        capture_id=capture_id,
        url_key=draw(url),
        timestamp=draw(st.integers(0, 3)),
        words=np.array(words, np.int32),
        link_words=np.array([min(pair) for pair in zip(words, numbers(0, 9), strict=True)], np.int32),
        first_scores=np.array(numbers(0, CERTAIN), np.uint16),
        keys=np.array([numbers(0, 3) for _ in range(6)], np.uint32) * np.uint32(0x9E3779B1),
    )


CROSSES = ("11000", "11100", "11001", "11010", "11011", "11101", "11110", "11111")
"""The eight crosses of the thesis."""


@st.composite
def annotations(draw: st.DrawFn, length: int, max_size: int = 4) -> list[Annotation]:
    """Annotations of one capture of so many tokens, each from another cross."""
    made = []
    for nth in range(draw(st.integers(1, max_size))):
        arms = draw(st.sampled_from(CROSSES))
        possible = [f"{bits:05b}" for bits in range(16, 32) if bits & int(arms, 2) == bits]
        per_token = draw(st.lists(st.sampled_from(possible), min_size=length, max_size=length))
        made.append(annotation(filled_cross(arms, draw(st.sampled_from(("", "other", f"{nth}")))), per_token))
    return made
