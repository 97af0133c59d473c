"""MathML as LaTeX."""

import pytest
from lxml.html import fromstring

from dbce_spark.html.structure.mathml import latex
from tests.support.structure import markdown_of

FRACTION = "<mfrac><mn>1</mn><msup><mi>x</mi><mn>2</mn></msup></mfrac>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"a <math>{FRACTION}</math> b", r"a $\frac{1}{x^{2}}$ b"),
        (f"a <math display=block>{FRACTION}</math> b", "a\n\n$$\n\\frac{1}{x^{2}}\n$$\n\nb"),
        ("a <math><msqrt><mi>α</mi><mo>+</mo><mi>β</mi></msqrt></math>", r"a $\sqrt{\alpha + \beta}$"),
        ("a <math><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover></math>", r"a $\sum_{i}^{n}$"),
        ("a <math><mover><mi>x</mi><mo>^</mo></mover></math>", r"a $\hat{x}$"),
        (
            "a <mjx-container><mjx-math><mjx-msubsup><mjx-mi>x</mjx-mi><mjx-script><mjx-mn>2</mjx-mn>"
            "<mjx-mi>i</mjx-mi></mjx-script></mjx-msubsup></mjx-math></mjx-container>",
            "a $x_{i}^{2}$",
        ),
        ("a <math><mtext>if so</mtext></math>", r"a $\text{if so}$"),
        ("a <math><mtext>(</mtext><mi>x</mi><mtext>)</mtext></math>", "a $( x )$"),
        (
            "a <math><mtable><mtr><mtd>x</mtd><mtd>1</mtd></mtr><mtr><mtd>y</mtd><mtd>2</mtd></mtr></mtable></math>",
            r"a $\begin{aligned}x & 1 \\ y & 2\end{aligned}$",
        ),
    ],
)
def test_elements_of_mathml_are_latex(html: str, expected: str) -> None:
    """Of MathML itself, and of MathJax's elements that stand for it."""
    assert expected == markdown_of(html)


def test_italic_letters_are_plain_ones() -> None:
    """All that have a character of their own: h, which lies apart, and the forms of Greek letters behind omega."""
    letters = "".join(
        f"<mi>{letter}</mi>" for letter in "\U0001d44e\u210e\U0001d719\U0001d716\U0001d715\U0001d6f4\U0001d753"
    )

    assert r"a $a h \phi \epsilon \partial \Sigma \phi$" == markdown_of(f"a <math>{letters}</math>")
    assert "\U0001d455" == latex(fromstring("<math><mi>\U0001d455</mi></math>"))  # a place without a letter


def test_a_formula_that_is_too_deep_is_its_text() -> None:
    """No recursion without an end."""
    deep = "<mrow>" * 500 + "<mi>x</mi>" + "</mrow>" * 500

    assert "a $x$" == markdown_of(f"a <math>{deep}</math>")
