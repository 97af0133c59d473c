"""Formulas that a page shows, and holds, in several ways have one text."""

from time import process_time

import pytest

from dbce_spark.html.dom import parse_tree
from tests.support.builders import parsed
from tests.support.structure import markdown_of

MATHML = (
    "<math{}><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow>"
    '<annotation encoding="application/x-tex">{}</annotation></semantics></math>'
)
KATEX = (
    f"<span class=katex><span class=katex-mathml>{MATHML}</span>"
    "<span class=katex-html aria-hidden=true><span class=base>E=</span><span class=base>mc2</span></span></span>"
)
STYLED = MATHML.format("", r"{\displaystyle E=mc^2}")


@pytest.mark.parametrize(
    ("html", "text", "markdown"),
    [
        (f"a {KATEX.format('', 'E=mc^2')} b", "a E=mc^2 b", "a $E=mc^2$ b"),
        (f"a {STYLED}<img alt='E=mc^2'> b", "a E=mc^2 b", "a $E=mc^2$ b"),
        (f"a {MATHML.format('', 'E % mass&#10;=mc^2')} b", "a E =mc^2 b", "a $E =mc^2$ b"),
        (
            f"<span class=katex-display>{KATEX.format(' display=block', 'E=mc^2')}</span>",
            "E=mc^2",
            "$$\nE=mc^2\n$$",
        ),
        (f"a {MATHML.format('', ' ')} b", "a E=mc2 b", "a $E = m c^{2}$ b"),
        (
            f"a {KATEX.format('', 'E').replace('application/x-tex', 'text/plain')} b",
            "a E=mc2 EE=mc2 b",
            "a $E = m c^{2}$ b",
        ),
        (
            MATHML.format("", r"{\displaystyle a}+{b}"),
            r"{\displaystyle a}+{b}",
            r"${\displaystyle a}+{b}$",
        ),
    ],
    ids=["KaTeX", "Wikipedia", "comment", "display", "no LaTeX", "another annotation", "size of a part"],
)
def test_a_formula_is_in_the_text_once(html: str, text: str, markdown: str) -> None:
    """As the LaTeX that the page has of it, which Markdown has too."""
    html = f"<p>{html}"

    assert (text, markdown) == (parsed(html).blocks.text, markdown_of(html))


def test_what_is_beside_a_formula_stays() -> None:
    """Also where the class that a program gives to formulas is that of all the text, by the page's own hand."""
    formula = MATHML.format("", "E")

    html = (
        f"<div class=katex><p>one {formula} two</div><span class=MathJax>three {formula} four {formula}</span>"
        f"<p class=katex>five {formula} six<p><span class=katex>seven {formula}</span>"
    )

    assert "one E two\nthree E four E\nfive E six\nseven E" == parsed(html).blocks.text


def test_many_formulas_take_little_time() -> None:
    """Nested deeply, or in one another."""
    began = process_time()

    parse_tree(b"<span class=katex>" * 2000 + MATHML.format("", "x").encode() * 5000)
    parse_tree(b"<span class=katex>" * 4 + b"<br>" * 99_000 + MATHML.format("", "x").encode() * 12_000)
    parse_tree(b"<math>" * 2000 + b"<annotation encoding=tex>x</annotation>" * 50_000)

    assert process_time() - began < 10
