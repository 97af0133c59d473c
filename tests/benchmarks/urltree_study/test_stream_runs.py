"""Label studied documents, and score the labels."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.samples.drawn_page import CONTENT
from benchmarks.urltree_study.stream_runs import alike_keys, exact_keys, f1, label, left_out
from benchmarks.urltree_study.studied_documents import (
    COMMENTS,
    LINKS,
    TEXT,
    StudiedDocument,
    courier,
    of_courier,
    of_gold,
)
from dbce_spark import config
from dbce_spark.archive.index.urls import url_key
from dbce_spark.evaluation.datasets import GoldPage
from tests.support.urltree_documents import CONFIG

HTML = (
    "<nav><ul><li><a href=/>Home</a></li></ul></nav><h1>A title</h1><p>Some words of text {}</p>"
    "<div>A reader says so</div><footer>All rights are reserved</footer>"
)


@pytest.fixture(scope="module")
def stories() -> list[StudiedDocument]:
    return list(of_courier(courier(40, 0.0, 1), 40, config.default(), CONFIG))


def gold_page(name: str, url: str = "") -> GoldPage:
    """Return a page with a menu, a comment and a footer."""
    return GoldPage(
        dataset="set",
        page_id=name,
        url=url,
        site="news.example",
        group="news.example",
        url_key=url_key(url) if url else f"gold:{name}",
        timestamp=0,
        lang="en",
        page_type="",
        html=HTML.format(name),
        gold=f"A title\nSome words of text {name}",
        comments="A reader says so",
    )


def test_gold_page_tells_four_kinds_of_blocks() -> None:
    """Content is told from readers' comments, links and other text."""
    (one,) = of_gold([gold_page("one")], config.default(), CONFIG)

    assert (LINKS, CONTENT, CONTENT, COMMENTS, TEXT) == one.kinds
    assert [1, 2, 5, 4, 4] == one.sizes.tolist()
    assert one.gold == (*one.words[1], *one.words[2])


def test_gold_pages_of_one_url_are_documents_of_their_own() -> None:
    """A stream would drop the second, but both have gold."""
    pages = [gold_page(name, "http://news.example/a?id=1") for name in ("one", "two")]
    documents = of_gold(pages, config.default(), CONFIG)

    assert [2, 2] == [len(own) - 3 for own in label(documents, exact_keys(documents), ())]


def test_domain_of_two_sets_is_two_streams() -> None:
    """Documents of a domain in one set are not known in another."""
    pages = [gold_page(name) for name in "abcdef"]
    (first, *_), *others = ([replace(page, dataset=name) for page in pages] for name in ("one", "two"))
    documents = of_gold([*others[0], first], config.default(), CONFIG)

    assert 5 == label(documents, exact_keys(documents), ())[-1].sum()


def test_labels_that_are_right_score_one(stories: list[StudiedDocument]) -> None:
    """Keeping all costs precision, and keeping nothing is worth nothing."""
    right = [np.array([kind == CONTENT for kind in one.kinds]) for one in stories]
    words = [np.where(own, one.sizes, 0) for one, own in zip(stories, right, strict=True)]
    shares = dict(left_out(stories, words))

    assert [1.0] * len(stories) == f1(stories, right).tolist()
    assert [0.0] * len(stories) == f1(stories, [np.zeros_like(own) for own in right]).tolist()
    assert 0.5 < f1(stories, [np.ones_like(own) for own in right]).mean() < 0.9
    assert {0.0} == {shares.pop(CONTENT)}
    assert {1.0} == {*shares.values()}


def test_stories_are_labelled_better_as_more_come(stories: list[StudiedDocument]) -> None:
    """The first document is all content; the boilerplate of later ones is found."""
    scores = f1(stories, label(stories, exact_keys(stories), ("label.heuristic=strict-at-domain",)))

    assert scores[0] < 0.85
    assert scores[20:].mean() > 0.95


def test_hashes_that_must_be_equal_give_the_labels_of_exact_keys(stories: list[StudiedDocument]) -> None:
    """Keys by similarity with no bit to differ are those of letters."""
    exact, alike = (label(stories, keys, ()) for keys in (exact_keys(stories), alike_keys(stories, 0)))

    assert all(map(np.array_equal, exact, alike))


def test_lines_that_change_are_found_with_similarity_hashes(stories: list[StudiedDocument]) -> None:
    """More of the lines with a date or a name in them is left out when hashes may differ in some bits."""
    shares = [
        left_out(
            stories, [np.where(own, one.sizes, 0) for one, own in zip(stories, label(stories, keys, ()), strict=True)]
        )
        for keys in (exact_keys(stories), alike_keys(stories, 12))
    ]

    assert shares[0]["changing"] + 0.05 < shares[1]["changing"]
