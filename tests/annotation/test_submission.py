"""Push tags down to segments, and write and read submissions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.annotation import submission
from dbce_spark.annotation.submission import Submission, push_down, text_digest
from dbce_spark.errors import InputError
from dbce_spark.model import Label

TAGS = st.none() | st.sampled_from(Label)
SUBMISSIONS = st.builds(
    Submission,
    annotator=st.text(),
    page=st.text(),
    submitted=st.integers(0, 2**60),
    seconds=st.floats(0, 1e6),
    text_digest=st.text("0123456789abcdef"),
    tags=st.lists(TAGS).map(tuple),
    prelabelled=st.text(),
)
XPATHS = ("/html[1]/body[1]/div[1]/p[1]", "/html[1]/body[1]/div[1]/p[2]", "/html[1]/body[1]/div[10]")


def test_a_tag_on_a_container_reaches_what_lies_below_it_and_nothing_beside_it() -> None:
    """/div[1] is around its paragraphs, but not around /div[10], whose path begins alike."""
    pushed = push_down([None] * 3, XPATHS, {"/html[1]/body[1]/div[1]": Label.CONTENT})

    assert pushed == (Label.CONTENT, Label.CONTENT, None)


def test_a_tag_from_above_does_not_overwrite_one_below() -> None:
    """A segment's own tag counts before its element's, and that before one further up."""
    containers = {"/html[1]": Label.BOILERPLATE, XPATHS[1]: Label.UNDECIDED}

    pushed = push_down([Label.CONTENT, None, None], XPATHS, containers)

    assert pushed == (Label.CONTENT, Label.UNDECIDED, Label.BOILERPLATE)


@given(st.lists(SUBMISSIONS))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, some: list[Submission]) -> None:
    """Submissions come out of a file of JSON lines as they went in."""
    path = str(tmp_path_factory.mktemp("submissions") / "submissions.jsonl")
    submission.write(path, some)

    assert list(submission.read(path)) == some


def test_white_space_makes_no_other_text_but_a_cut_does() -> None:
    """The digest depends on the words of each segment, not on white space."""
    one, spaced, cut = text_digest(["a b", "c"]), text_digest([" a\n b", "c "]), text_digest(["a", "b c"])

    assert (one == spaced, one == cut) == (True, False)


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "{",
        '{"annotator": "a", "page": "p", "submitted": 1, "seconds": 1, "text_digest": "", "tags": ["good"]}',
        '{"annotator": "a", "page": "p", "submitted": true, "seconds": 1, "text_digest": "", "tags": []}',
        '{"page": "p", "submitted": 1, "seconds": 1, "text_digest": "", "tags": []}',
    ],
)
def test_a_line_that_is_no_submission_is_named(tmp_path: Path, line: str) -> None:
    """The error names the file and the line."""
    path = tmp_path / "submissions.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")

    with pytest.raises(InputError, match=r"submissions\.jsonl:2: "):
        list(submission.read(str(path)))
