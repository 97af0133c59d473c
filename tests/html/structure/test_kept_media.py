"""Pictures and rules stay with the text around them."""

import pytest

from tests.support.structure import html_of

_IMAGE = '<img src="http://a.example/i.png" alt="A">'


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
