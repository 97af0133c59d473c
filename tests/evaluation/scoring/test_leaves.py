"""Leaves come out of a page as they stand in it, and a text holds some of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.evaluation.scoring import leaves
from dbce_spark.html.dom import PageError

PAGE = """<html><head><title>Seals</title><style>p {}</style></head><body>
<ul><li><a href="/">Home</a> | <a href="/news">News</a></li></ul>
<p>A <b>grey</b> seal<script>count()</script> came ashore.<br>It slept.</p></body></html>"""


def test_leaves_are_text_nodes_in_the_order_of_the_page() -> None:
    """Each stretch between tags is one; what scripts, styles and the head hold is none, what follows them is."""
    expected = ("Home", " | ", "News", "A ", "grey", " seal", " came ashore.", "It slept.")
    assert expected == leaves.parse_leaves(PAGE).texts


def test_blocks_end_at_block_level_tags_and_line_breaks() -> None:
    """The text of all leaves has a line for each, with words that inline tags cut put together again."""
    page = leaves.parse_leaves(PAGE)
    assert "Home | News\nA grey seal came ashore.\nIt slept." == page.text(np.ones(len(page), np.bool_))
    assert "sealing" == leaves.parse_leaves("<p><i>seal</i>ing</p>").text(np.array([True, True]))


def test_what_is_left_out_leaves_a_space() -> None:
    """Words on both sides of a dropped leaf stay apart, and a block without a kept leaf has no line."""
    page = leaves.parse_leaves("<p>one<a>two</a>three</p><p>four</p>")
    assert "one three" == page.text(np.array([True, False, True, False]))


def test_a_page_without_elements_is_refused() -> None:
    """A page without elements raises PageError, as everywhere."""
    with pytest.raises(PageError, match="no element"):
        leaves.parse_leaves("")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A grey seal came ashore. It slept.", [False, False, False, True, True, True, True, True]),
        ("- NEWS\n- it  slept", [False, False, True, False, False, False, False, True]),
        ("Home News", [True, True, True, False, False, False, False, False]),
        ("", [False] * 8),
    ],
)
def test_which_leaves_a_text_holds(text: str, expected: list[bool]) -> None:
    """By words, whatever the capitals, signs and lines; a leaf without a word goes with the one before it."""
    assert expected == leaves.held(leaves.parse_leaves(PAGE), text).tolist()


def test_half_of_a_leaf_is_enough() -> None:
    """Two words of four are, one is not."""
    page = leaves.parse_leaves("<p>one two three four</p>")
    assert [[True], [False]] == [leaves.held(page, text).tolist() for text in ("four hundred and three four", "two")]


def test_a_word_of_the_article_does_not_hold_the_menu() -> None:
    """The text has "news" once, after "the": that is the article's, though the menu has the word too."""
    page = leaves.parse_leaves("<a>News</a><p>Nobody has heard the <i>news</i> today.</p>")
    assert [False, True, True, True] == leaves.held(page, "Nobody has heard the news today.").tolist()


def test_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound only runs of three words are found: the sentence, not the menu's single word."""
    page = leaves.parse_leaves("<a>Seals</a><hr><a>Ferry</a><p>A grey seal came ashore on Tuesday evening.</p>")
    text = "Seals at large! A grey seal came ashore on Tuesday evening."
    found = [leaves.held(page, text).tolist()]
    monkeypatch.setattr(leaves, "MAX_CELLS", 60)
    found.append(leaves.held(page, text).tolist())
    assert [[True, False, True], [False, False, True]] == found


@given(st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=12))
def test_the_text_of_some_leaves_holds_these_and_no_other(page: list[tuple[int, bool]]) -> None:
    """If no word stands twice, `held` gives back what `text` was given."""
    counts, kept = zip(*page, strict=True)
    words = iter(range(100))
    found = leaves.parse_leaves(
        "".join(f"<p>{' '.join(str(next(words)) for _ in range(count))}</p>" for count in counts)
    )
    assert list(kept) == leaves.held(found, found.text(np.array(kept))).tolist()


def test_a_slot_is_the_elements_around_a_leaf() -> None:
    """Whatever stands before it: what is behind a closed element is in the one around that."""
    page, slots = leaves.parse_in_slots("<div><b>one</b> two</div><div class=a>three</div><div>four</div>")

    assert ("one", " two", "three", "four") == page.texts
    assert slots[1] == slots[3]
    assert 3 == len({*slots})
