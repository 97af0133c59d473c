"""Formulas as LaTeX."""

import pytest

from tests.support.structure import html_of, markdown_of

FRACTION = "<mfrac><mn>1</mn><msup><mi>x</mi><mn>2</mn></msup></mfrac>"
KATEX = (
    "<span class=katex><span class=katex-mathml><math><semantics><mi>x</mi>"
    '<annotation encoding="application/x-tex">x_1</annotation></semantics></math></span>'
    "<span class=katex-html aria-hidden=true>x1</span></span>"
)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"a <math>{FRACTION}</math> b", r"a $\frac{1}{x^{2}}$ b"),
        (f"a <math display=block>{FRACTION}</math> b", "a\n\n$$\n\\frac{1}{x^{2}}\n$$\n\nb"),
        (f"a {KATEX} b", "a $x_1$ b"),
        ("a <span data-math='y^2'>y2</span> b", "a $y^2$ b"),
        ("a <math alttext='\\pi r'><mi>π</mi></math> b", r"a $\pi r$ b"),
        ("a <span class=MathJax>x</span><script type='math/tex'>x^2</script> b", "a $x^2$ b"),
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
        ("a <img class=tex alt='\\frac12' src=x.png> b", r"a $\frac12$ b"),
        (
            "a <math><semantics><mi>x</mi><annotation encoding=application/x-tex>{\\displaystyle x}</annotation>"
            "</semantics></math><img alt='{\\displaystyle x}' src=x.svg> b",
            "a $x$ b",
        ),
    ],
)
def test_formulas_are_latex(html: str, expected: str) -> None:
    """Once each, in the place of all that shows them."""
    assert expected == markdown_of(html)


def test_a_formula_that_is_too_deep_is_its_text() -> None:
    """No recursion without an end."""
    deep = "<mrow>" * 500 + "<mi>x</mi>" + "</mrow>" * 500

    assert "a $x$" == markdown_of(f"a <math>{deep}</math>")


def test_a_formula_whose_text_is_not_kept_goes() -> None:
    """Its elements say nothing without it."""
    assert "a" == markdown_of("<p>a</p><p><math><msub><mi>x</mi><mi>i</mi></msub></math></p>", without=["x", "i"])


def test_html_marks_formulas_as_pandoc_does() -> None:
    """MathJax and KaTeX read it so."""
    assert r'<p>a <span class="math inline">\(x\)</span></p>' == html_of("a <math><mi>x</mi></math>")
