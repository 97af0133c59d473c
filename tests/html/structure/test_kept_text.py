"""The rest of a page's tree when some of its text goes."""

import numpy as np
import pytest

from dbce_spark.config import default
from dbce_spark.dbce.kept.kept_formats import format_kept
from dbce_spark.html.dom import parse_tree
from dbce_spark.html.page import parse
from tests.support.structure import ALL, html_of


def test_what_is_not_kept_goes_with_its_elements() -> None:
    """No empty paragraph stays."""
    assert "<p>one</p><p>three</p>" == html_of("<p>one</p><p>two</p><p>three</p>", without=["two"])


def test_words_on_both_sides_of_a_gap_stay_apart() -> None:
    """Also where a block or an inline element went."""
    assert "<p>one three</p>" == html_of("<p>one<b> two </b>three</p>", without=["two"])
    assert "<p>one three</p>" == html_of("<div>one<p>two</p>three</div>", without=["two"])


def test_a_row_keeps_its_cells() -> None:
    """A cell that lost its text stays, so that those behind it stay in their columns; a row of none goes."""
    rows = "<tr><th>a</th><th>b</th></tr><tr><td>one</td><td>two</td></tr><tr><td>three</td><td>four</td></tr>"

    written = html_of(f"<table>{rows}</table>", without=["one", "three", "four"])

    assert "<tr><td></td><td>two</td></tr></tbody>" in written
    assert 2 == written.count("<tr>")


def test_text_between_cells_stays() -> None:
    """Text between the cells is kept, though no cell holds it."""
    assert "<p>one</p>" == html_of("<div><tr><br>one</tr></div>")


def test_scripts_and_styles_go() -> None:
    """With all they hold."""
    written = html_of("<p onclick=x()>one<script>x()</script><style>p {}</style></p><iframe src=x></iframe>two")

    assert "<p>one</p><p>two</p>" == written


def test_decisions_on_another_text_are_refused() -> None:
    """As those of an earlier program would be, that read the page otherwise: words would be cut anywhere."""
    html = b"<p>one</p><p>two</p>"
    blocks = parse(html, "utf-8", default().page).blocks

    with pytest.raises(ValueError, match="the page has 6 characters of text, and 7 have a label"):
        format_kept(parse_tree(html), np.array([*[True] * 6, False]), "http://a.example/", ALL, blocks)
