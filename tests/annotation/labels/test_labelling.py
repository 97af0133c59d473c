"""Set labellings over the pages that they belong to."""

from pathlib import Path

import pytest

from dbce_spark.annotation.labels import labelling
from dbce_spark.annotation.labels.labelling import contrast
from dbce_spark.annotation.markup import submission
from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.errors import InputError
from dbce_spark.model import Label
from tests.support.submissions import submission as tagged

SHEET = Sheet(
    page="p", html="<p>a</p><p>b</p>", text="a\nb", segments=(SegmentSpan("/p[1]", 0, 1), SegmentSpan("/p[2]", 2, 3))
)
BOTH = (Label.CONTENT, Label.BOILERPLATE)


def test_labels_of_one_annotator_are_taken_from_many(tmp_path: Path) -> None:
    """Without a name it is unclear which annotator is meant."""
    path = str(tmp_path / "submissions.jsonl")
    submission.write(path, [tagged("x", "cb"), tagged("y", "c-")])

    assert labelling.read(path, "y") == {"p": (Label.CONTENT, None)}
    with pytest.raises(InputError, match="p has labels of several annotators"):
        labelling.read(path)
    with pytest.raises(InputError, match="no labels of z; it has those of: x, y"):
        labelling.read(path, "z")


def test_labels_of_other_segments_are_refused() -> None:
    """Labels of other segments would colour other words."""
    with pytest.raises(InputError, match="p: 2 segments, 2 and 1 labels"):
        contrast(SHEET, BOTH, (Label.CONTENT,))
