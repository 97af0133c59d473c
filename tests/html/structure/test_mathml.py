"""MathML as LaTeX."""

import pytest
from lxml.html import fromstring

from dbce_spark.html.structure.mathml import latex
from tests.support.structure import markdown_of

X = "<mi>x</mi>"
TABLE = f"<mtable><mtr><mtd>{X}</mtd><mtd>1</mtd></mtr><mtr><mtd>y</mtd><mtd>2</mtd></mtr></mtable>"
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
        (
            "a <mjx-container><mjx-math><mjx-munderover><mjx-over><mjx-mi>n</mjx-mi></mjx-over>"
            "<mjx-box><mjx-munder><mjx-row><mjx-base><mjx-mo>∑</mjx-mo></mjx-base></mjx-row><mjx-row><mjx-under><mjx-mi>i</mjx-mi></mjx-under></mjx-row>"
            "</mjx-munder></mjx-box></mjx-munderover></mjx-math></mjx-container>",
            r"a $\sum_{i}^{n}$",
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


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<mmultiscripts>{X}<mn>1</mn><none/><mprescripts/><mn>6</mn><mn>12</mn></mmultiscripts>", "{}_{6}^{12}x_{1}"),
        ("<mmultiscripts></mmultiscripts>", ""),
        (f"<mfenced>{X}<mi>y</mi></mfenced>", "( x , y )"),
        (f"<mfenced open='{{' close='' separators=';|'>{X}{X}{X}{X}</mfenced>", r"\{ x ; x | x | x"),
        (f"<msup><msup>{X}<mn>2</mn></msup><mn>3</mn></msup>", "{x^{2}}^{3}"),
        (f"<msup><mrow>{X}<mo>+</mo><mn>1</mn></mrow><mn>2</mn></msup>", "{x + 1}^{2}"),
        (f"<msup><mrow><mover>{X}<mo>^</mo></mover></mrow><mn>2</mn></msup>", r"\hat{x}^{2}"),
        ("<mfrac linethickness=0><mi>n</mi><mi>k</mi></mfrac>", r"{n \atop k}"),
        (f"<munder><munder>{X}<mo>⏟</mo></munder><mi>n</mi></munder>", r"\underbrace{x}_{n}"),
        (f"<mover>{X}<mo>\u0302</mo></mover>", r"\hat{x}"),
        ("<munder><mo>lim</mo><mi>n</mi></munder><mi>arctan</mi>", r"\lim_{n} \arctan"),
        ("<mi mathvariant=double-struck>R</mi><mi mathvariant=bold>β</mi>", r"\mathbb{R} \boldsymbol{\beta}"),
        ("<mtext>x_i &amp; y^2</mtext>", r"\text{x\_i \& y\textasciicircum 2}"),
        (f"<mo>[</mo>{TABLE}<mo>]</mo><mi>y</mi>", r"\begin{bmatrix}x & 1 \\ y & 2\end{bmatrix} y"),
        (f"<mrow><mo>{{</mo>{TABLE}</mrow>", r"\begin{cases}x & 1 \\ y & 2\end{cases}"),
        (f"<mrow><mo>{{</mo>{TABLE}<mo></mo></mrow>", r"\begin{cases}x & 1 \\ y & 2\end{cases}"),
        (f"<mo>{{</mo>{TABLE}<mtext>a</mtext>", r"\begin{cases}x & 1 \\ y & 2\end{cases} \text{a}"),
        (f"<mo>{{</mo>{TABLE}<mo>,</mo>", r"\begin{cases}x & 1 \\ y & 2\end{cases} ,"),
        (f"<mfenced>{TABLE}</mfenced>", r"\begin{pmatrix}x & 1 \\ y & 2\end{pmatrix}"),
        (f"<mo>(</mo>{TABLE}<mo>]</mo>", r"( \begin{aligned}x & 1 \\ y & 2\end{aligned} ]"),
    ],
    ids=[
        *("scripts before", "no scripts", "brackets", "other brackets", "script of a script", "script of a sum"),
        *("script of an accent", "without a line", "brace below", "combining accent", "names", "variants", "text"),
        *("matrix", "cases", "cases with an end", "cases before text", "cases before a comma", "fenced table"),
        "brackets that differ",
    ],
)
def test_latex_of_mathml_is_valid_and_means_the_same(html: str, expected: str) -> None:
    """Scripts stand at what they belong to, brackets around what they enclose."""
    assert expected == latex(fromstring(f"<math>{html}</math>"))


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
