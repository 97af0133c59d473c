"""The title heading, and pages without it."""

from pathlib import Path

import numpy as np
import pytest

from dbce_spark.archive import warc
from dbce_spark.dbce import local, pages
from dbce_spark.dbce.kept.title_heading import main_heading, title_blocks, with_title, without_title
from dbce_spark.model import Extraction, Page
from tests.support.builders import archive, capture, config, http, record

STORY = "The old harbour opens again on Sunday, after two years of work on the quay, and all ships can land there."


def read(title: str, heading: str) -> Page:
    html = f"<title>{title}</title><p>{heading}</p><h1>{heading}</h1><p>{STORY}</p>"
    found = pages.parse_fetch(warc.Fetch(capture("http://a.example.org/"), html.encode()), config("label.by=T002"))
    assert isinstance(found, Page)
    return found


@pytest.mark.parametrize(
    ("title", "heading", "kept"),
    [
        ("Harbour opens", "Harbour opens", [True, False, True]),
        ("HARBOUR opens - The Gazette", "Harbour opens!", [True, False, True]),
        ("The Gazette | News | Harbour opens", "Harbour opens", [True, False, True]),
        ("Harbour-side shops", "Harbour", [True, False, True]),
        ("Harbour-side shops", "Harbour opens", [True, False, True]),
        ("Harbour-side shops", "Harbour opens again", [True, True, True]),
        ("老港口重新开放_某网", "老港口重新开放", [True, False, True]),
        ("某网-老港口重新开放", "老港口重新开放", [True, False, True]),
        ("The Gazette", "Harbour opens", [True, True, True]),
        ("", "Harbour opens", [True, True, True]),
    ],
)
def test_the_block_that_says_the_title_is_dropped_once(title: str, heading: str, kept: list[bool]) -> None:
    """The whole of it or a part between signs; the first of the content, here the second of the page. Where none says
    it, the heading that the content begins with, if half of its words are the title's."""
    is_kept = np.array([False, True, True])
    expected = [False, *kept[1:]]

    assert expected == without_title(read(title, heading), is_kept).tolist()
    assert [False, True, True] == is_kept.tolist()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h1>All open</h1><p>one two</p><h2>More</h2><p>three</p>", [False, True, True, True]),
        ("<p>one two</p><h1>All open</h1><p>three</p>", [True, True, True]),
        ("<h1>All open</h1><p>one two</p><h1>More</h1><p>three</p>", [True, True, True, True]),
        ("<h2>All open</h2><p>one two</p>", [True, True]),
        ("<p>one</p><p>Gazette</p><h1>All open</h1>", [True, False, True]),
    ],
)
def test_a_heading_with_other_words_is_the_title_where_the_text_begins(body: str, expected: list[bool]) -> None:
    """The content must begin with it, and have no other <h1>; a block that says a part of the title goes before."""
    fetch = warc.Fetch(
        capture("http://a.example.org/"), f"<title>It opens now: all | Gazette | open</title>{body}".encode()
    )
    page = pages.parse_fetch(fetch, config("label.by=T002"))
    assert isinstance(page, Page)

    assert expected == without_title(page, np.ones(len(expected), np.bool_)).tolist()


@pytest.mark.parametrize(("title", "expected"), [("Harbour opens - Gazette", [0, 1]), ("The Gazette", [1]), ("", [])])
def test_texts_are_read_of_blocks_that_may_be_the_title(title: str, expected: list[int]) -> None:
    """A block that says the title may be it, and so may an <h1>; none is where a page declares no title."""
    assert dict.fromkeys(expected, "Harbour opens") == title_blocks(read(title, "Harbour opens"))


@pytest.mark.parametrize("title", ["keep", "drop"])
def test_the_title_is_content_unless_it_is_dropped(title: str, tmp_path: Path) -> None:
    """Nothing else of the text changes."""
    html = f"<title>Harbour opens</title><h1>Harbour opens</h1><p>{STORY}</p><p>{STORY.replace('old', 'new')}</p>"
    path = archive(tmp_path / "a.warc", record(http(html)))
    (one,) = local.extract([path], config(f"label.title={title}")).extractions

    assert isinstance(one, Extraction)
    assert ("Harbour opens" in one.text.split("\n")) == (title == "keep")
    assert STORY in one.text


@pytest.mark.parametrize(
    ("title", "body", "score", "expected"),
    [
        ("Harbour opens - Gazette", "<p>one<h1>Harbour opens</h1><p>two", 0.21, [False, True, True]),
        ("Harbour opens - Gazette", "<p>one<h1>Harbour opens</h1><p>two", 0.2, [False, False, True]),
        ("Harbour opens", "<p>one<h1>Harbour opens</h1><p>two", 0.21, [False, True, True]),
        ("Gazette", "<p>one<h1>Harbour opens</h1><p>two", 0.35, [False, True, True]),
        ("Gazette", "<p>one<h1>Harbour opens</h1><p>two", 0.34, [False, False, True]),
        ("Harbour opens", "<h1>Harbour</h1><h1>Opens</h1><p>two", 0.9, [False, False, True]),
        ("Harbour opens", "<p>one<h2>Harbour opens</h2><p>two", 0.9, [False, False, True]),
    ],
)
def test_the_main_heading_is_kept_by_its_own_score(title: str, body: str, score: float, expected: list[bool]) -> None:
    """The only <h1>, from the cut on; from six tenths of it if it says nothing that the title does not."""
    fetch = warc.Fetch(capture("http://a.example.org/"), f"<title>{title}</title>{body}".encode())
    page = pages.parse_fetch(fetch, config("label.by=T002"))
    assert isinstance(page, Page)
    scores = np.full(3, score)

    assert expected == with_title(page, scores, np.array([False, False, True]), "balanced").tolist()
    assert not with_title(page, scores, np.zeros(3, np.bool_), "balanced").any()


def test_a_heading_that_a_link_closes_is_one() -> None:
    """The signs behind the headings of documentation are blocks of their own."""
    headings = "".join(f"<h{level}>Part {level}<a href='#{level}'>¶</a></h{level}>" for level in (1, 2, 3))
    page = pages.parse_fetch(warc.Fetch(capture("http://a.example.org/"), headings.encode()), config("label.by=T002"))
    assert isinstance(page, Page)

    assert 6 == len(page.blocks)
    assert 0 == main_heading(page)
