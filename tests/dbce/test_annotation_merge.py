"""Merging: evidence is a set, and the decision is a function of it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.annotation_merge import label_by_patterns, label_by_scores, resolve
from dbce_spark.dbce.patterns import labels_of_bits
from dbce_spark.dbce.pools import page_evidence
from dbce_spark.dbce.sites import gather
from dbce_spark.html.tokens import tokens
from dbce_spark.model import Annotation, Label, Segments
from tests.support.builders import alone_on_site, annotation, cross, filled_cross, page, parsed
from tests.support.strategies import annotations, documents

BLOCKS = parsed("<p>one two three</p><p>four</p><pre>five  six\nseven</pre>").blocks
PAGE = page("<p>word</p>")
WORDS = 7
C, B, U = Label.CONTENT, Label.BOILERPLATE, Label.UNDECIDED


def resolved(*some: Annotation, undecided: Label = U) -> Segments:
    return resolve(BLOCKS, some, undecided=undecided)


def columns(segments: Segments) -> dict[str, list[object]]:
    return {name: getattr(segments, name).tolist() for name in Segments.__dataclass_fields__}


def pieces(segments: Segments) -> list[str]:
    return [BLOCKS.text[start:end] for start, end in zip(segments.starts, segments.ends, strict=True)]


@pytest.fixture(scope="module")
def known() -> dict[str, Annotation]:
    """Annotations by their cross, as a run has them: one cross, one annotation."""
    return {name: annotation(cross(name), ["11000"]) for name in "abcde"}


@given(st.lists(st.sampled_from("abcde")))
def test_merge_is_a_union(known: dict[str, Annotation], names: list[str]) -> None:
    """In whatever order and however often annotations come, a page has each once, in order of cross id."""
    gathered = gather(PAGE, [known[name] for name in names], page_evidence(PAGE), "")

    expected = sorted((known[name].cross for name in set(names)), key=lambda one: one.cross_id)
    assert expected == [one.cross for one in gathered.annotations]


@given(annotations(WORDS), st.randoms(use_true_random=False))
def test_resolve_does_not_depend_on_order(some: list[Annotation], random: object) -> None:
    """Whichever annotation arrives first, the segments are the same."""
    by_cross = {one.cross.cross_id: one for one in some}
    shuffled = sorted(by_cross.values(), key=lambda _: random.random())  # type: ignore[attr-defined]

    assert columns(resolved(*by_cross.values())) == columns(resolved(*shuffled))


@given(annotations(WORDS, max_size=1))
def test_one_cross_decides_alone(some: list[Annotation]) -> None:
    """With one annotation the labels are those of the tables."""
    segments = resolved(*some)
    expected = labels_of_bits(some[0].cross.bits, segments.bits).tolist()

    assert expected == segments.labels.tolist()
    assert not segments.conflicts.any()


@given(documents, st.data())
def test_segments_tile_the_tokens(html: str, data: st.DataObject) -> None:
    """Every word of a page is in one segment, in order, and every segment lies in its block."""
    blocks = parsed(html).blocks
    some = data.draw(annotations(len(blocks.tokens)))
    segments = resolve(blocks, {one.cross.cross_id: one for one in some}.values(), undecided=U)
    spans = list(zip(segments.starts.tolist(), segments.ends.tolist(), segments.blocks.tolist(), strict=True))

    assert tokens(blocks.text) == [word for start, end, _ in spans for word in tokens(blocks.text[start:end])]
    assert all(blocks.starts[block] <= start < end <= blocks.ends[block] for start, end, block in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


@given(annotations(WORDS))
def test_segments_are_maximal(some: list[Annotation]) -> None:
    """Two segments in a row of one block differ in some cross."""
    unique = sorted({one.cross.cross_id: one for one in some}.values(), key=lambda one: one.cross.cross_id)
    per_token = np.stack([one.per_token() for one in unique])
    segments = resolved(*unique)
    first_words = np.cumsum([0, *(len(tokens(piece)) for piece in pieces(segments))])
    for at, (before, after) in enumerate(pairwise(segments.blocks.tolist()), start=1):
        word = first_words[at]

        assert before != after or (per_token[:, word] != per_token[:, word - 1]).any()


@given(annotations(WORDS), st.sampled_from([U, B]))
def test_scores_are_shares_of_the_evidence(some: list[Annotation], undecided: Label) -> None:
    """A score lies between 0 and 1, and counts never exceed who was compared."""
    segments = resolved(*{one.cross.cross_id: one for one in some}.values(), undecided=undecided)
    total = segments.siblings + segments.snapshots
    speaks_for = segments.siblings - segments.siblings_with + segments.snapshots_with

    assert np.allclose(speaks_for / total, segments.scores)
    assert (segments.siblings_with <= segments.siblings).all()
    assert (segments.snapshots_with <= segments.snapshots).all()


def test_segments_of_one_cross() -> None:
    """A block is cut where the bits change, and white space between segments belongs to none."""
    segments = resolved(annotation(cross(), ["11000", "10000", "10000", "10000", "11000", "11000", "10000"]))

    assert ["one", "two three", "four", "five  six", "seven"] == pieces(segments)
    assert [B, C, C, B, C] == segments.labels.tolist()
    assert [0, 0, 1, 2, 2] == segments.blocks.tolist()


def labels_of(some: Sequence[tuple[str, str, str]], undecided: Label = U) -> tuple[Label, bool]:
    """Resolve the label and conflict of a text from crosses (arms, bits, prefix of the ids)."""
    segments = resolved(
        *(annotation(filled_cross(arms, of), [bits] * WORDS) for arms, bits, of in some), undecided=undecided
    )
    return Label(segments.labels[0]), bool(segments.conflicts[0])


@pytest.mark.parametrize(
    ("some", "expected"),
    [
        ([("11000", "10000", "a"), ("11000", "10000", "b")], (C, False)),
        ([("11000", "11000", "a"), ("11000", "11000", "b")], (B, False)),
        ([("11000", "10000", "a"), ("11111", "10101", "b")], (C, False)),
        ([("11000", "10000", "a"), ("11000", "11000", "b")], (U, True)),
        ([("11100", "10000", "a"), ("11000", "11000", "b")], (C, True)),
        ([("11000", "10000", "a"), ("11100", "11100", "b")], (B, True)),
        ([("11001", "10001", "a"), ("11000", "11000", "b")], (C, True)),
        ([("11111", "10101", "a")], (U, False)),
    ],
    ids=[
        "agree C",
        "agree B",
        "no opinion aside",
        "draw",
        "more lack it",
        "more have it",
        "snapshot keeps it",
        "no opinion",
    ],
)
def test_crosses_that_agree_and_disagree(some: list[tuple[str, str, str]], expected: tuple[Label, bool]) -> None:
    """Agreement is handed on; where content stands against boilerplate, the evidence decides."""
    actual = labels_of(some)

    assert expected == actual


def test_draw_and_no_opinion_are_boilerplate_under_t002() -> None:
    """Segments that stay undecided get the label of the test case."""
    assert labels_of([("11000", "10000", "a"), ("11000", "11000", "b")], B) == (B, True)
    assert labels_of([("11111", "10101", "a")], B) == (B, False)


def test_evidence_counts_captures_not_crosses() -> None:
    """A sibling that stands in two crosses counts once."""
    one, other = cross("cur", "s1", "s2"), cross("cur", "s1", "s3", "p1")
    segments = resolved(annotation(one, ["11000"] * WORDS), annotation(other, ["11010"] * WORDS))

    assert (3, 1, 1, 1) == (
        segments.siblings[0],
        segments.siblings_with[0],
        segments.snapshots[0],
        segments.snapshots_with[0],
    )
    assert segments.scores[0] == 0.75


def test_by_score_keeps_the_evidence_of_the_crosses() -> None:
    """Segments are cut where bits change, and carry their counts of holders; label and score are the block's."""
    one = alone_on_site(page("<p>one two three</p><p>four</p>"))
    crossed = replace(one, annotations=(annotation(cross(), ["11000", "10000", "10000", "11000"]),))
    made = label_by_scores(crossed, np.array([0.75, 0.25]), np.array([True, False]))
    pattern = label_by_patterns(crossed, "T001")

    assert [Label.CONTENT, Label.CONTENT, Label.BOILERPLATE] == made.labels.tolist()
    assert [0.75, 0.75, 0.25] == made.scores.tolist()
    for name in ("blocks", "starts", "ends", "bits", "siblings", "siblings_with", "conflicts"):
        assert getattr(pattern, name).tolist() == getattr(made, name).tolist()


@pytest.mark.parametrize(("case", "expected"), [("T001", Label.UNDECIDED), ("T002", Label.BOILERPLATE)])
def test_by_pattern_has_two_cases(case: str, expected: Label) -> None:
    """Patterns in no table are undecided under T001 and boilerplate under T002."""
    one = alone_on_site(page("<p>one</p>"))
    unknown = annotation(cross("cur", "up", "down", "prev", "next"), ["10101"])

    assert [expected] == label_by_patterns(replace(one, annotations=(unknown,)), case).labels.tolist()


def test_by_pattern_without_a_cross_words_and_links_decide() -> None:
    """Words and links decide under either case."""
    long = " ".join(f"word{at}" for at in range(45))
    one = alone_on_site(page(f"<p>{long}</p><ul><li><a href=/>link</a></li></ul>"))
    for case in ("T001", "T002"):
        assert [Label.CONTENT, Label.BOILERPLATE] == label_by_patterns(one, case).labels.tolist()
