"""Quotations within a line have the marks that browsers show."""

from time import process_time

import pytest

from dbce_spark.html.dom import parse_tree
from dbce_spark.html.structure.quotation_marks import write_marks
from tests.support.builders import lines
from tests.support.structure import html_of, markdown_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("she said <q>open</q>.", 'she said "open".'),
        ("she said <q> <b>open</b> it </q>.", 'she said "**open** it".'),
        ("she said<q> open </q>and", 'she said "open" and'),
        ("<b>she</b><q> open <i>it</i> </q>and", '**she** "open *it*" and'),
        ("<q>the <q>old</q> one</q>", "\"the 'old' one\""),
        ("<q><q>old</q> one</q>", "\"'old' one\""),
        ("„<q>open</q>“", "„open“"),
        ("<q>“open”</q>", "“open”"),
        ("<q> </q>a<q></q>", "a"),
    ],
    ids=[
        "plain",
        "with an element",
        "spaces within",
        "spaces behind an element",
        "nested",
        "begins with one",
        "marks around",
        "marks within",
        "empty",
    ],
)
def test_a_quotation_has_its_marks(html: str, expected: str) -> None:
    """Browsers draw them; a page that has its own keeps these."""
    assert expected == markdown_of(f"<p>{html}</p>").strip()


def test_the_text_has_no_marks_that_browsers_draw() -> None:
    """Nobody who copies a page gets them."""
    assert ["she said open."] == lines("<p>she said <q>open</q>.")


def test_markdown_and_html_have_the_same_marks() -> None:
    """No element is left for which a browser would draw them again."""
    html = "<p>she said <q>open it</q>.</p>"

    assert ('she said "open it".', '<p>she said "open it".</p>') == (markdown_of(html), html_of(html))


def test_a_quotation_of_blocks_has_none() -> None:
    """They would be blocks of their own, before and behind it."""
    assert "a\n\nb" == markdown_of("<q><p>a</p><p>b</p></q>").strip()


def test_quotations_within_one_another_take_little_time() -> None:
    """However many."""
    began = process_time()

    write_marks(parse_tree(b"<q>" * 2000 + b"x" + b"<q>x</q>" * 50_000))

    assert process_time() - began < 10
