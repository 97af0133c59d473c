"""Labelled pages without what their reader copied."""

from dataclasses import replace

import pytest

from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.reader_texts import reader_texts
from dbce_spark.evaluation.training.emptied_pages import emptied
from dbce_spark.html.dom import parse_tree

HTML = """<html><head><title>Tides</title></head><body><ul><li>Home</ul><main><h1>Tides</h1>
<p>High at <b>six</b>, low at noon.</main>\x01<div>Anna: <i>thanks!</i></div>
<div><p>Rain at nine.</p> Share this.</div><p>Imprint</body></html>"""
LABELS = {"Tides": 1, "High at": 1, "six": 1, ", low at noon.": 1, "Anna:": 2, "thanks!": 2, "Rain at nine.": 1}


def labelled(html: str = HTML, page_id: str = "a") -> GoldPage:
    """A page whose reader copied the texts of LABELS; the first "Tides" is its title."""
    texts = [one.text for one in reader_texts(parse_tree(html.encode()))]
    nodes = [(LABELS.get(text, 0) * (at > 0), text) for at, text in enumerate(texts)]
    return GoldPage(
        dataset="set-read", page_id=page_id, url="http://a.example.org/", site="a.example.org", group="",
        url_key=page_id, timestamp=0, lang="", page_type="page", html=html, gold="High at", nodes=nodes,
    )  # fmt: skip


def test_boilerplate_is_left_and_nothing_else() -> None:
    """Content and comments go, and with them the elements that held nothing else; what lies behind these stays."""
    found = emptied(labelled())
    assert found
    assert ["Tides", "Home", "Share this.", "Imprint"] == [
        one.text for one in reader_texts(parse_tree(found.body)) if one.text != "\x01"
    ]
    assert [] == parse_tree(found.body).xpath("//main | //h1 | //b | //i")
    assert {0} == {label for label, _ in found.nodes}
    assert ("emptied/a", "none", "") == (found.page_id, found.page_type, found.gold)


def test_pages_that_cannot_be_emptied() -> None:
    """Of a page that no reader labelled, one that is all content or none, and one with labels of another text."""
    page = labelled()
    nothing, everything = ([(label, text) for _, text in page.nodes] for label in (0, 1))
    others = [(label, f"{text}!") for label, text in page.nodes]

    assert [None] * 4 == [emptied(replace(page, nodes=nodes)) for nodes in ((), nothing, everything, others)]


@pytest.mark.parametrize("known", [{}, {"site": ""}, {"site": "", "url": ""}, {"site": "", "group": "g", "url": ""}])
def test_an_emptied_page_is_of_the_same_site(known: dict[str, str]) -> None:
    """Also where the site is made up."""
    page = replace(labelled(), **known)  # type: ignore[arg-type]
    found = emptied(page)

    assert found
    assert page.address == found.address
