"""Class words: how names are split, and what their weights come to along the way to a block."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.classifier import class_words
from dbce_spark.dbce.classifier.class_words import ClassWords
from dbce_spark.dbce.classifier.layout import Layout
from dbce_spark.html.page import Parsed
from dbce_spark.html.page_walk import SlotName
from tests.support.builders import parsed
from tests.support.strategies import documents

MENU, POST, BODY = {"menu": (-5, -9)}, {"post": (4, 3)}, {"body": (1, 7)}


def weighed(weights: dict[str, tuple[int, int]]) -> ClassWords:
    """Give words the weights of each, for all text below and for the nearest."""
    by_hash = sorted((class_words.hashed(word), weights_of) for word, weights_of in weights.items())
    hashes, steps = zip(*by_hash, strict=True)
    return ClassWords(np.array(hashes, np.uint64), np.array(steps, np.int16).T)


def of_last_block(html: str, *weights: dict[str, tuple[int, int]]) -> dict[str, float]:
    """Return the features of the last block of a page."""
    page = Layout([parsed(f"<html><body>{html}</body></html>")])
    words = weighed({word: steps for some in weights for word, steps in some.items()})
    return {name.removeprefix("words_"): float(values[-1]) for name, values in words.columns(page).items()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("div", set()),
        (("div", "mainMenu"), {"main", "menu"}),
        (("div", "main-menu_item2 x"), {"main", "menu", "item"}),
        (("div", None, "HTMLBody", None, None, None), {"html", "body"}),
        (("div", "a" * 21, "", "banner", "text", "Article"), set()),
    ],
    ids=["no names", "capitals", "signs and digits", "an id", "too long, and what is neither class nor id"],
)
def test_words_of_a_name(name: SlotName, expected: set[str]) -> None:
    """They begin at capitals and end at signs; roles and properties are no class."""
    assert expected == class_words.words_of(name)


def test_all_named_elements_above_count_and_the_nearest_once_more() -> None:
    """Sums, extremes and the nearest run from the root to the element around the text."""
    found = of_last_block('<div class="post menu"><div class=body><p class=other>Text', MENU, POST, BODY)

    assert {"above": 0, "nearest": 7, "together": 7, "lowest": -1, "highest": 1, "here": 0} == found


def test_words_beside_say_nothing() -> None:
    """An element that does not hold the text has no part in its sums, nor has a word that was not learned."""
    found = of_last_block("<div class=menu>Menu</div><div class=unheard><p>Text", MENU)

    assert {0.0} == {*found.values()}


@given(st.lists(documents.map(parsed), min_size=1, max_size=4))
def test_sums_are_those_of_each_page_alone(pages: list[Parsed]) -> None:
    """Whatever pages come beside it."""
    words = weighed(MENU | POST | BODY)
    together = words.columns(Layout(pages))

    for name, values in together.items():
        alone = [words.columns(Layout([page]))[name] for page in pages]
        assert np.concatenate(alone).tolist() == values.tolist(), name


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(-99, 99), st.booleans()), min_size=1, max_size=30))
def test_sums_run_down_any_tree(drawn: list[tuple[int, int, bool]]) -> None:
    """They are what a walk from each slot up to its root adds up, however deep."""
    above = np.array([min(up, max(at - 1, 0)) for at, (up, _, _) in enumerate(drawn)])
    own = np.array([weight for _, weight, _ in drawn])
    is_named = np.array([named for *_, named in drawn])
    found = class_words.columns(own, own, is_named, above, np.arange(len(above)))

    for at in range(len(drawn)):
        way = [at]
        while above[way[-1]] != way[-1]:
            way.append(int(above[way[-1]]))
        nearest = next((own[slot] for slot in way if is_named[slot]), own[way[-1]])
        assert (own[at], own[way].sum(), own[way].min(), own[way].max(), nearest, own[way].sum() + nearest) == tuple(
            found[f"words_{name}"][at] for name in ("here", "above", "lowest", "highest", "nearest", "together")
        )
