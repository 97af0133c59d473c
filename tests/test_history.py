"""The history of a page: what came, went, changed and moved."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.history import (
    ADDED,
    EDITED,
    MOVED,
    RELABELLED,
    REMOVED,
    REPLACED,
    Moment,
    Piece,
    changes,
    is_redesigned,
    lives,
    pieces,
)

LONG = "The council has met on Tuesday and decided to build {} new schools in the north of the town, as was asked."


def moment(*texts: str, at: int = 0, label: str = "content") -> Moment:
    made = tuple(Piece(text=text, label=label, xpath=f"/p[{nth}]") for nth, text in enumerate(texts, 1))
    return Moment(capture_id=str(at), timestamp=at, pieces=made)


def told(before: Moment, after: Moment) -> list[tuple[str, str, str]]:
    return [
        (one.kind, one.before.text if one.before else "", one.after.text if one.after else "")
        for one in changes(before, after)
    ]


def test_the_same_page_has_no_changes() -> None:
    """Nor has an empty one."""
    assert told(moment("a", "b"), moment("a", "b", at=1)) == []
    assert told(moment(), moment(at=1)) == []


def test_what_comes_and_goes_is_told() -> None:
    """In the order of the page."""
    actual = told(moment("head", "goes", "foot"), moment("first", "head", "foot"))

    assert [(ADDED, "", "first"), (REMOVED, "goes", "")] == sorted(actual)


def test_a_corrected_text_is_edited() -> None:
    """It is the same text still, wherever it stands now."""
    before, after = LONG.format("two"), LONG.format("three")

    assert [(EDITED, before, after)] == told(moment("head", before), moment("head", after))


def test_another_text_in_the_same_place_replaces() -> None:
    """The place is told by its path."""
    assert [(REPLACED, "Sunny, 24 degrees", "RAIN!")] == told(
        moment("head", "Sunny, 24 degrees"), moment("head", "RAIN!")
    )


def test_a_text_that_stands_elsewhere_has_moved() -> None:
    """It did not go and come."""
    assert [(MOVED, "c", "c")] == told(moment("a", "b", "c"), moment("c", "a", "b"))


def test_another_label_is_a_change() -> None:
    """With the same text in the same place."""
    (change,) = changes(moment("a"), moment("a", label="boilerplate"))

    assert (RELABELLED, "boilerplate") == (change.kind, change.label)


texts = st.lists(st.sampled_from(["a", "b", "c", "d", LONG.format(1), LONG.format(2), LONG.format("x y")]), max_size=8)


@given(texts, texts)
def test_changes_lead_from_one_capture_to_the_next(old: Sequence[str], new: Sequence[str]) -> None:
    """What is not told is in both: with what went put back and what came taken away, the texts are those before."""
    found = told(moment(*old), moment(*new))
    kept = [*new]
    for kind, _, after in found:
        if kind in (ADDED, EDITED, REPLACED, MOVED):
            kept.remove(after)
    kept += [before for kind, before, _ in found if kind in (REMOVED, EDITED, REPLACED, MOVED)]

    assert sorted(old) == sorted(kept)


@given(texts)
def test_nothing_changes_into_itself(some: Sequence[str]) -> None:
    """A capture beside itself has no changes."""
    assert told(moment(*some), moment(*some)) == []


def test_lives_say_from_when_to_when() -> None:
    """In how many captures a text stood, how often it moved, and what became of it."""
    two, three = LONG.format("two"), LONG.format("three")
    line = [moment("a", "b", two, at=1), moment("b", "a", two, at=2), moment("b", three, at=5), moment("b", "a", at=9)]
    found = {one.text: (one.first_seen, one.last_seen, one.captures, one.end) for one in lives(line)}

    assert found == {
        "a": (1, 9, 3, ""),
        "b": (1, 9, 4, ""),
        two: (1, 2, 2, EDITED),
        three: (5, 5, 1, REPLACED),
    }
    assert 1 == sum(one.moves for one in lives(line))


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


def test_a_redesign_is_a_template_that_is_hardly_similar() -> None:
    """Where the similarity is not known nothing is said."""
    one = moment("a")

    assert not is_redesigned(one, 0.5)
    assert [True, True, False] == [
        is_redesigned(Moment(capture_id="", timestamp=0, pieces=(), similarity=value), 0.5) for value in (0, 0.4, 0.5)
    ]
