"""Export merged labels as the gold pages that extractors are scored on."""

from pathlib import Path

import pytest

from dbce_spark.annotation.labels import gold_export
from dbce_spark.annotation.labels.majority import MergedPage, merge_page
from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.errors import InputError
from dbce_spark.evaluation import datasets
from dbce_spark.files import jsonl
from dbce_spark.model import Label
from tests.support.submissions import submission

SHEET = Sheet(
    page="p1",
    html="<p>One <b>two</b> three</p><p>four</p><p>five</p>",
    text="One two three\nfour\nfive",
    segments=(
        SegmentSpan("/p[1]", 0, 4),
        SegmentSpan("/p[1]/b[1]", 4, 7),
        SegmentSpan("/p[1]", 7, 13),
        SegmentSpan("/p[2]", 14, 18),
        SegmentSpan("/p[3]", 19, 23),
    ),
    url="http://a.example/one",
    date="2026-01-02",
)


def labelled(tags: str) -> dict[str, MergedPage]:
    return {"p1": merge_page("p1", [submission("x", tags)])}


@pytest.mark.parametrize(
    ("tags", "text"),
    [("cccbb", "One two three"), ("cbcbc", "One\nthree\nfive"), ("bbccb", "three\nfour"), ("bbbbb", "")],
)
def test_what_is_content_is_the_main_text(tags: str, text: str) -> None:
    """Segments that follow one another in a line stay in it; elsewhere a line ends."""
    entry = next(gold_export.entries([SHEET], labelled(tags), dataset="own"))

    assert [line.strip() for line in entry["gold"].split("\n")] == text.split("\n")


def test_what_is_undecided_is_in_the_wider_text_alone() -> None:
    """A caption is neither main text nor boilerplate, so only the wider text has it."""
    entry = next(gold_export.entries([SHEET], labelled("bbbuc"), dataset="own"))

    assert (entry["gold"], entry["gold_wide"]) == ("five", "four\nfive")


def test_what_readers_wrote_is_apart(tmp_path: Path) -> None:
    """It is in neither text of the page, and evaluation and training read it as the page's comments."""
    path = str(tmp_path / "gold.jsonl")
    jsonl.write(path, gold_export.entries([SHEET], labelled("cccrb"), dataset="own"))
    (page,) = datasets.read([path]).sets["own"]
    wide = next(gold_export.entries([SHEET], labelled("cccru"), dataset="own"))["gold_wide"]

    assert ("One two three", "four") == (page.gold, page.comments)
    assert "One two three\nfive" == wide
    assert "gold_comments" not in next(gold_export.entries([SHEET], labelled("cccbb"), dataset="own"))


def test_a_gold_set_is_read_by_evaluate(tmp_path: Path) -> None:
    """`dbce evaluate` reads the set with the fields of its pages and its name."""
    path = str(tmp_path / "gold.jsonl.xz")
    jsonl.write(path, gold_export.entries([SHEET], labelled("cccbb"), dataset="own"))

    page = datasets.read([path]).sets["own"][0]

    assert (page.page_id, page.url, page.gold, page.html) == ("p1", SHEET.url, "One two three", SHEET.html)
    assert page.timestamp == 1767312000000000


@pytest.mark.parametrize("sheets", [[], [Sheet(page="p1", html="", text="", segments=())]])
def test_labels_of_another_page_are_refused(sheets: list[Sheet]) -> None:
    """Labels of other segments are refused."""
    with pytest.raises(InputError, match="p1"):
        list(gold_export.entries(sheets, labelled("ccccc"), dataset="own"))


def test_a_page_that_is_there_twice_is_refused() -> None:
    """A gold set with a page twice could not be read, and the count of its pages would be wrong."""
    with pytest.raises(InputError, match="two pages have the id p1; give each once"):
        list(gold_export.entries([SHEET, SHEET], labelled("cccbb"), dataset="own"))


def test_a_page_that_nobody_labelled_is_left_out() -> None:
    """A page without labels has no gold."""
    other = Sheet(page="other", html="", text="", segments=())

    assert [entry["id"] for entry in gold_export.entries([other, SHEET], labelled("ccccc"), dataset="own")] == ["p1"]


def test_labels_have_the_tags_that_were_merged() -> None:
    """The labels that `labelled` builds have the tags that the tests above expect."""
    assert labelled("cbu-c")["p1"].tags == (
        Label.CONTENT,
        Label.BOILERPLATE,
        Label.UNDECIDED,
        Label.UNDECIDED,
        Label.CONTENT,
    )
