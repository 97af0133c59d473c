"""Archived pages can do nothing in their frames, by what is written there."""

import re

import numpy as np

from dbce_spark import config
from dbce_spark.dbce import single
from dbce_spark.dbce.kept import annotated_html
from dbce_spark.html import page
from dbce_spark.model import Label
from dbce_spark.report import html_frame
from dbce_spark.report.archived_html import Archived
from dbce_spark.report.arms import masked_segments
from tests.support.report_outputs import HOSTILE, article, tree


def framed(markup: str) -> str:
    utf8 = markup.encode()
    blocks = page.parse(utf8, "utf-8", config.default().page).blocks
    return html_frame.document(Archived(utf8, blocks, is_labelled=False), blocks.text, single.segments(blocks))


def test_nothing_that_acts_or_loads_is_left() -> None:
    """No element or attribute that runs or loads comes through, from any part of the page."""
    root = tree(framed(f"<html><head>{HOSTILE}</head><body onload='alert(0)'>{HOSTILE}</body></html>"))
    tags = {element.tag for element in root.iter() if isinstance(element.tag, str)}
    assert set() == tags & set("script iframe object embed link base video frame noscript template".split())
    attributes = {name for element in root.iter() for name in element.attrib}
    assert set() == {name for name in attributes if name.startswith("on")}
    assert set() == attributes & set("src srcset action formaction poster data background ping srcdoc".split())
    hrefs = [href.strip().lower() for href in root.xpath("//@href")]
    assert [] == [href for href in hrefs if href.startswith("javascript:")]
    assert [] == [meta for meta in root.iter("meta") if meta.get("http-equiv", "").lower() == "refresh"]


def test_the_policy_comes_first() -> None:
    """The content policy stands before anything of the page."""
    written = framed("<html><head><style>p { color: red }</style></head><body><p>some words</p></body></html>")
    assert written.index("Content-Security-Policy") < written.index("color: red")
    assert "default-src 'none'" in html_frame.POLICY


def test_every_word_is_shown_with_its_label() -> None:
    """Removing elements loses no text: all of it stands in a coloured span, in order."""
    markup = f"<body><p>before</p>{HOSTILE}tail of it<script>1</script> <b>after</b></body>"
    text = page.parse(markup.encode(), "utf-8", config.default().page).blocks.text
    root = tree(framed(markup))
    spans = [span.text_content() for span in root.xpath("//span[starts-with(@class, 'dbce-')]")]
    assert re.sub(r"\s", "", text) == re.sub(r"\s", "", "".join(spans))


def test_text_without_a_label_is_kept() -> None:
    """Text behind a removed element stays in its place, also if no segment holds it."""
    utf8 = b"<p>first <link rel='x'>second <b>third</b><meta name='x'>fourth</p>"
    blocks = page.parse(utf8, "utf-8", config.default().page).blocks
    nothing = masked_segments(blocks, np.zeros(len(blocks.tokens), np.bool_), Label.CONTENT)
    shown = tree(html_frame.document(Archived(utf8, blocks, is_labelled=False), blocks.text, nothing))
    assert "first second thirdfourth" == shown.xpath("string(//p)")


def test_inline_images_stay() -> None:
    """An image that is part of the page itself is kept, one that must be fetched is not."""
    images = ("data:image/png;base64,AAAA", "http://a/b.png", "data:image/svg+xml,x")
    written = framed("<p>word</p>" + "".join(f"<img src='{image}'>" for image in images))
    assert ["data:image/png;base64,AAAA"] == tree(written).xpath("//img/@src")


def test_labels_come_off_again() -> None:
    """A page that the output keeps with its labels is shown without them where it is an arm of another page's cross."""
    plain = article("large.example", 1).html.encode()
    blocks = page.parse(plain, "utf-8", config.default().page).blocks
    labelled = annotated_html.labelled_html(plain, blocks.text, single.segments(blocks)).encode()
    assert b'class="dbce-' in labelled
    back = html_frame.unlabelled(Archived(labelled, blocks, is_labelled=True))
    assert b'class="dbce-' not in back.html
    assert blocks.text == page.parse(back.html, "utf-8", config.default().page).blocks.text
