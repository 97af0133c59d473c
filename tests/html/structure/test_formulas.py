"""Formulas as LaTeX."""

import pytest

from tests.support.structure import html_of, markdown_of

KATEX = (
    "<span class=katex><span class=katex-mathml><math><semantics><mi>x</mi>"
    '<annotation encoding="application/x-tex">x_1</annotation></semantics></math></span>'
    "<span class=katex-html aria-hidden=true>x1</span></span>"
)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"a {KATEX} b", "a $x_1$ b"),
        ("a <span data-math='y^2'>y2</span> b", "a $y^2$ b"),
        ("a <math alttext='\\pi r'><mi>π</mi></math> b", r"a $\pi r$ b"),
        ("a <span class=MathJax>x</span><script type='math/tex'>x^2</script> b", "a $x^2$ b"),
        ("a <img class=tex alt='\\frac12' src=x.png> b", r"a $\frac12$ b"),
        ("a <img alt='$x$' src=x.png width=14> b", "a $x$ b"),
        ("a <img alt='\\(x + 1\\)' src=x.png> b", "a $x + 1$ b"),
        ("a <img alt='x^2' src='http://o.example/gif.latex?x%5E2'> b", "a $x^2$ b"),
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


def test_other_images_are_no_formulas() -> None:
    """Dollars alone are prices, and a program's image may show other things."""
    for image in ("<img alt='$$' src=x.png>", "<img alt='two words' src='latex.php?x'>", "<img alt=x_1 src=x.png>"):
        assert "![" in markdown_of(f"a {image} b")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<math alttext='b=%&#10;  c'><mi>b</mi></math>", "$b=c$"),
        ("<math alttext='\\alpha%&#10;b'><mi>b</mi></math>", r"$\alpha b$"),
        ("<math alttext='5\\%&#10;x \\\\% y&#10;z %'><mi>b</mi></math>", r"$5\% x \\z$"),
        ("<script type='math/tex'>% <![CDATA[\na < b %]]></script>", "$a < b$"),
        ("\\(x_1 % one\n+ 5% y\\)", "$x_1 + 5% y$"),
    ],
    ids=["LaTeXML", "command", "signs before", "kramdown", "raw"],
)
def test_comments_in_a_formula_do_not_hide_what_follows(html: str, expected: str) -> None:
    """They go, as all is written in one line; of raw LaTeX only what a line of its own ends is surely one."""
    assert f"a {expected}" == markdown_of(f"<p>a {html}")


def test_a_formula_whose_text_is_not_kept_goes() -> None:
    """Its elements say nothing without it."""
    assert "a" == markdown_of("<p>a</p><p><math><msub><mi>x</mi><mi>i</mi></msub></math></p>", without=["x", "i"])


def test_html_marks_formulas_as_pandoc_does() -> None:
    """MathJax and KaTeX read it so."""
    assert r'<p>a <span class="math inline">\(x\)</span></p>' == html_of("a <math><mi>x</mi></math>")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a&lt;b", "$a< b$"),
        ("x&lt;img src=x onerror=a()>", "$x< img src=x onerror=a()>$"),
        ("a&lt;/b>&lt;!--&lt;?", "$a< /b>< !--< ?$"),
        ("a &lt; 1&lt;2", "$a < 1<2$"),
        ("[x](javascript:a())", "$[x] (javascript:a())$"),
        ("``x''", "$‘‘x''$"),
    ],
)
def test_a_formula_is_no_tag_link_or_code_to_readers_without_mathematics(source: str, expected: str) -> None:
    """They take what is between the signs for Markdown, in which HTML of the page would act."""
    assert f"a {expected} b" == markdown_of(f'a <math alttext="{source}"><mi>x</mi></math> b')
