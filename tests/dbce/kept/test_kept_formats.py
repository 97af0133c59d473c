"""The kept part of a page follows its labels exactly, and rendering it ends whatever the page."""

import re
from dataclasses import replace
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from dbce_spark.dbce import single
from dbce_spark.dbce.kept.kept_formats import describe, write_formats
from dbce_spark.dbce.kept.main_text import text
from dbce_spark.html.dom import parse_tree
from dbce_spark.html.elements import CODE_TAGS
from dbce_spark.html.tokens import tokens
from dbce_spark.model import Label
from tests.support.builders import capture, parsed
from tests.support.strategies import WORDS, documents
from tests.support.structure import ALL, formats_of

CALLOUT = re.compile(r"\[!(?:note|info|tip)\]")
BEGINNING = re.compile(r"^(?:[ >*+-]|:   )*", re.MULTILINE)
"""The signs that a line begins with: those of definitions, which CommonMark does not know, may be several."""
RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OTHERS = {
    "section": (
        "table",
        "dl",
        "ol",
        "figure",
        "details",
        "div class='admonition note'",
        "div class='alert alert-info'",
        "div class=crayon-line",
        "div dir=rtl lang=he",
    ),
    "h2": ("dt", "caption", "summary", "figcaption", "p class=admonition-title"),
    "blockquote": ("tr", "thead", "aside data-callout=tip"),
    "td": ("th", "th colspan=2", "dd"),
    "span": ("sup", "sub", "code", "q", "del", "label", "span style='font-style:italic'"),
    "em": ("sup", "tt", "mark", "bdo dir=rtl", "strong", "i", "video src=v.mp4"),
}
"""Elements of the documents that are drawn, and what may take their places."""
TOUCHING = (
    "<span>",
    "<a href=x>",
    "</span><span>",
    "</span><a href=y>",
    "</a><a href=x>",
    "</a><a href=z>",
    "<input>",
    "<input type=hidden>",
    "<img src=x.png>",
    "</button><button>",
    "<button>",
    "<select><option>x</select>",
    "</a></span><b>",
    "</b><sup>",
    "</sup><i>",
    "</span>",
    "<span style='display:block'>",
    "</code>",
    "<code>",
    "<wbr>",
    "<br>",
    "<p>",
    " ",
    "",
)
"""Tags between words, closed by the parser where they are not."""
SIGNS = (",", "!", "**", "a_b", "__c", "4.1", "1.", "\u2060")
"""Words that Markdown may take for its own signs, or that nobody sees."""
HOSTILE = {
    "depth": "<div>" * 2000 + "word" + "</div>" * 2000,
    "lists": "<ul><li>word " * 900,
    "quotes": "<blockquote>word " * 900,
    "inline": "<b><i>" * 900 + "word",
    "cells": "<table>" + ("<tr>" + "<td>word</td>" * 100 + "</tr>") * 900 + "</table>",
    "one row": "<table><tr><td>x</td><td>y</td></tr><tr>" + "<td>word</td>" * 50_000 + "</tr></table>",
    "spans": "<table>" + "<tr><td rowspan=65534 colspan=1000>word</td><td>x</td></tr>" * 500 + "</table>",
    "nested tables": "<table><tr><td>word" * 300,
    "items": "<ul>" + "<li>word" * 50_000 + "</ul>",
    "breaks": "<p>" + "word<br>" * 50_000,
    "empty targets": "<a id=x></a>" * 20_000 + "<a href=#x>1</a> word" * 2_000,
    "numbers": "<pre>" + "<span>1</span> word\n" * 20_000 + "</pre>",
    "scripts": "<a href=' jAvA\tscript:x()'>word</a><img src=javascript:x() onerror=x()><svg onload=x()></svg>",
    "images": "<figure>" + "<img src=a.png alt=A> word " * 20_000 + "</figure>",
    "noscripts": "<figure>word " + "<noscript><img src=a.png></noscript>" * 5_000 + "</figure>",
    "callouts": "<div class='admonition note'>word" * 2_000,
    "terms": "<dl>" + "<dt>word<dd>word" * 20_000 + "</dl>",
    "superscripts": "<ol>"
    + "".join(f"<li id=n{at}>word" for at in range(1, 2_000))
    + "</ol>"
    + "<sup>1</sup>x" * 9_000,
    "controls": "<p>wo\x01rd \x0c\x1b[31m \x7f</p>",
    "empty elements": "<p>" + "word word word <i></i>" * 40_000,
    "formulas": "<p>word " + "$a_1$ " * 60_000,
    "formulas behind an element": "<p>word <b>b</b>" + "$a_1$ " * 60_000,
    "lines of formulas": "<p>word $$" + "<br>a_1<br>$$ $$" * 30_000,
    "lines of no formula": "<p>word $$" + "<br>$$ a<br>$$ b" * 30_000,
    "layout of a formula": "<p>word<mjx-math>" + "<mjx-box>" * 1_600 + "<mjx-mi>x",
    "code and breaks": "<p>word<div>" + "<br>" * 20_000 + "<code>x<br>y</code>" * 20_000 + "</div>",
    "code in a long text": "<div>" + "word " * 800_000 + "<code>x</code>" * 20_000,
    "code in one table": "<p>word<table><tr>" + "<td><pre>x</pre>" * 10_000 + "</table>",
    "code below a long class": f"<div class='{'a ' * 400_000}'><p>word" + "<pre>x</pre>" * 5_000,
    "lines below a long class": f"<div class='code {'a ' * 400_000}'>word" + "<div class=line>x</div> y " * 5_000,
    "long code with numbers": "<p>word<pre>" + "".join(f"<span>{at}</span> word word\n" for at in range(1, 60_000)),
    "buttons in code": "<p>word<pre>" + "word word word <button></button>" * 40_000,
    "bare noscripts": "<p>" + "word word word <noscript>x</noscript>" * 50_000,
    "images of a figure": "<figure>" + "word word word <img src=a.png alt=a>" * 50_000,
    "images in one cell": "<table><tr><td>word<td>word<tr><td>word<td>" + "<img src=a.png>" * 20_000 + "</table>",
    "films of objects": "<p>word" + "<object>" * 1_500 + "<param name=quality value=high>" * 20_000,
    "links of a heading": "<p>word<h1>" + "word word word <a href='#'>#</a>" * 30_000,
    "long base": f"<base href='http://a.example/{'a/' * 200_000}'><p>word" + "<a href=x>word</a> " * 5_000,
    "digits of a link back": f"<p>word <a href=#n>1</a><ol><li id=n>word word <a href=#r>{'1' * 60}x</a></ol>",
    "targets in one note": "<p>word "
    + "".join(f"<a href=#n{at}>{at % 900 + 1}</a> " for at in range(3_000))
    + "</p><p>"
    + "<b>" * 1_500
    + "".join(f"<a id=n{at}></a>" for at in range(3_000))
    + "word " * 500,
    "lists in a list": "<ul>" + "<ul><li>word</ul>" * 20_000 + "</ul>",
    "articles in lists": "<ul><li>word" * 11 + "<i>word</i> " * 50_000 + "<h2>word</h2>",
    "directions": "<div dir=rtl><div dir=ltr>" * 800 + "<p>word" * 4_000,
    "directions to be found": "<div dir=auto>" * 1_500 + "<i></i>" * 20_000 + "<p>1" * 3_000 + "word",
    "languages": f"<div lang={'en' + '-abcdefgh' * 1_000}>" + "<p>word" * 20_000,
    "signs in emphasis": "<p>" + "word<b><i>,</i></b>" * 20_000,
    "spaces as code": "<p>" + "word <code> </code>" * 40_000,
    "links back": "<p>"
    + "".join(f"<a id=r{at} href=#n>1</a> " for at in range(40_000))
    + "<ol><li id=n>word word "
    + "".join(f"<a href=#r{at}>a</a> " for at in range(4_900)),
    "notes in a table": "<p>"
    + "".join(f"<a href=#n{at}>{at % 900 + 1}</a> " for at in range(1_900))
    + "<table><tr><th>word<th>word"
    + "".join(f"<tr><td id=n{at}>word word<td>word" for at in range(1_900)),
    "code in code": "<p>word" + "<pre><div>" * 900 + "<b></b>x" * 20_000,
    "elements around long code": "<p>word<pre class=language-x>" + "<div>" * 1_900 + "word " * 190_000,
    "targets in the number of a note": "<p>word <a href=#n>1</a><ol><li id=n><sup>1"
    + "".join(f"<a id='k{at}'/>" for at in range(150_000))
    + "</sup> word word</ol>",
    "superscripts of a long text": "<p>" + "word " * 800_000 + "<sup>1</sup>" * 20_000 + "</p>",
    "links of nested headings": "<h2><i>" * 1_000 + "<a href=#x>word</a> " * 80_000,
    "breaks in nested headings": "<h2><i>" * 1_000 + "word<br>" * 160_000,
    "links to the page in each other": "<h2>word" + "<a href=#><i>" * 800 + "<b>#</b> " * 80_000,
    "numbers in nested elements of code": "<p>word<pre>"
    + ("<span>" * 1_600 + "".join(f"<b>{at}</b> " for at in range(4_500)) + "</span>" * 1_600) * 8,
    "numbers in nested labels": "<p>word"
    + "".join(f"<label for=b{at}>" for at in range(1_600))
    + "1 " * 400_000
    + "".join(f"</label><input type=checkbox id=b{at}><span>word</span>" for at in reversed(range(1_600))),
    "nested notes": "<p>word "
    + "".join(f"<a href=#n{at}>{at % 900 + 1}</a> " for at in range(1_600))
    + "</p>"
    + "".join(f"<div id=n{at}>" for at in range(1_600))
    + "word word"
    + "<a id=x></a>" * 95_000,
    "nested blocks with the number of their id": "<p>word <sup>1</sup>"
    + "".join(f"<div id=n{at % 9}>" for at in range(1_600))
    + "<a id=x></a>" * 95_000
    + "1 word",
    "nested superscripts": "<p>word" + "<sup>" * 1_600 + "word" + "<a id=x></a>" * 95_000,
    "numbers in one superscript": "<p>word <sup>" + "<a href=#n>1</a>" * 60_000 + "</sup><p id=n>1. word word",
}
LIMIT = 15.0
"""Seconds of processor time; the longest takes three."""


def words_of(markdown: str) -> list[str]:
    """List the words that a reader of Markdown sees."""
    without_definitions = BEGINNING.sub(lambda signs: signs[0].replace(":   ", ""), markdown)
    rendered = RENDERER.render(without_definitions).replace("<br>", "\n")
    shown = "".join(map(str, lxml_html.fromstring(f"<div>{rendered}</div>").itertext()))
    return [*tokens(CALLOUT.sub(" ", shown))]


def as_other_elements(html: str, data: st.DataObject) -> str:
    """Make other elements of some of a document's: those that each have a rule of their own."""
    for tag, others in OTHERS.items():
        other = data.draw(st.sampled_from((tag, *others)))
        html = html.replace(f"<{tag}>", f"<{other}>").replace(f"</{tag}>", f"</{other.split()[0]}>")
    return html


@given(documents, st.data())
def test_markdown_has_the_words_of_the_text(html: str, data: st.DataObject) -> None:
    """Every one, in the same order, and no other: whatever the labels."""
    html = as_other_elements(html, data)
    blocks = parsed(html).blocks
    segments = single.segments(blocks)
    labels = data.draw(st.lists(st.sampled_from(Label), min_size=len(segments), max_size=len(segments)))
    segments.labels[:] = labels
    config = replace(ALL, tables=data.draw(st.sampled_from(("keep", "drop"))))

    written = write_formats(html.encode(), blocks, segments, capture(), config)

    assert [*tokens(text(blocks.text, segments))] == words_of(written.markdown or "")


@given(
    st.lists(st.tuples(st.sampled_from(TOUCHING), st.sampled_from(WORDS + SIGNS)), min_size=2, max_size=6), st.data()
)
def test_words_of_elements_that_touch_are_the_same_in_markdown(
    pieces: list[tuple[str, str]], data: st.DataObject
) -> None:
    """Parted or not, by the same rule."""
    outer = data.draw(st.sampled_from(("p", "pre", "li", "b", "listing")))
    if outer in CODE_TAGS:  # code has no buttons
        pieces = [(before.replace("button", "span"), word) for before, word in pieces]
    html = f"<{outer}>{''.join(before + word for before, word in pieces)}"
    blocks = parsed(html).blocks
    segments = single.segments(blocks)
    segments.labels[:] = Label.CONTENT

    written = write_formats(html.encode(), blocks, segments, capture(), ALL)

    assert [*tokens(blocks.text)] == words_of(written.markdown or "")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_end_in_a_bounded_answer(name: str) -> None:
    """In time that grows as they do, not much longer than they are, and with nothing that acts."""
    html, began = HOSTILE[name], process_time()

    written = formats_of(html, url="http://a.example/")

    assert process_time() - began < LIMIT
    assert "word" in (written.markdown or "").replace(" ", "")
    assert len(written.markdown or "") < 40 * len(html) + 1000
    assert "script:" not in (written.html or "").lower()
    assert "onload" not in (written.html or "")


def test_formats_that_are_not_asked_for_are_not_written() -> None:
    """Null, not empty."""
    only = replace(ALL, columns=("markdown",))

    written = formats_of("<p>word</p>", config=only)

    assert ("word", None, None) == (written.markdown, written.html, written.about)


def test_a_date_that_htmldate_finds_is_not_after_the_capture() -> None:
    """It looks in the text, too, where the page declares none."""
    htmldate = replace(ALL, dates="htmldate")
    html = b"<title>t</title><p class=date>3 May 2007</p><p>Next: 9 June 2031</p>"

    found = describe(parse_tree(html), html, capture(date="2008-04-30T20:48:26Z"), htmldate)

    assert ("2007-05-03", ("date htmldate", "title title")) == (found.date, found.found_in)


def test_a_date_that_htmldate_finds_is_not_after_the_last_change() -> None:
    """The page declares when that was."""
    htmldate = replace(ALL, dates="htmldate")
    head = b'<title>t</title><script type="application/ld+json">{"dateModified": "2007-05-04"}</script>'
    html = head + b"<p class=date>9 June 2007</p><p>3 May 2007</p>"

    found = describe(parse_tree(html), html, capture(date="2008-04-30T20:48:26Z"), htmldate)

    assert ("2007-05-03", "2007-05-04") == (found.date, found.modified)
