"""The diff: what two texts share, and that it is found with bounded work."""

import json
import lzma
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree
from lxml.html import diff as lxml_diff
from rapidfuzz.distance import Indel

from dbce_spark.dbce import diff
from dbce_spark.dbce.diff import GRAM, shared
from dbce_spark.model import Hashes
from tests.support.builders import words
from tests.support.strategies import hashes

LIMIT = 40_000_000


def marks(a: str, b: str) -> tuple[str, str]:
    """Mark the words of each text that are found in the other one."""
    in_a, in_b = shared(words(a), words(b), LIMIT)
    return (
        " ".join(word for word, found in zip(a.split(), in_a, strict=True) if found),
        " ".join(word for word, found in zip(b.split(), in_b, strict=True) if found),
    )


def test_words_behind_very_many_others() -> None:
    """Grams from the 55,296th to the 57,344th have numbers that are no characters, and are found all the same."""
    common = np.arange(10, dtype=np.uint64)
    many = np.arange(100, 56_000, dtype=np.uint64)
    in_a, in_b = shared(np.concatenate((many, common)), common, LIMIT)

    assert (10, 10) == (in_a.sum(), in_b.sum())


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("home news sport one two three four about us here", "home news sport five six seven about us here", 6),
        ("a b c d e f g h i j k l", "a b x d e x g h x j k x", 0),
        ("a b c d e f g h i j k l", "g h i j k l a b c d e f", 6),
        ("the end of the line is the end", "a new line at the end of time", 3),
        ("one two", "one two", 2),
        ("one two", "one three", 1),
        ("one", "one two three four five", 1),
        ("one", "two", 0),
        ("", "one two three", 0),
        ("", "", 0),
    ],
    ids=[
        "template",
        "runs of two",
        "swapped halves",
        "order",
        "short",
        "half",
        "one word",
        "unlike",
        "empty",
        "nothing",
    ],
)
def test_shared(a: str, b: str, expected: int) -> None:
    """Runs of three words count, in one order; in texts under eight words shorter runs count, too."""
    in_a, in_b = marks(a, b)

    assert (expected, in_a) == (len(in_a.split()), in_b)


@given(hashes(40))
def test_identical_texts_are_fully_found(text: Hashes) -> None:
    """A text stands in itself, all of it."""
    in_a, in_b = shared(text, text.copy(), LIMIT)

    assert in_a.all()
    assert in_b.all()


@given(hashes(40), hashes(40))
def test_disjoint_texts_share_nothing(a: Hashes, b: Hashes) -> None:
    """Texts without a common word have no common run."""
    in_a, in_b = shared(a, b + np.uint64(1), LIMIT)

    assert not in_a.any()
    assert not in_b.any()


def runs(mask: Any) -> list[int]:
    """Measure the lengths of the runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(int), [0]))))
    return [int(end - start) for start, end in zip(edges[::2], edges[1::2], strict=True)]


@given(hashes(6), hashes(6), st.sampled_from([LIMIT, 1]))
def test_matching_runs_are_long_enough(a: Hashes, b: Hashes, limit: int) -> None:
    """No run is shorter than three words, or than the quarter of a text under eight that is asked of it."""
    shortest = min(GRAM, min(len(a), len(b)) // 4 + 1)
    in_a, in_b = shared(a, b, limit)

    assert all(length >= shortest for length in runs(in_a) + runs(in_b))


@given(hashes(6), hashes(6), st.sampled_from([LIMIT, 1]))
def test_masks_fit_their_texts(a: Hashes, b: Hashes, limit: int) -> None:
    """Each mask is as long as its text, and what one text has in common the other has, too."""
    in_a, in_b = shared(a, b, limit)

    assert (len(a), len(b)) == (len(in_a), len(in_b))
    assert in_a.any() == in_b.any()
    assert set(a[in_a].tolist()) == set(b[in_b].tolist())


@given(hashes(6), hashes(6))
def test_as_many_grams_match_on_either_side(a: Hashes, b: Hashes) -> None:
    """A longest common subsequence has one length, whichever text comes first; so have its matches in both texts."""
    size = min(GRAM, min(len(a), len(b)) // 4 + 1)
    grams_a, grams_b = diff._numbered(diff._grams(a, size), diff._grams(b, size))
    there, here = diff._align(grams_a, grams_b, LIMIT)
    back_b, back_a = diff._align(grams_b, grams_a, LIMIT)

    assert len(there) == len(here) == len(back_a) == len(back_b)
    assert np.array_equal(grams_a[there], grams_b[here])


def longest(a: list[int], b: list[int]) -> int:
    """Compute the length of a longest common subsequence, by the book."""
    row = [0] * (len(b) + 1)
    for one in a:
        before = row[:]
        for at, other in enumerate(b):
            row[at + 1] = before[at] + 1 if one == other else max(before[at + 1], row[at])
    return row[-1]


@given(hashes(5, 25), hashes(5, 25))
def test_alignment_is_a_longest_common_subsequence(a: Hashes, b: Hashes) -> None:
    """Under the limit no longer alignment exists."""
    numbers_a, numbers_b = diff._numbered(a, b)
    actual, _ = diff._align(numbers_a, numbers_b, LIMIT)

    assert longest(a.tolist(), b.tolist()) == len(actual)


@given(st.lists(st.integers(0, 60), unique=True), st.lists(st.integers(0, 60), unique=True))
@example([1, 2, 3, 4], [4, 1, 2, 3])
def test_anchors_align_texts_without_repetition_as_well(a: list[int], b: list[int]) -> None:
    """Cutting texts without repetition at anchors loses nothing against the exact alignment."""
    numbers_a, numbers_b = diff._numbered(np.array(a, np.uint64), np.array(b, np.uint64))
    exact, _ = diff._align(numbers_a, numbers_b, LIMIT)
    anchored, _ = diff._align(numbers_a, numbers_b, 1)

    assert len(exact) == len(anchored)


@given(hashes(30), hashes(30))
def test_anchored_alignment_ascends(a: Hashes, b: Hashes) -> None:
    """Over the limit, too, what is aligned is in order, each place once, and inside the texts."""
    numbers_a, numbers_b = diff._numbered(a, b)
    found_a, found_b = diff._align(numbers_a, numbers_b, 1)
    for found, text in ((found_a, a), (found_b, b)):
        assert (np.diff(found) > 0).all()
        assert ((found >= 0) & (found < len(text))).all()


@pytest.mark.parametrize(
    "texts",
    [
        (np.tile(np.arange(7), 9_000), np.tile(np.arange(7), 8_000)),
        (np.zeros(60_000, int), np.zeros(50_000, int)),
        (np.arange(60_000) % 251, np.arange(60_000) % 241),
        (np.r_[np.arange(40_000), np.zeros(9_000, int)], np.r_[np.zeros(9_000, int), np.arange(40_000)]),
        (np.random.default_rng(1).integers(0, 50, 60_000), np.random.default_rng(2).integers(0, 50, 60_000)),
    ],
    ids=["period", "one word", "two periods", "moved", "noise"],
)
def test_work_is_bounded(monkeypatch: pytest.MonkeyPatch, texts: tuple[Any, Any]) -> None:
    """The quadratic step is never asked for more than the limit, and few times, however repetitive the texts."""
    products: list[int] = []
    whole = Indel.editops

    class Counting:
        @staticmethod
        def editops(a: str, b: str) -> Any:
            products.append(len(a) * len(b))
            return whole(a, b)

    monkeypatch.setattr(diff, "Indel", Counting)
    a, b = (text.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) for text in texts)
    limit = 1_000_000
    in_a, _ = shared(a, b, limit)

    assert in_a.any()
    assert all(product <= limit for product in products)
    assert sum(products) <= 100 * limit


def chained(count: int, own: int) -> Hashes:
    """Make a text "2 1, 3 2, 4 3, ...": of its runs of three words, parted by words of its own, only the second stands
    there once, and behind each run that is cut off the next one does."""
    runs = np.array([2, 1, *(one for at in range(2, count) for one in (at + 1, at))])
    words = np.stack((runs * 4, runs * 4 + 1, runs * 4 + 2, own + 4 * np.arange(len(runs)) + 3), axis=1)
    return words.ravel().astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def test_a_chain_of_runs_that_each_stand_twice_is_cut_a_few_times() -> None:
    """A cut for each run would take the square of their number, and more calls within calls than Python allows."""
    in_a, in_b = shared(chained(5_000, 1 << 20), chained(5_000, 1 << 30), exact_limit=1_000_000)

    assert in_a.tolist() == in_b.tolist() == [True, True, True, False] * (len(in_a) // 4)


def lxml_tokens(markup: str) -> list[Any]:
    """List a page's words as `html_annotate` sees them."""
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    root = etree.fromstring(markup.encode("utf-8", "replace"), parser)
    etree.strip_elements(root, "script", "style", "noscript", "option", "iframe", with_tail=False)
    body = root.find("body")
    return [] if body is None else lxml_diff.tokenize(etree.tostring(body, encoding="unicode", method="html"), False)


def lxml_labels(a: list[Any], b: list[Any]) -> Any:
    """Mark the words of `a` that html_annotate gives the annotation of `b`."""
    for token in a:
        token.annotation = "cur"
    for token in b:
        token.annotation = "up"
    lxml_diff.html_annotate_merge_annotations(b, a)
    return np.array([token.annotation == "up" for token in a], bool)


def agreement(a: list[Any], b: list[Any]) -> float:
    """Compute the share of the words of `a` that our diff and lxml's label alike."""
    expected = lxml_labels(a, b)
    words = [str(token) for token in [*a, *b]]
    numbers = np.unique(words, return_inverse=True)[1].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    actual, _ = shared(numbers[: len(a)], numbers[len(a) :], LIMIT)
    return float((expected == actual).mean())


def article(seed: int) -> str:
    """Make a page of one template: menu, article, related links, footer, with words of few."""
    random = np.random.default_rng(seed)

    def some(count: int) -> str:
        """Draw words, of which two in five are among the thirty that stand everywhere."""
        words = np.where(random.random(count) < 0.4, random.integers(0, 30, count), random.integers(30, 3000, count))
        return " ".join(f"w{nth}" for nth in words)

    menu = "".join(f"<li><a href=/{nth}>Section number {nth}</a></li>" for nth in range(12))
    paragraphs = "".join(f"<p>{some(60)}</p>" for _ in range(random.integers(2, 9)))
    links = "".join(f"<li><a href=x>{some(6)}</a></li>" for _ in range(5))
    return (
        f"<html><body><ul>{menu}</ul><h1>{some(7)}</h1>{paragraphs}<h2>More on this topic</h2><ul>{links}</ul>"
        "<div>Copyright by the publisher. All rights reserved. Terms of use</div></body></html>"
    )


def test_made_pages_are_labelled_as_by_html_annotate() -> None:
    """On pages of one template our diff and lxml's agree on nearly every word."""
    pages = [lxml_tokens(article(seed)) for seed in range(12)]
    actual = np.mean([agreement(a, b) for a, b in pairwise(pages)])

    assert actual >= 0.99


@pytest.mark.data
@pytest.mark.parametrize("name", ["big9", "dragnet", "daniel"])
def test_real_pages_are_labelled_as_by_html_annotate(shared_data: Path, name: str) -> None:
    """On pairs of pages of one site our diff and lxml's agree on 99 words of 100, in the average of the set."""
    sites: dict[str, list[str]] = defaultdict(list)
    with lzma.open(shared_data / "gold" / f"{name}.jsonl.xz", "rt") as stream:
        for line in stream:
            one = json.loads(line)
            site = one.get("group") or one.get("site")
            if site and len(sites[site]) < 3 and len(one["html"]) < 150_000:
                sites[site].append(one["html"])
            if sum(len(pages) // 2 for pages in sites.values()) >= 40:
                break
    tokens = [list(map(lxml_tokens, pages)) for pages in sites.values() if len(pages) > 1]
    actual = np.mean([agreement(a, b) for pages in tokens for a, b in pairwise(pages) if a and b])

    assert actual >= 0.99
