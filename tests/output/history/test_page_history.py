"""The history of a page has the texts that were added, removed, changed and moved."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import SupportsIndex

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.output.history.page_history import (
    ADDED,
    EDITED,
    MOVED,
    RELABELLED,
    REMOVED,
    REPLACED,
    TOGETHER,
    Moment,
    PageRedesign,
    Piece,
    Redesign,
    TemplateExchange,
    changes,
    lives,
    pieces,
    redesigns,
    steps,
)

LONG = "The council has met on Tuesday and decided to build {} new schools in the north of the town, as was asked."


def moment(*texts: str, at: int = 0, label: str = "content") -> Moment:
    made = tuple(Piece(text=text, label=label, xpath=f"/p[{nth}]") for nth, text in enumerate(texts, 1))
    return Moment(capture_id=str(at), timestamp=at, pieces=made)


def described(before: Moment, after: Moment) -> list[tuple[str, str, str]]:
    return [
        (one.kind, one.before.text if one.before else "", one.after.text if one.after else "")
        for one in changes(before, after)
    ]


def test_the_same_page_has_no_changes() -> None:
    """A page with the same texts has no changes, nor has an empty one."""
    assert described(moment("a", "b"), moment("a", "b", at=1)) == []
    assert described(moment(), moment(at=1)) == []


def test_what_comes_and_goes_is_reported() -> None:
    """Added and removed texts are listed in the order of the page."""
    actual = described(moment("head", "goes", "foot"), moment("first", "head", "foot"))

    assert [(ADDED, "", "first"), (REMOVED, "goes", "")] == sorted(actual)


def test_a_corrected_text_is_edited() -> None:
    """A text with a few other words is an edit, in whatever place it is now."""
    before, after = LONG.format("two"), LONG.format("three")

    assert [(EDITED, before, after)] == described(moment("head", before), moment("head", after))


def test_entries_of_a_list_are_no_edits_of_each_other() -> None:
    """Entries that share only the words of all entries are no edits of each other, however alike they look."""
    old = [f"lxml 2.{nth}, released 2011-0{nth}-01 (changes for 2.{nth})" for nth in range(1, 8)]
    new = [f"lxml 3.{nth}, released 2013-0{nth}-02 (changes for 3.{nth})" for nth in range(1, 8)]
    found = changes(moment(*old), moment("News", *new))

    assert EDITED not in {one.kind for one in found}


def test_only_edits_have_a_similarity() -> None:
    """The similarity counts the words that both texts have, whatever their case and punctuation."""
    found = changes(moment("Cache arguments", "old words here"), moment("Cache Arguments¶", "RAIN!"))

    assert [(EDITED, 1.0), (REPLACED, None)] == [(one.kind, one.similarity) for one in found]


def test_what_went_is_reported_where_it_stood() -> None:
    """A removed text is listed behind the text before it, and before texts that came there."""
    found = described(moment("head", "gone one", "gone two", "foot"), moment("head", "foot", "new"))

    assert [(REMOVED, "gone one", ""), (REMOVED, "gone two", ""), (ADDED, "", "new")] == found


def test_another_text_in_the_same_place_replaces() -> None:
    """Another text at the same path is a replacement."""
    assert [(REPLACED, "Sunny, 24 degrees", "RAIN!")] == described(
        moment("head", "Sunny, 24 degrees"), moment("head", "RAIN!")
    )


def test_a_text_that_stands_elsewhere_has_moved() -> None:
    """A text in another place is moved, and not removed and added."""
    assert [(MOVED, "c", "c")] == described(moment("a", "b", "c"), moment("c", "a", "b"))


def test_another_label_is_a_change() -> None:
    """A text in its place with another label is a change."""
    (change,) = changes(moment("a"), moment("a", label="boilerplate"))

    assert (RELABELLED, "boilerplate") == (change.kind, change.label)


TEXTS = ["a", "b", "c", "d", LONG.format(1), LONG.format(2), LONG.format("x y")]
texts = st.lists(st.sampled_from(TEXTS), max_size=8)


held = st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(["content", "boilerplate"])), max_size=8)


def labelled(*some: tuple[str, str]) -> Moment:
    """Build a capture of these texts and labels."""
    made = tuple(Piece(text=text, label=label, xpath=f"/p[{nth}]") for nth, (text, label) in enumerate(some, 1))
    return Moment(capture_id="", timestamp=0, pieces=made)


@given(held, held)
def test_changes_replayed_on_a_capture_give_the_next(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]
) -> None:
    """Removing and adding the changed texts and labels turns a capture into the next one."""
    found = changes(labelled(*old), labelled(*new))
    replayed = Counter(old)
    replayed.subtract((one.before.text, one.before.label) for one in found if one.before)
    replayed.update((one.after.text, one.after.label) for one in found if one.after)

    assert Counter(new) == +replayed
    assert min(replayed.values(), default=0) >= 0


@given(texts)
def test_nothing_changes_into_itself(some: Sequence[str]) -> None:
    """A capture beside itself has no changes."""
    assert described(moment(*some), moment(*some)) == []


def test_lives_say_from_when_to_when() -> None:
    """A life has its times, its number of captures, its begin and its end; a text that comes back has another one."""
    two, three = LONG.format("two"), LONG.format("three")
    line = [moment("a", "b", two, at=1), moment("b", "a", two, at=2), moment("b", three, at=5), moment("b", "a", at=9)]
    found = [
        (one.text, one.place, one.first_seen, one.last_seen, one.captures, one.began, one.ended)
        for one in lives(line[0], steps(line))
    ]

    assert found == [
        ("a", 0, 1, 2, 2, "", REMOVED),
        ("b", 1, 1, 9, 4, "", ""),
        (two, 2, 1, 2, 2, "", EDITED),
        (three, 1, 5, 5, 1, EDITED, REPLACED),
        ("a", 1, 9, 9, 1, REPLACED, ""),
    ]
    assert 1 == sum(one.moves for one in lives(line[0], steps(line)))


@given(st.lists(texts, min_size=1, max_size=6))
def test_lives_cover_what_captures_hold(held: Sequence[Sequence[str]]) -> None:
    """Each capture holds just the texts that live then, once each, and a life has as many captures as hold it."""
    line = [moment(*some, at=at) for at, some in enumerate(held)]
    found = lives(line[0], steps(line))
    living = [sorted(one.text for one in found if one.first_seen <= at <= one.last_seen) for at in range(len(held))]

    assert [sorted(set(some)) for some in held] == living
    assert all(one.captures == one.last_seen - one.first_seen + 1 for one in found)
    assert all((one.ended == "") == (one.last_seen == len(held) - 1) for one in found)
    assert all((one.began == "") == (one.first_seen == 0) for one in found)


def test_pieces_are_what_blocks_hold_of_one_label() -> None:
    """Segments of a block that have one label are one piece, with the space between words as one."""
    segments = [
        {"block": 0, "start": 0, "end": 3, "label": "content", "xpath": "/a"},
        {"block": 0, "start": 5, "end": 8, "label": "content", "xpath": "/a"},
        {"block": 0, "start": 9, "end": 12, "label": "boilerplate", "xpath": "/a"},
        {"block": 1, "start": 13, "end": 16, "label": "boilerplate", "xpath": "/b"},
    ]
    found = pieces("one  two\nads end", segments)

    assert [("one two", "content", "/a"), ("ads", "boilerplate", "/a"), ("end", "boilerplate", "/b")] == [
        (one.text, one.label, one.xpath) for one in found
    ]


def test_a_block_of_many_segments_is_read_once() -> None:
    """Not once for each of its segments: the time would be the square of their number."""

    class Text(str):
        """A text that counts the characters that are taken of it."""

        taken = 0

        def __getitem__(self, key: SupportsIndex | slice) -> str:
            part = super().__getitem__(key)
            Text.taken += len(part)
            return part

    text = Text("word " * 500)
    segments = [{"block": 0, "start": at, "end": at + 4, "label": "content", "xpath": "/p"} for at in range(0, 2500, 5)]
    (found,) = pieces(text, segments)

    assert text.strip() == found.text
    assert Text.taken <= len(text)


def signed(*rows: int, template_id: str = "") -> Moment:
    signature = np.array(rows, np.uint32) if rows else None
    return Moment(capture_id="", timestamp=0, pieces=(), template_id=template_id, signature=signature)


def test_a_page_is_redesigned_if_its_templates_are_hardly_similar() -> None:
    """A step without a similarity is no redesign."""
    line = [signed(1, 2, 3, 4), signed(1, 2, 3, 9), signed(1, 2, 8, 8), signed(), signed(5, 5, 5, 5)]

    assert [0.75, 0.5, None, None] == [step.similarity for step in steps(line)]
    assert [False, True, False, False] == [step.is_redesigned(0.6) for step in steps(line)]


def redesigned(url: str, before: int, after: int, to: str = "new") -> PageRedesign:
    return PageRedesign(url=url, before=before, after=after, template_from="old", template_to=to)


def times(*pages: PageRedesign) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """List the times at which steps begin and end."""
    return tuple(np.sort(np.array([getattr(one, name) for one in pages], np.int64)) for name in ("before", "after"))  # type: ignore[return-value]


def test_pages_that_change_at_once_are_a_redesign() -> None:
    """A redesign names both templates, and lies between the last capture with the old one and the first with the new
    one."""
    pages = [redesigned("a", 1, 9), redesigned("b", 3, 7), redesigned("c", 2, 8, "other"), redesigned("z", 20, 30)]
    unchanged = redesigned("u", 5, 8)
    templates = (
        TemplateExchange(template_from="old", template_to="new", pages=2),
        TemplateExchange(template_from="old", template_to="other", pages=1),
    )

    assert [Redesign(not_before=3, not_after=7, pages=3, compared=4, url="a", templates=templates)] == redesigns(
        pages, *times(*pages, unchanged)
    )


def test_pages_that_had_no_template_in_common_are_no_redesign() -> None:
    """Pages of different templates that change at once are no redesign of their site."""
    pages = [replace(redesigned("a", 1, 9), template_from=""), replace(redesigned("b", 3, 7), template_from="")]

    assert [] == redesigns(pages, *times(*pages))
    assert [] == redesigns([pages[0], redesigned("c", 1, 9)], *times(*pages))


stretches = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8)), max_size=12)


@given(stretches)
def test_redesigns_are_as_few_as_can_be(some: Sequence[tuple[int, int]]) -> None:
    """All pages of one may have changed between its times, and no page of a later one could have joined it."""
    pages = [redesigned(str(at), start, start + length) for at, (start, length) in enumerate(some)]
    found = redesigns(pages, *times(*pages))

    assert all(one.not_before < one.not_after for one in found)
    assert all(TOGETHER <= one.pages <= one.compared for one in found)
    assert all(before.not_after <= after.not_before for before, after in pairwise(found))
    for one in found:
        inside = [page for page in pages if page.before <= one.not_before and one.not_after <= page.after]
        assert one.pages <= len(inside) <= one.compared
