"""Merge by majority: ties are undecided, and no submission goes without a reason."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.annotation.labels import majority
from dbce_spark.annotation.labels.majority import Master, RefusalReason, master, merge
from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.annotation.markup.submission import Submission
from dbce_spark.errors import InputError
from dbce_spark.model import Label
from tests.support.submissions import corpus, submission

UNDECIDED, CONTENT, BOILERPLATE = Label.UNDECIDED, Label.CONTENT, Label.BOILERPLATE
TAGS = st.none() | st.sampled_from(Label)
CORPUS = corpus(p=3, q=2)


@st.composite
def submissions(draw: st.DrawFn) -> list[Submission]:
    """Draw submissions of three annotators on two pages and one that is missing, some of them damaged, some given
    again."""
    return [
        submission(
            draw(st.sampled_from("xyz")),
            draw(st.lists(TAGS, min_size=1, max_size=4)),
            page=draw(st.sampled_from("pqr")),
            digest=draw(st.sampled_from("dde")),
            at=draw(st.integers(0, 3)),
        )
        for _ in range(draw(st.integers(0, 12)))
    ]


def test_the_majority_decides_and_ties_are_undecided() -> None:
    """The votes are three for content, two of three for boilerplate, one each, none, and two of three for undecided,
    which can win as well."""
    tags_of_each = ["ccc-u", "cbb-u", "cbu-c"]

    merged = merge(
        corpus(p=5),
        [submission(name, tags) for name, tags in zip("xyz", tags_of_each, strict=True)],
        minimum=3,
        excluded={},
    ).pages[0]

    assert merged.tags == (CONTENT, BOILERPLATE, UNDECIDED, UNDECIDED, UNDECIDED)
    assert merged.votes == ((0, 3, 0), (0, 1, 2), (1, 1, 1), (0, 0, 0), (2, 1, 0))


def test_most_of_those_who_call_it_content_say_whether_readers_wrote_it(tmp_path: Path) -> None:
    """Two of three, two of two beside a vote for boilerplate, one of two, and two whom boilerplate outvotes; the file
    keeps it, and says nothing where there is none."""
    tags_of_each = ["rrrrc", "rrcrc", "cbbb-", "---bc", "---bc"]
    submissions = [submission(name, tags) for name, tags in zip("xyzvw", tags_of_each, strict=True)]
    merged = merge(corpus(p=5), submissions, minimum=1, excluded={}).pages
    path = str(tmp_path / "merged.jsonl")
    majority.write(path, merged)

    assert (CONTENT, CONTENT, CONTENT, BOILERPLATE, CONTENT) == merged[0].tags
    assert (0, 1) == merged[0].comments
    assert [*merged] == [*majority.read(path)]
    majority.write(path, [majority.merge_page("p", [submission("x", "cc")])])
    assert "comments" not in Path(path).read_text("utf-8")


@pytest.mark.parametrize(
    ("given_", "reason"),
    [
        (submission("x", "cb", page="none"), RefusalReason.UNKNOWN_PAGE),
        (submission("x", "cb"), RefusalReason.NODES_MISSING),
        (submission("x", "cbcb"), RefusalReason.NODES_MISSING),
        (submission("x", "cbc", digest="other"), RefusalReason.TEXT_DIFFERS),
        (submission("x", "---"), RefusalReason.UNTAGGED),
        (submission("left", "cbc"), RefusalReason.EXCLUDED),
    ],
)
def test_what_does_not_fit_is_refused_with_its_reason(given_: Submission, reason: RefusalReason) -> None:
    """The submission of another annotator still counts."""
    found = merge(CORPUS, [given_, submission("y", "ccc")], minimum=1, excluded={"left": "by hand"})

    assert [one.reason for one in found.refused] == [reason]
    assert [one.annotators for one in found.pages] == [("y",)]


def test_the_last_submission_of_an_annotator_counts() -> None:
    """An earlier submission is refused as superseded, also where it comes later in the file."""
    found = merge(
        CORPUS, [submission("x", "bb", page="q", at=9), submission("x", "cc", page="q", at=3)], minimum=1, excluded={}
    )

    assert (found.pages[0].tags, [one.reason for one in found.refused]) == (
        (BOILERPLATE, BOILERPLATE),
        [RefusalReason.SUPERSEDED],
    )


def test_a_page_with_too_few_submissions_is_left_out_and_listed() -> None:
    """A page with too few submissions is not merged, but listed."""
    found = merge(
        CORPUS,
        [submission("x", "cc", page="q"), submission("y", "cc", page="q"), submission("x", "ccc")],
        minimum=2,
        excluded={},
    )

    assert ([one.page for one in found.pages], found.too_few) == (["q"], {"p": 1})


@given(submissions(), st.integers(1, 3))
def test_every_submission_is_accepted_or_refused(some: list[Submission], minimum: int) -> None:
    """Every page with an accepted submission is merged or has too few."""
    found = merge(CORPUS, some, minimum=minimum, excluded={})
    accepted = Counter((one.annotator, one.page, one.submitted) for one in found.accepted)
    refused = Counter((one.annotator, one.page, one.submitted) for one in found.refused)

    assert accepted + refused == Counter((one.annotator, one.page, one.submitted) for one in some)
    assert {one.page for one in found.accepted} == {one.page for one in found.pages} | set(found.too_few)


@given(submissions(), st.randoms(use_true_random=False))
def test_the_order_of_submissions_does_not_matter(some: list[Submission], random: Random) -> None:
    """Submissions come from a database, or from several files, so their order must not matter."""
    shuffled = list(some)
    random.shuffle(shuffled)

    assert merge(CORPUS, shuffled, minimum=1, excluded={}) == merge(CORPUS, some, minimum=1, excluded={})


@given(st.lists(st.lists(TAGS, min_size=3, max_size=3), min_size=1, max_size=6), st.permutations(list(Label)))
def test_no_label_is_favoured(tags_of_each: list[list[Label | None]], names: list[Label]) -> None:
    """With other names for the labels, the result has these names; but undecided names a tie as well."""
    given_ = [submission(str(at), tags) for at, tags in enumerate(tags_of_each)]
    renamed = [
        submission(str(at), [None if tag is None else names[tag] for tag in tags])
        for at, tags in enumerate(tags_of_each)
    ]
    first, second = majority.merge_page("p", given_), majority.merge_page("p", renamed)
    decided = [votes.count(max(votes)) == 1 for votes in first.votes]

    assert [tag for tag, is_one in zip(second.tags, decided, strict=True) if is_one] == [
        names[tag] for tag, is_one in zip(first.tags, decided, strict=True) if is_one
    ]


@given(st.lists(st.lists(TAGS, min_size=2, max_size=2), min_size=1, max_size=5))
def test_a_vote_for_the_winner_changes_nothing(tags_of_each: list[list[Label | None]]) -> None:
    """One more vote for each winner leaves the result as it is."""
    given_ = [submission(str(at), tags) for at, tags in enumerate(tags_of_each)]
    before = majority.merge_page("p", given_)
    winners = [
        tag if votes.count(max(votes)) == 1 else None for tag, votes in zip(before.tags, before.votes, strict=True)
    ]

    assert majority.merge_page("p", [*given_, submission("one more", winners)]).tags == before.tags


@given(submissions())
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, some: list[Submission]) -> None:
    """Merged pages come out of a file of JSON lines as they went in."""
    path = str(tmp_path_factory.mktemp("merged") / "merged.jsonl")
    pages = merge(CORPUS, some, minimum=1, excluded={}).pages
    majority.write(path, pages)

    assert tuple(majority.read(path)) == pages


@pytest.mark.parametrize("tags", ['["good"]', "[1]", '["content", "content"]'])
def test_a_line_that_is_no_merged_page_is_named(tmp_path: Path, tags: str) -> None:
    """The error says in which line of which file."""
    path = tmp_path / "merged.jsonl"
    path.write_text(f'{{"page": "p", "annotators": [], "tags": {tags}, "votes": [[0, 1, 0]]}}', encoding="utf-8")

    with pytest.raises(InputError, match=r"merged\.jsonl:1: "):
        list(majority.read(str(path)))


def test_a_page_says_what_its_submissions_must_fit() -> None:
    """As many tags as it has segments, of the same text."""
    sheet = Sheet(page="p", html="", text="a b", segments=(SegmentSpan("/p[1]", 0, 1), SegmentSpan("/p[2]", 2, 3)))

    assert master(sheet) == Master(segments=2, text_digest=sheet.text_digest)
