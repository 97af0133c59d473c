"""Duplicates of the main text: what is marked, and that what was said of a capture stays."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.config import DuplicatesConfig
from dbce_spark.dbce import texts
from dbce_spark.dbce.duplicates import (
    EXACT,
    NEAR,
    Like,
    Mark,
    MarkedText,
    chunks,
    extend_marks,
    find_similar,
    mark_texts,
)
from dbce_spark.dbce.texts import Text
from tests.support.builders import config

CONFIG = config().duplicates
WORDS = [f"word{number}" for number in range(400)]
TINY = config(
    *("duplicates.bands=3", "duplicates.rows=2", "duplicates.cap=2", "duplicates.threshold=0.5"),
    *("duplicates.shingle_words=2", "duplicates.steps=2"),
).duplicates


def text(name: str, words: str, url: str = "u", hour: int = 0, settings: DuplicatesConfig = CONFIG) -> Text:
    digest, signature = texts.digest_and_sign(words, settings)
    return Text(capture_id=name, url_key=url, timestamp=hour, digest=digest, signature=signature)


def varied(*changed: int) -> str:
    """Make a text of 400 words, some of them others."""
    return " ".join(f"other{at}" if at in changed else word for at, word in enumerate(WORDS))


def marked(*some: Text, settings: DuplicatesConfig = CONFIG) -> dict[str, Mark]:
    return {one.text.capture_id: one.mark for one in mark_texts([], some, settings)}


def test_the_same_words_are_a_copy() -> None:
    """Case and white space aside the text is the same: similarity 1, and the earlier capture is named, not the lower
    id."""
    found = marked(text("a", "One  two\nTHREE", "v", hour=2), text("b", "one two three", hour=1))

    assert Mark(duplicate_of=None, similarity=None, same_url=False, copy_of=None, repeats=None, steps=0) == found["b"]
    assert Mark(duplicate_of="b", similarity=1.0, same_url=False, copy_of="b", repeats=None, steps=0) == found["a"]


def test_a_word_that_changes_is_nearly_the_same() -> None:
    """One word of 400 is changed, in another capture of the URL: nearly the same, by the estimate of the signatures."""
    one, other = text("a", varied(), hour=1), text("b", varied(200), hour=2)
    found = marked(one, other)["b"]

    assert ("a", True, None, NEAR, 1) == (
        found.duplicate_of,
        found.same_url,
        found.copy_of,
        found.repeats,
        found.steps,
    )
    assert found.similarity == (_signature(one) == _signature(other)).mean()
    assert 0.9 < (found.similarity or 0.0) < 1.0


def test_another_text_is_nobodys_duplicate() -> None:
    """A text with 40 of 400 words changed keeps a third of its shingles, and nothing is marked."""
    found = marked(text("a", varied(), hour=1), text("b", varied(*range(0, 400, 10)), hour=2))

    assert [None, None] == [one.duplicate_of for one in found.values()]


def test_a_copy_of_a_near_duplicate_names_the_leader_and_its_own_first() -> None:
    """Its mark has the leader and the earliest capture of the very same text."""
    some = [text("a", varied(), "u", 1), text("b", varied(5), "v", 2), text("c", varied(5), "w", 3)]
    found = marked(*some)["c"]

    assert ("a", "b") == (found.duplicate_of, found.copy_of)
    assert found.similarity == marked(*some)["b"].similarity


def test_snapshots_repeat_their_url_wherever_the_text_was_first() -> None:
    """A text that another URL had first is no repetition of its own URL the first time, and is one the second time."""
    some = [text("a", varied(), "u", 1), text("b", varied(), "v", 2), text("c", varied(), "v", 3)]
    some.append(text("d", varied(9), "v", 4))
    found = marked(*some)

    assert [None, None, EXACT, NEAR] == [one.repeats for one in found.values()]
    assert [False] * 4 == [one.same_url for one in found.values()]


def test_a_drifting_text_gets_leaders_on_its_way() -> None:
    """A text of which each capture is like the one before and, after some, no longer like the first: whatever is
    marked is like its leader, and leaders are nobody's duplicate."""
    some = [text(f"{day:03}", varied(*range(0, 8 * day, 4)), hour=day) for day in range(40)]
    found = marked(*some)
    leaders = {one.duplicate_of for one in found.values() if one.duplicate_of}

    assert 2 < len(leaders) < 20
    assert all(found[one].duplicate_of is None for one in leaders)
    assert all(one.similarity is None or one.similarity >= CONFIG.threshold for one in found.values())


def test_what_takes_too_many_steps_is_nobodys_duplicate() -> None:
    """With one step those that are like the first are marked; what became of later ones was not yet clear."""
    some = [text(f"{day:03}", varied(*range(0, 8 * day, 4)), hour=day) for day in range(40)]
    settings = config("duplicates.steps=1").duplicates
    found = marked(*some, settings=settings)
    unclear = [one for one in found.values() if one.steps is None]

    assert unclear
    assert {None} == {one.duplicate_of for one in unclear}
    assert {"000"} == {one.duplicate_of for one in found.values() if one.duplicate_of}


def test_short_texts_are_compared_as_a_whole() -> None:
    """Texts with fewer words than a shingle have no signature: they are copies or nothing."""
    found = marked(text("a", "not found", hour=1), text("b", "not found", hour=2), text("c", "not here", hour=3))

    assert [None, "a", None] == [one.duplicate_of for one in found.values()]


@pytest.mark.parametrize(
    ("size", "expected"),
    [(0, []), (3, [[0, 1, 2]]), (4, [[0, 1, 2], [0, 3]]), (7, [[0, 1, 2], [0, 3, 4, 5], [0, 6]])],
)
def test_runs_begin_with_the_first_of_their_bucket(size: int, expected: list[list[int]]) -> None:
    """A run of each `cap` texts, which later texts do not change."""
    assert expected == chunks(range(size), 3)


SOME = st.lists(st.tuples(st.sampled_from("uvw"), st.lists(st.sampled_from("ab"), min_size=3, max_size=7)), max_size=14)
"""Captures by URL, and words of their texts: so few that many texts are alike in part."""


def drawn(some: Sequence[tuple[str, list[str]]]) -> list[Text]:
    return [text(f"{at:02}", " ".join(words), url, at // 2, TINY) for at, (url, words) in enumerate(some)]


@given(SOME, st.integers(0, 14), st.integers(0, 14))
def test_later_captures_change_nothing_that_was_said(some: list[tuple[str, list[str]]], one: int, other: int) -> None:
    """Marking an archive in three parts, each beside what is known of those before, gives what marking it at once
    gives; and so does every beginning of it."""
    every = drawn(some)
    at_once = mark_texts([], reversed(every), TINY)
    first, second = sorted((one, other))
    known: list[MarkedText] = []
    for part in (every[:first], every[first:second], every[second:]):
        known += mark_texts(known, part, TINY)

    assert at_once == known
    assert at_once[:first] == mark_texts([], every[:first], TINY)


@given(SOME)
def test_without_what_is_marked_every_text_is_still_there(some: list[tuple[str, list[str]]]) -> None:
    """Every duplicate names an earlier capture that is no duplicate itself and is as similar as is said; every copy
    names one of the same text."""
    every = {one.text.capture_id: one for one in mark_texts([], drawn(some), TINY)}
    for own, mark in every.values():
        if mark.copy_of is not None:
            assert every[mark.copy_of].text.digest == own.digest
            assert every[mark.copy_of].mark.copy_of is None
        if mark.duplicate_of is None:
            continue
        leader = every[mark.duplicate_of]
        assert leader.mark.duplicate_of is None
        assert (leader.text.timestamp, leader.text.capture_id) < (own.timestamp, own.capture_id)
        if leader.text.digest != own.digest:
            assert mark.similarity == (_signature(own) == _signature(leader.text)).mean() >= TINY.threshold


def _signature(of: Text) -> texts.TextSignature:
    assert of.signature is not None
    return of.signature


def test_what_texts_are_like_is_ordered_by_time() -> None:
    """`find` names the earlier texts from the earliest on, each once however many buckets they share."""
    some = [text("b", varied(), hour=1), text("a", varied(3), hour=2)]
    found = find_similar(some, CONFIG)

    assert ["a"] == [*found]
    assert [Like("b", float((_signature(some[0]) == _signature(some[1])).mean()))] == found["a"]


def test_a_hot_bucket_is_not_compared_all_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand texts in one bucket, none like another: each run is compared by itself, so rows that are compared grow
    with the texts and not with their square."""
    compared: list[int] = []
    alike = texts.alike

    def counted(signatures: texts.TextSignature, threshold: float) -> object:
        compared.append(len(signatures))
        return alike(signatures, threshold)

    monkeypatch.setattr(texts, "alike", counted)
    signature = np.arange(6, dtype=np.uint16)
    some = []
    for at in range(1000):
        own = signature + np.array([0, 0, at, at, at, at], np.uint16) + np.array([0, 0, 1, 2, 3, 4], np.uint16) * at
        some.append(Text(capture_id=f"{at:04}", url_key="u", timestamp=at, digest=str(at), signature=own))
    settings = config("duplicates.bands=3", "duplicates.rows=2", "duplicates.cap=50").duplicates
    mark_texts([], some, settings)

    assert max(compared) == 51


@given(SOME, st.dictionaries(st.integers(0, 13), st.lists(st.sampled_from("abc"), max_size=7)), st.integers(0, 14))
def test_marks_hold_when_captures_are_labelled_again(
    some: list[tuple[str, list[str]]], changed: dict[int, list[str]], known_count: int
) -> None:
    """Whatever text known captures come to have, or none: in the end every duplicate names a capture that leads and is
    as similar as is said, and every copy the first of the same text."""
    every = drawn(some)
    known = mark_texts([], every[:known_count], TINY)
    relabelled = {
        one.text.capture_id: text(one.text.capture_id, " ".join(changed[at]), one.text.url_key, at // 2, TINY)
        if changed[at]
        else None
        for at, one in enumerate(known)
        if at in changed
    }
    relabelled_marks = extend_marks(known, relabelled, every[known_count:], TINY)
    found = {one.text.capture_id: one for one in [*known, *relabelled_marks]}
    for name, now in relabelled.items():
        if now is None:
            del found[name]

    assert {one.text.capture_id for one in relabelled_marks} >= {one.capture_id for one in every[known_count:]}
    assert len({one.text.capture_id for one in relabelled_marks}) == len(relabelled_marks)
    for name, now in relabelled.items():
        assert now is None or found[name].text.digest == now.digest
    for own, mark in found.values():
        assert mark.copy_of is None or found[mark.copy_of].text.digest == own.digest
        assert mark.copy_of is None or found[mark.copy_of].mark.copy_of is None
        assert own.capture_id not in (mark.copy_of, mark.duplicate_of)
        if mark.duplicate_of is not None:
            leader = found[mark.duplicate_of]
            assert leader.mark.duplicate_of is None
            if leader.text.digest != own.digest:
                assert mark.similarity == (_signature(own) == _signature(leader.text)).mean() >= TINY.threshold


def test_a_text_that_stays_keeps_its_mark() -> None:
    """Labelled again with the same text, a capture is said the same of, and nobody else is asked."""
    first, copy, other = text("a", "one two", hour=1), text("b", "one two", hour=2), text("c", "three four", hour=3)
    known = mark_texts([], [first, copy, other], CONFIG)

    assert [known[0], known[2]] == extend_marks(known, {"a": first, "c": other}, [], CONFIG)
    assert ["b", "a"] == [
        one.text.capture_id for one in extend_marks(known, {"a": text("a", "five", hour=1)}, [], CONFIG)
    ][::-1]
