"""Each shape is true to its name, and always the same."""

from collections import Counter
from itertools import pairwise

import pytest

from benchmarks.scale import shapes
from dbce_spark.html.page import parse
from tests.support.builders import CONFIG, page

ALL = {"plain": shapes.plain, **shapes.SHAPES}


def hosts(made: list[shapes.Made]) -> Counter[str]:
    return Counter(one.url.split("/")[2] for one in made)


@pytest.mark.parametrize("name", ALL)
def test_a_shape_is_the_same_each_time_it_is_made(name: str) -> None:
    """Captures, their order and their bytes follow from the size alone; no two were fetched at the same time."""
    first, again = list(ALL[name](60)), list(ALL[name](60))

    assert first == again
    assert all(one.when < other.when for one, other in pairwise(first))


def test_each_shape_is_true_to_its_name() -> None:
    """It has as many sites and URLs as it should, and the largest have the right size."""
    made = {name: list(shape(200)) for name, shape in ALL.items()}
    facts = {
        name: (len(some), len(hosts(some)), len({one.url for one in some}), len({one.html for one in some}))
        for name, some in made.items()
    }

    assert facts == {
        "plain": (200, 4, 200, 200),
        "one_template": (200, 1, 200, 200),
        "one_url": (40, 1, 1, 40),
        "one_page_sites": (200, 200, 200, 200),
        "long_page": (51, 1, 51, 51),
        "identical": (200, 1, 200, 1),
        "empty": (200, 101, 200, 200),
    }
    assert 50 == max(hosts(made["plain"]).values())


def test_a_small_page_has_the_words_that_others_are_measured_in() -> None:
    """Its words are counted as the method counts them, and on average there are PAGE_WORDS."""
    made = list(shapes.plain(200))
    found = [len(parse(one.html.encode(), "", CONFIG.page).blocks.tokens) for one in made[:20]]

    assert found == pytest.approx([one.words for one in made[:20]], abs=3)
    assert pytest.approx(shapes.PAGE_WORDS, rel=0.02) == sum(one.words for one in made) / len(made)
    assert {1} == {one.equivalents for one in made}


def test_the_long_page_is_compared_as_any_other() -> None:
    """It is near the bound on words and not over it, and worth as many small pages as it has of their words."""
    longest = list(shapes.long_page(100))[-1]
    flags = page(longest.html, longest.url).flags

    assert 0.98 * CONFIG.page.max_tokens < longest.words < CONFIG.page.max_tokens
    assert longest.words // shapes.PAGE_WORDS == longest.equivalents > 250
    assert () == flags


def test_empty_templates_are_in_no_bucket() -> None:
    """Parked domains and pages that are not there have too few shingles, and say so."""
    found = [page(one.html, one.url) for one in shapes.empty(10)]

    assert {("few_shingles",)} == {one.flags for one in found}
    assert {None} == {one.signature for one in found}
