"""The rest of a page's tree when some of its text goes."""

import pytest

from tests.support.structure import html_of

_IMAGE = '<img src="http://a.example/i.png" alt="A">'


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


@pytest.mark.parametrize(
    ("html", "without", "stays"),
    [
        (f"<p>one</p>{_IMAGE}<p>two</p>", [], True),
        (f"<div><p>one</p>{_IMAGE}<p>two</p><nav>x x x x x x</nav></div>", ["x"], True),
        (f"<div>one two {_IMAGE}</div><p>three</p>", ["three"], True),
        (f"<nav>one {_IMAGE}</nav><p>two three four</p>", ["one"], False),
        (f"<div>{_IMAGE}</div><nav>one two three</nav><p>four</p>", ["one", "two", "three"], False),
        (f"<div>{_IMAGE}</div><h1>one</h1><p>two</p><nav>three</nav>", ["three"], False),
        (f"<nav>x</nav><div>{_IMAGE}<h1>one</h1><p>two</p></div>", ["x"], True),
        (f"<nav>x</nav><section>{_IMAGE}<p>one</p></section><p>two</p><p>x</p>", ["x"], True),
        (f"<nav>x</nav><div><figure>{_IMAGE}</figure><h1>one</h1><p>two</p><p>x</p></div>", ["x"], True),
        (f"<nav>x</nav><div><a href=/home>{_IMAGE}</a><h1>one</h1></div>", ["x"], False),
        (f"<nav>x</nav><div><a href=/i.jpg?w=9>{_IMAGE}</a><h1>one</h1></div>", ["x"], True),
        (f"<nav>x</nav><div><noscript>{_IMAGE}</noscript><h1>one</h1></div>", ["x"], False),
        (f"<nav>x</nav><div><img src=data:,><noscript>{_IMAGE}</noscript><h1>one</h1></div>", ["x"], True),
        (f"<nav>x</nav><table><tr><td>{_IMAGE}</td></tr><tr><td>one</td></tr></table>", ["x"], False),
        (f"<div><p>one</p><div>{_IMAGE}</div><p>x</p></div>", ["x"], False),
    ],
    ids=[
        *("between", "between in what mostly goes", "beside", "in what goes", "far from it", "before a whole page"),
        *("first of the article", "in a part of it", "in a figure", "in a link to a page", "in a link to an image"),
        *("without scripts alone", "lazy", "in a cell of its own", "behind the article"),
    ],
)
def test_images_stay_with_the_text_around_them(html: str, without: list[str], stays: bool) -> None:
    """They have no label of their own."""
    assert stays == ("<img" in html_of(html, without=without))


def test_a_rule_stays_between_what_it_separates() -> None:
    """One above or below all that is kept goes."""
    assert "<p>one</p><hr><p>two</p>" == html_of("<nav>x</nav><hr><p>one</p><hr><p>two</p><hr>x", without=["x"])


def test_scripts_and_styles_go() -> None:
    """With all they hold."""
    written = html_of("<p onclick=x()>one<script>x()</script><style>p {}</style></p><iframe src=x></iframe>two")

    assert "<p>one</p><p>two</p>" == written
