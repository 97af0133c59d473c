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
        ("<p>a</p><p>$$<br>\n\\frac{x_1}{y_2} * c<br>\nd<br>\n$$</p>", "a\n\n$$\n\\frac{x_1}{y_2} * c d\n$$"),
        ("<p>a $$<br>x_1<br>$$ $$<br>y_2<br>$$<br>b", "a $x_1$ $y_2$  \nb"),
        (
            "<p>a \\begin{align*}x_1 &amp;= y \\\\ z\\end{align*} b",
            "a\n\n$$\n\\begin{align*}x_1 &= y \\\\ z\\end{align*}\n$$\n\nb",
        ),
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


def test_lines_stay_between_dollars_that_are_no_formula() -> None:
    """Prices, as a rule."""
    assert "Anna's $$  \nBerta's $$  \nCarl's" == markdown_of("<p>Anna's $$<br>Berta's $$<br>Carl's")


def test_a_formula_in_a_heading_is_in_its_line() -> None:
    """One on lines of its own would end it."""
    assert "## a $x_1$ b" == markdown_of("<h2>a <math display=block alttext=x_1><mi>x</mi></math> b</h2>")


def test_signs_that_open_and_never_close_are_read_once() -> None:
    """Each pattern stops at the next one that opens."""
    assert "math" not in html_of("<p>" + r"\[ \( $a " * 20_000)
