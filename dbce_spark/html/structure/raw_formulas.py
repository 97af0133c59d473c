r"""Formulas that stand in a text as LaTeX, between the signs that MathJax and KaTeX look for: \( \), \[ \], $$, $; and
environments, such as \begin{align}, which need no signs."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree

from dbce_spark.html.formula_copies import one_line
from dbce_spark.html.removal import remove_elements
from dbce_spark.html.structure.formulas import SIGN
from dbce_spark.html.structure.kept_text import replace_text

_MOST_CHARS = 2_000
"""Of a formula; between signs that are farther apart stands text."""

_MOST = 20_000
"""Formulas in a page; behind them they are text: each becomes an element, and a page may have no more tags than ten
times that."""

_MOST_LINES = 50
"""Of a formula that line breaks part."""

_ENVIRONMENTS = r"(?:align|alignat|displaymath|eqnarray|equation|gather|multline)\*?"
# No sign that opens stands within: each character is read twice at most, however many open and never close.
_FORMULA = re.compile(
    rf"\$\$(?P<dollars>[^$]{{1,{_MOST_CHARS}}})\$\$"
    rf"|\\\[(?P<brackets>(?:(?!\\[\[(]).){{1,{_MOST_CHARS}}}?)\\\]"
    rf"|\\\((?P<parentheses>(?:(?!\\[\[(]).){{1,{_MOST_CHARS}}}?)\\\)"
    rf"|(?P<environment>\\begin\{{(?P<name>{_ENVIRONMENTS})\}}"
    rf"(?:(?!\\(?:begin|end)\{{(?P=name)\}}).){{1,{_MOST_CHARS}}}\\end\{{(?P=name)\}})"
    rf"|(?<![\\$\w])\$(?P<dollar>[^\s$](?:[^$\n]{{0,{_MOST_CHARS}}}[^\s$\\])?)\$(?![\w$])",
    re.DOTALL,
)
_VERBATIM = frozenset("code formula kbd listing note pre samp script style textarea tt xmp".split())


def replace_raw_formulas(root: Any) -> None:
    """Put a <formula> in the place of each formula in a text. One that is alone in its block is on lines of its own."""
    page_text = etree.tostring(root, encoding="unicode", method="text")
    if "$" not in page_text and "\\" not in page_text:
        return
    if "$$" in page_text:
        _join_lines(root)
    left = _MOST
    for element, is_tail, text in [*_candidates(root)]:
        found = [*islice(filter(_is_latex, _FORMULA.finditer(text)), left)]
        holder = element.getparent() if is_tail else element
        if found and not any(above.tag in _VERBATIM for above in (holder, *holder.iterancestors())):
            _replace(element, is_tail, text, found)
            left -= len(found)


def _join_lines(root: Any) -> None:
    """Take the line breaks out of formulas between $$, such as a program puts at the end of each line."""
    gone: dict[Any, str] = {}
    for line_break in root.iter("br"):
        before = line_break.getprevious()
        text = (line_break.getparent().text if before is None else before.tail) or ""
        if line_break not in gone and (text.count("$$") - (before in gone)) % 2:  # the first one ends a formula there
            gone |= dict.fromkeys(_breaks_within(line_break), "\n")
    remove_elements(gone)


def _breaks_within(first: Any) -> list[Any]:
    """List the line breaks from one to the end of a formula; none where none ends."""
    found: list[Any] = []
    lines = ""
    at = first
    while at is not None and at.tag == "br" and len(found) < _MOST_LINES:
        found.append(at)
        line, end, _ = (at.tail or "").partition("$$")
        lines += line
        if end:
            return found if SIGN.search(lines) else []
        at = at.getnext()
    return []


def _candidates(root: Any) -> Iterator[tuple[Any, bool, str]]:
    for element in root.iter("*"):
        for is_tail, text in ((False, element.text), (True, element.tail)):
            if text and ("$" in text or "\\" in text) and (not is_tail or element is not root):
                yield element, is_tail, text


def _is_latex(match: re.Match[str]) -> bool:
    if match.lastgroup in ("brackets", "environment", "parentheses"):
        return True
    return bool(SIGN.search(match.group(match.lastgroup or 0)))


def _replace(element: Any, is_tail: bool, text: str, found: list[re.Match[str]]) -> None:
    """Cut a text at the formulas in it."""
    is_alone = not is_tail and not len(element) and text.strip() == found[0].group()
    formulas: list[Any] = []
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=True):
        is_display = match.lastgroup == "environment" or (is_alone and match.lastgroup in ("dollars", "brackets"))
        formula = etree.Element("formula", {"display": "block"} if is_display else {})
        formula.text = one_line(match.group(match.lastgroup or 0))
        formula.tail = text[match.end() : end]
        formulas.append(formula)
    replace_text(element, is_tail, text[: found[0].start()], formulas)
