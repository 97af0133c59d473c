"""Output for readers: text, and HTML that does nothing."""

import re
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from lxml import html as lxml_html

from dbce_spark.dbce import single
from dbce_spark.dbce.annotation_merge import resolve
from dbce_spark.dbce.kept.annotated_html import labelled_html
from dbce_spark.html.elements import DROPPED_TAGS
from dbce_spark.html.sealed_html import ACTIVE_TAGS
from dbce_spark.model import Annotation, Label
from tests.support.builders import parsed, segments_of
from tests.support.occurrence_html import occurrence_html
from tests.support.strategies import annotations, documents


def labelled(html: str) -> str:
    """Render a page without siblings as HTML."""
    blocks = parsed(html).blocks
    return labelled_html(html.encode(), blocks.text, single.segments(blocks))


def visible(html: str) -> str:
    """List the characters of a page's text, white space aside."""
    body: Any = lxml_html.document_fromstring(html).find("body")
    etree.strip_elements(body, *DROPPED_TAGS, with_tail=False)
    return "".join("".join(body.itertext()).split())


@pytest.mark.parametrize("html", ["<h1>a</h1>" * 50_000, "<p>" + "a b c d e f <script></script>" * 50_000])
def test_siblings_cost_no_more_than_their_number(html: str) -> None:
    """Neither to find the place of each among them, nor to take out those that act."""
    began = process_time()

    assert "dbce-" in labelled(html)
    assert process_time() - began < 20


def test_text_behind_an_element_is_not_of_it() -> None:
    """The label of an element is that of the text in it."""
    html = "<p><b>one</b> two</p>"
    blocks = parsed(html).blocks

    assert '<b data-dbce="content">' in labelled_html(html.encode(), blocks.text, segments_of(blocks, "10000", "11000"))


def test_labels_stand_in_spans() -> None:
    """Each segment is wrapped where it stands, tails and inline elements among them."""
    html = "<html><head></head><body><p>one <b>two</b> three</p></body></html>"
    blocks = parsed(html).blocks
    actual = labelled_html(html.encode(), blocks.text, segments_of(blocks, "11000", "10000", "10000"))
    body = actual[actual.index("<p") : actual.index("</body>")]

    assert body == (
        '<p><span class="dbce-boilerplate">one</span> '
        '<b data-dbce="content"><span class="dbce-content">two</span></b> <span class="dbce-content">three</span></p>'
    )


def test_word_across_elements_is_wrapped_in_each() -> None:
    """A word that an inline element cuts keeps its one label in both pieces."""
    html = "<html><head></head><body><p><b>bold</b>ness</p></body></html>"
    blocks = parsed(html).blocks
    actual = occurrence_html(html.encode(), blocks.text, segments_of(blocks, "10000"))

    assert '<p><b><dbce class="dbce-cur">bold</dbce></b><dbce class="dbce-cur">ness</dbce></p>' in actual


def test_elements_get_the_label_that_all_their_text_has() -> None:
    """Labels go from children to parents while they agree."""
    html = "<html><head></head><body><ul><li>one</li><li>two</li></ul><p>three</p></body></html>"
    blocks = parsed(html).blocks
    actual = labelled_html(html.encode(), blocks.text, segments_of(blocks, "11000", "11000", "10000"))

    assert '<ul data-dbce="boilerplate"><li data-dbce="boilerplate">' in actual
    assert '<p data-dbce="content">' in actual
    assert "<body>" in actual


def test_head_is_kept() -> None:
    """The page keeps its title and styles; its charset is what it is now, and its policy ours."""
    html = (
        '<html><head><meta charset="koi8-r"><meta http-equiv=refresh content="0;url=http://evil.example/"><title>T</title>'
        "<style>p{color:red}</style></head><body><p>x</p></body></html>"
    )
    actual = labelled(html)

    assert "<title>T</title><style>p{color:red}</style>" in actual
    assert ("koi8-r" in actual, "refresh" in actual) == (False, False)
    assert actual.count("Content-Security-Policy") == 1


def test_page_without_head() -> None:
    """A page without a head gets one."""
    actual = labelled("<body><p>x</p></body>").replace(' data-dbce="boilerplate"', "")

    assert actual.startswith(
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"'
    )


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<a href='java\tscript:alert(1)'>x</a>",
        "<a href=' JavaScript:alert(1)'>x</a>",
        "<a href='vbscript:alert(1)'>x</a>",
        "<iframe src='http://evil.example/'></iframe>",
        "<form action='javascript:alert(1)'></form>",
        "<object data='data:text/html,<script>alert(1)</script>'></object>",
        "<embed src='javascript:alert(1)'>",
        "<base href='http://evil.example/'>",
        "<svg><script>alert(1)</script></svg>",
        "<svg><a><animate attributeName=href values='javascript:alert(1)'/><text>x</text></a></svg>",
        "<body onload=alert(1)>",
        "<template><script>alert(1)</script></template>",
        "<noscript><img src=x onerror=alert(1)></noscript>",
        "<div ONCLICK='alert(1)'>x</div>",
    ],
)
def test_nothing_acts(hostile: str) -> None:
    """No script, handler, frame or script URL is left, and the text around stays."""
    actual = labelled(
        f"<html><head><script>alert(0)</script></head><body><p>before</p>{hostile}<p>after</p></body></html>"
    )

    assert ("alert" in actual, "evil.example" in actual) == (False, False)
    assert visible(actual).startswith("before")
    assert visible(actual).endswith("after")


def test_text_behind_what_is_taken_out_stays() -> None:
    """A script goes, the words that follow it do not."""
    actual = labelled("<html><body>one<script>x()</script>two<b>three</b><iframe></iframe>four</body></html>")

    assert visible(actual) == "onetwothreefour"


def test_white_space_behind_what_is_taken_out_stays() -> None:
    """Lines that laid the page out stay where they were."""
    actual = labelled("<body><p>a</p><div>\n<script>x()</script>\t<hr>\n<script>y()</script>\t</div></body>")

    assert "<div>\n\t<hr>\n\t</div>" in actual


def active(root: Any) -> list[str]:
    """List what in a page might act."""
    tags = [element.tag for element in root.iter(*ACTIVE_TAGS)]
    return tags + [name for element in root.iter("*") for name in element.attrib if name.lower().startswith("on")]


@given(documents, st.data())
def test_labelled_html_keeps_every_character(html: str, data: st.DataObject) -> None:
    """The marked page shows the page's characters, in order, and nothing in it acts."""
    blocks = parsed(html).blocks
    some: list[Annotation] = data.draw(annotations(len(blocks.tokens), max_size=1))
    segments = resolve(blocks, some, undecided=Label.UNDECIDED)
    actual = labelled_html(html.encode(), blocks.text, segments)

    assert "".join(blocks.text.split()) == visible(actual)
    assert active(lxml_html.document_fromstring(actual)) == []


@given(documents, st.data())
def test_marks_cover_their_segments(html: str, data: st.DataObject) -> None:
    """The spans of a label hold the text of that label's segments."""
    blocks = parsed(html).blocks
    some: list[Annotation] = data.draw(annotations(len(blocks.tokens), max_size=1))
    segments = resolve(blocks, some, undecided=Label.UNDECIDED)
    root: Any = lxml_html.document_fromstring(labelled_html(html.encode(), blocks.text, segments))
    for label in Label:
        spans = root.xpath(f'//span[@class="dbce-{label.word}"]')
        expected = "".join(
            "".join(blocks.text[segments.starts[at] : segments.ends[at]].split())
            for at in np.flatnonzero(segments.labels == label)
        )
        actual = "".join("".join(span.text_content().split()) for span in spans)

        assert expected == actual


def test_deep_page_is_marked() -> None:
    """Thousands of levels exhaust no stack."""
    html = "<p>x</p>" + "<div>" * 5000 + "bottom" + "</div>" * 5000

    assert "x</span></p>" in labelled(html)


@pytest.mark.parametrize(
    "style",
    [
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
        "<style>a { content: '<!--<script>alert(1)</script>' }</style>",
        "<svg><desc><style></p><img src=x onerror=alert(1)></style></desc></svg>",
    ],
)
def test_text_of_styles_holds_no_markup(style: str) -> None:
    """Text that a browser would read as elements in a drawing is gone, and elsewhere it begins none."""
    made = labelled(f"<p>word</p>{style}<p>more</p>")

    assert "onerror" not in made
    assert not re.search(r"<style[^>]*>[^<]*<(?!/style>)", made)
    assert "wordmore" == visible(made)
