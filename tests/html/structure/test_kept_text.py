"""The rest of a page's tree when some of its text goes."""

from tests.support.structure import html_of


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
