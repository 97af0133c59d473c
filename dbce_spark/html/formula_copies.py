"""Formulas that stand in a page twice or more, as MathML, as glyphs and as LaTeX: only the LaTeX stays."""

import re
from itertools import accumulate, islice
from typing import Any

from lxml import etree

from dbce_spark.html.elements import BLOCK_TAGS

_RENDERED = re.compile(
    r"(?:^|\s)(?:katex|katex-display|MathJax|MathJax_Display|MathJax_SVG|MathJax_CHTML|MathJax_Preview)(?:\s|$)"
)
_MOST_AROUND = 4
"""Elements around MathML that are looked at: KaTeX has three, of which the outermost sets a formula apart."""
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)(\\[A-Za-z]+)?%[^\n]*\n\s*")
"""To the end of its line, with the signs before it that may undo the meaning of %, or that a letter may not follow."""
_STYLE = re.compile(r"\{\\(?:display|text)style\s+(.*)\}", re.DOTALL)
_BRACE = re.compile(r"\\.|([{}])", re.DOTALL)
_TEX = re.compile(r"\b(?:la)?tex\b", re.IGNORECASE)
_DRAWN_IN = frozenset({"div", "mjx-container", "span"})


def drop_copies(root: Any) -> None:
    """Put the LaTeX of each formula that has it beside its MathML in the place of all that shows the formula.

    As <math> whose text it is: so it is read once, as words of the page, and known as a formula.
    """
    is_one: dict[Any, bool] = {}
    for annotation in [*root.iter("annotation")]:
        if _TEX.search(annotation.get("encoding") or ""):
            math = next(annotation.iterancestors("math"), None)
            source = unstyled(annotation.text or "")
            if math is not None and source:
                _replace(math, source, is_one)


def _replace(math: Any, source: str, is_one: dict[Any, bool]) -> None:
    """Put LaTeX in the place of a formula. `is_one` has of elements that were looked at whether each is one formula:
    there may be many in each."""
    shown = math
    for above in islice(math.iterancestors(), _MOST_AROUND):
        if above not in is_one:
            is_one[above] = above.tag in _DRAWN_IN and is_rendered(above) and _is_one_formula(above)
        if is_one[above]:
            shown = above
    tail, attributes = math.tail if shown is math else None, {"alttext": source}
    if math.get("display") == "block":
        attributes["display"] = "block"
    math.clear()
    math.attrib.update(attributes)
    etree.SubElement(math, "mtext").text = source
    if shown is math:
        math.tail = tail
    else:
        shown.text = None
        shown[:] = [math]


def _is_one_formula(element: Any) -> bool:
    """Test for an element without a text of its own, a block or another formula, as a page may give the class to all of
    its text."""
    if any(text and not text.isspace() for text in (element.text, *(child.tail for child in element))):
        return False
    return next(islice(element.iterdescendants("math", *BLOCK_TAGS), 1, None), None) is None


def is_rendered(element: Any) -> bool:
    """Test for what KaTeX or MathJax has drawn a formula with."""
    return element.tag == "mjx-container" or bool(_RENDERED.search(element.get("class") or ""))


def one_line(source: str) -> str:
    """Write LaTeX in one line, without the comments that lines end in: they would hide all that follows."""
    if "%" in source:
        source = _COMMENT.sub(lambda found: f"{found[1]}{found[2]} " if found[2] else found[1], source)
    return " ".join(source.split())


def unstyled(source: str) -> str:
    """Write the LaTeX of a formula in one line, without a size that is set for all of it."""
    source = one_line(f"{source}\n")
    styled = _STYLE.fullmatch(source)
    return styled.group(1).strip() if styled and _is_one_group(styled.group(1)) else source


def _is_one_group(source: str) -> bool:
    """Test for LaTeX in which no brace closes what was not opened in it."""
    steps = ({"{": 1, "}": -1}.get(found[1], 0) for found in _BRACE.finditer(source))
    return min(accumulate(steps), default=0) >= 0
