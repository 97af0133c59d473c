"""Layouts: the columns of pages side by side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.classifier import layout
from dbce_spark.dbce.classifier.character_classes import (
    DIGIT,
    UPPER,
)
from dbce_spark.dbce.classifier.layout import Layout
from dbce_spark.html.page import Parsed
from tests.support.builders import laid, parsed
from tests.support.strategies import documents

COLUMNS = (
    "words", "link_words", "characters", "nths", "first_classes", "last_classes", "titled", "texts", "shapes",
    "is_cut_off", "controls", "text_areas", "foreign_links", "place_links",
)  # fmt: skip


@given(st.lists(documents.map(parsed), min_size=1, max_size=5))
def test_columns_are_those_of_each_page_alone(pages: list[Parsed]) -> None:
    """Side by side, each page keeps its columns, and its tree keeps within it."""
    together = Layout(pages)
    for at, page in enumerate(pages):
        alone = Layout([page])
        start, end = together.starts[at], together.starts[at + 1]
        first, last = together.element_starts[at], together.element_starts[at + 1]
        for name in COLUMNS:
            assert getattr(alone, name).tolist() == getattr(together, name)[start:end].tolist(), name

        assert (alone.parents + first).tolist() == together.parents[first:last].tolist()
        assert (alone.holders + first).tolist() == together.holders[start:end].tolist()
        assert (alone.firsts + start).tolist() == together.firsts[first:last].tolist()
        assert (
            alone.slots.by_id[alone.block_slots].tolist()
            == together.slots.by_id[together.block_slots[start:end]].tolist()
        )


@given(documents)
def test_elements_hold_the_blocks_that_begin_in_them(html: str) -> None:
    """A block's holder and all above it hold the block; the root holds all."""
    page = Layout([parsed(html)])
    for at in range(len(page)):
        element = int(page.holders[at])
        while True:
            assert page.firsts[element] <= at < page.lasts[element]
            if page.parents[element] == element:
                break
            element = int(page.parents[element])

    assert (0, len(page)) == (page.firsts[0], page.lasts[0])
    assert int(page.words.sum()) == page.in_elements(page.words)[0]


@given(documents)
def test_characters_are_counted_by_class(html: str) -> None:
    """Counts are those of a plain loop over each block's text."""
    blocks = parsed(html).blocks
    page = Layout([parsed(html)])
    texts = [blocks.text[start:end] for start, end in zip(blocks.starts, blocks.ends, strict=True)]

    assert [sum(one.isdigit() for one in text) for text in texts] == page.of_class(DIGIT).tolist()
    assert [sum(one.isupper() for one in text) for text in texts] == page.of_class(UPPER).tolist()
    assert [len(text) for text in texts] == page.characters.tolist()


@pytest.mark.parametrize(
    ("text", "years", "day_times", "dates"),
    [
        ("in 2011 and 1999", 2, 0, 0),
        ("12011 and 20111, 2211", 0, 0, 0),
        ("7:30 to 18:45, a:1 and 1:b", 0, 2, 0),
        ("24.12.2020 and 12/5, 1. and .2", 1, 0, 3),
        ("2024", 1, 0, 0),
    ],
)
def test_times_are_found_by_their_digits(text: str, years: int, day_times: int, dates: int) -> None:
    """Whatever stands on the page before and behind."""
    page = laid("<p>x19</p>", f"<p>{text}</p>", "<p>9</p>")

    assert (years, day_times, dates) == (page.years[1], page.day_times[1], page.dates[1])
    assert not any(of_pages[[0, 2]].any() for of_pages in (page.years, page.day_times, page.dates))


@pytest.mark.parametrize(("text", "expected"), [("more …", True), ("more...", True), ("end.", False), (".", False)])
def test_a_text_is_cut_off_by_an_ellipsis(text: str, expected: bool) -> None:
    """One character, or several stops."""
    assert expected == laid(f"<p>x {text}</p>").is_cut_off[0]


def test_a_page_that_begins_with_a_stop_is_cut_off_by_no_other_page() -> None:
    """The stop that the last page beside it ends with is not one of its own."""
    begins_with_stop, ends_with_stop = "<p>.</p><p>x</p>", "<p>x.</p>"

    assert [False, False, False] == laid(begins_with_stop, ends_with_stop).is_cut_off.tolist()


def test_texts_and_shapes() -> None:
    """The same words are the same text; words with digits do not count for the shape, but the order of words does."""
    page = laid("<p>page 1 of 20</p><p>page 2 of 20</p><p>of page 1</p><div>page 1 of 20</div>", "<p>page 1 of 20</p>")
    texts, shapes = page.texts.tolist(), page.shapes.tolist()

    assert [texts[0]] * 2 == texts[3:]
    assert 3 == len(set(texts))
    assert shapes[0] == shapes[1] != shapes[2]


def test_words_of_the_title() -> None:
    """Each word of a block that the page's own title has."""
    pages = [parsed(f"<title>{title}</title><p>old bridge closed</p>") for title in ("The old bridge", "Other", "")]

    assert ([2, 0, 0], [3, 1, 0]) == (Layout(pages).titled.tolist(), Layout(pages).title_words.tolist())


def test_controls_behind_the_last_block_are_nobodys() -> None:
    """And those before a block are its own, never another page's."""
    page = laid("<input><p>a</p><textarea></textarea><p>b</p><input><input>", "<p>c</p>")

    assert ([1, 1, 0], [0, 1, 0]) == (page.controls.tolist(), page.text_areas.tolist())


@given(st.lists(st.integers(-9, 9), max_size=20))
def test_sums_are_running(values: list[int]) -> None:
    """Entry i is the sum of all before i."""
    assert [sum(values[:at]) for at in range(len(values) + 1)] == layout.sums(np.array(values, np.int64)).tolist()


def test_highest_around_is_the_innermost_element_of_the_highest_value() -> None:
    """Elements are looked at so many steps up from the holder; without a value above 0 the holder is left."""
    page = laid("<div><section><p>One</p></section></div>")
    body, div, section, p = range(1, 5)
    values = np.zeros(5, np.int64)
    values[[body, div, section]] = 9, 5, 5

    assert [p, section, div] == [int(element[0]) for _, element in page.around(range(3))]
    assert (section, True) == tuple(found[0] for found in page.highest_around(values, range(3)))
    assert (p, False) == tuple(found[0] for found in page.highest_around(values, range(1)))
