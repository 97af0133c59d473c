"""Features of a segment's place in the DOM."""

import pytest

from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.errors import InputError
from reproductions.krdwrd.segment_features import structural

HTML = (
    '<html><body><ul><li><a href="/">Home</a></li><li>Here</li></ul><h1>Title</h1>'
    '<table><tr><td><p>Text of <a href="/x">a cell</a></p></td></tr></table><img src="x"></body></html>'
)


def features_of(xpath: str) -> dict[str, float]:
    sheet = Sheet(page="p", html=HTML, text="x", segments=(SegmentSpan(f"/html/body/{xpath}", 0, 1),))
    return dict(zip(structural.NAMES, structural.features(sheet)[0].tolist(), strict=True))


def test_there_are_as_many_as_in_table_41() -> None:
    """13."""
    assert len(structural.NAMES) == 13


@pytest.mark.parametrize(
    ("xpath", "places"),
    [
        ("ul/li[1]/a", {"in a link", "in a list"}),
        ("h1", {"in a heading"}),
        ("table/tr/td/p", {"in a paragraph", "in a table"}),
    ],
)
def test_what_is_around_it_is_seen(xpath: str, places: set[str]) -> None:
    """At any height."""
    found = features_of(xpath)

    assert {name for name in structural.NAMES if name.startswith("in ") and found[name]} == places


def test_links_beside_it_are_a_share_of_the_text() -> None:
    """All of the first item's parent is a link, and of the table's cell five characters of eleven."""
    assert (features_of("ul/li[1]/a")["link text"], round(features_of("table/tr/td/p")["link text"], 3)) == (1.0, 0.455)


def test_the_page_is_counted() -> None:
    """Two links and an image, as logarithms; the same for every segment."""
    found = features_of("h1")

    assert [round(found[f"{name} of the page"], 3) for name in ("links", "images", "objects")] == [1.099, 0.693, 0.0]


def test_less_markup_is_more_text() -> None:
    """A heading of five characters beside a list of items and links."""
    assert features_of("h1")["text in HTML"] > features_of("ul")["text in HTML"]


def test_a_segment_of_another_page_is_refused() -> None:
    """The error names its place."""
    with pytest.raises(InputError, match="/html/body/pre is not in the page"):
        features_of("pre")
