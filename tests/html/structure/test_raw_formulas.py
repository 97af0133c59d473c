"""Formulas in a page's text."""

import pytest

from tests.support.structure import html_of, markdown_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (r"<p>a $$h_{i}^2 + \alpha$$ b", r"a $h_{i}^2 + \alpha$ b"),
        (r"<p>a $f(x) = x^i$ and $x$ b", "a $f(x) = x^i$ and $x$ b"),
        (r"<p>a \(E = mc^2\) b", "a $E = mc^2$ b"),
        (r"<p>a</p><p>\[F = ma\]</p>", "a\n\n$$\nF = ma\n$$"),
        ("<p>a</p><p>$$\nF_1\n= ma\n$$</p>", "a\n\n$$\nF_1 = ma\n$$"),
        (r"<p>a <b>b</b> \(x_1\) c \(y_2\) d", "a **b** $x_1$ c $y_2$ d"),
    ],
)
def test_formulas_in_a_text_are_latex(html: str, expected: str) -> None:
    """None of their signs is escaped; those alone in a block are set off, as MathJax shows them."""
    assert expected == markdown_of(html)


@pytest.mark.parametrize(
    "html", ["<p>It costs $5 or $6, or $100.", "<p>5$ and 6$", "<p>echo $HOME and $PATH", "<p>a <code>$x_1$</code> b"]
)
def test_money_variables_and_code_are_no_formulas(html: str) -> None:
    """They stay as they are."""
    assert "math" not in html_of(html)


def test_signs_that_open_and_never_close_are_read_once() -> None:
    """Each pattern stops at the next one that opens."""
    assert "math" not in html_of("<p>" + r"\[ \( $a " * 20_000)
