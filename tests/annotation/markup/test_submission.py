"""Push tags down to segments, and write and read submissions."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.annotation.markup import submission
from dbce_spark.annotation.markup.submission import Submission, text_digest
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


def with_comments(one: Submission) -> Submission:
    """Return a submission with every second segment of content as a reader's comment."""
    content = [at for at, tag in enumerate(one.tags) if tag is Label.CONTENT]
    return replace(one, comments=tuple(content[::2]))


@given(st.lists(SUBMISSIONS | SUBMISSIONS.map(with_comments)))
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
        '{"annotator": "a", "page": "p", "submitted": 1, "seconds": 1, "text_digest": "", "tags": ["content"],'
        ' "comments": [1]}',
        '{"annotator": "a", "page": "p", "submitted": 1, "seconds": 1, "text_digest": "", "tags": ["boilerplate"],'
        ' "comments": [0]}',
        '{"page": "p", "submitted": 1, "seconds": 1, "text_digest": "", "tags": []}',
    ],
)
def test_a_line_that_is_no_submission_is_named(tmp_path: Path, line: str) -> None:
    """The error names the file and the line."""
    path = tmp_path / "submissions.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")

    with pytest.raises(InputError, match=r"submissions\.jsonl:2: "):
        list(submission.read(str(path)))
