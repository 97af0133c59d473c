"""Two labellings over a page: what agrees is light, what differs has the colour it should have had."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dbce_spark.html.dom import PageError
from dbce_spark.model import Label
from dbce_spark.report import overlay
from dbce_spark.report.overlay import Contrast, Names

CONTENT, BOILERPLATE, UNDECIDED = Label.CONTENT, Label.BOILERPLATE, Label.UNDECIDED
NAMES = Names("people", "machine")
HTML = """<html><head><title>T</title></head><body onload="x()"><div>Home <a href="javascript:x()">News</a></div>
<p>The first <b>half</b> of a line.</p><p>A caption</p><script>alert(1)</script></body></html>"""
TEXT = "Home News\nThe first half of a line.\nA caption"
PAGE = Contrast(
    page="p/../1",
    url="http://a.example/<1>",
    html=HTML,
    text=TEXT,
    spans=[(0, 9), (10, 35), (36, 45)],
    reference=(BOILERPLATE, CONTENT, UNDECIDED),
    given=(BOILERPLATE, CONTENT, UNDECIDED),
)


def coloured(of: Contrast) -> list[tuple[str, str]]:
    return re.findall(r'<span class="(dbce-[^"]+)">([^<]*)</span>', overlay.page_html(of))


def test_what_both_say_is_light() -> None:
    """Text with one label from both has its light colour, also where inline elements cut a segment."""
    assert coloured(PAGE) == [
        ("dbce-agree-boilerplate", "Home"),
        ("dbce-agree-boilerplate", "News"),
        ("dbce-agree-content", "The first"),
        ("dbce-agree-content", "half"),
        ("dbce-agree-content", "of a line."),
        ("dbce-agree-undecided", "A caption"),
    ]


def test_what_differs_has_the_colour_of_the_reference() -> None:
    """Differing text has the reference's colour and a line in the other's; text without a reference has no colour."""
    differing = replace(PAGE, reference=(BOILERPLATE, None, UNDECIDED), given=(CONTENT, CONTENT, None))

    assert dict(coloured(differing)) == {
        "dbce-differ-boilerplate dbce-gave-content": "News",
        "dbce-unknown": "of a line.",
        "dbce-differ-undecided dbce-gave-none": "A caption",
    }
    assert all(f".{name} " in overlay.style() for name in ("dbce-differ-boilerplate", "dbce-gave-content"))


def test_the_difference_is_counted_in_words() -> None:
    """The words that the reference labels are counted: missed content, added content, and other differences."""
    given = replace(PAGE, given=(CONTENT, BOILERPLATE, BOILERPLATE))
    found = overlay.difference(given)

    assert (found.words, found.missed, found.added, found.other, found.share) == (10, 6, 2, 2, 1.0)
    assert overlay.difference(replace(given, reference=(None,) * 3)).share == 0.0


def test_the_page_is_without_arms() -> None:
    """No script, no handler, no link to one; a policy forbids the rest, and the frame around it too."""
    shown, document = overlay.page_html(PAGE), overlay.document(PAGE, NAMES, overlay.difference(PAGE))

    assert not [one for one in ("alert", "onload", "javascript:") if one in shown + document]
    assert "default-src 'none'" in shown
    assert '<iframe sandbox title="the page" srcdoc="' in document
    assert "http://a.example/&lt;1&gt;" in document


def test_text_of_another_page_is_refused() -> None:
    """Text that is not the page's is refused, since its colours would lie elsewhere."""
    with pytest.raises(PageError, match="'Thefirst"):
        overlay.page_html(replace(PAGE, text=TEXT.replace("The", "Some")))


def test_a_set_is_listed_from_what_differs_most(tmp_path: Path) -> None:
    """Each page is a file, under a harmless name whatever its id is; the index lists the largest differences first."""
    worse = replace(PAGE, page="worse", given=(BOILERPLATE, BOILERPLATE, UNDECIDED))
    found = overlay.write(str(tmp_path / "out"), [PAGE, worse], NAMES)
    index = (tmp_path / "out" / "index.html").read_text("utf-8")

    assert [(one.page, one.share) for one in found] == [("worse", 0.6), ("p/../1", 0.0)]
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == sorted(
        ["index.html", *(one.file for one in found)]
    )
    assert re.findall(r'<a href="([^"]+)">', index) == [one.file for one in found]
    assert "30.0 %" in index
