r"""Formulas that stand in a text as LaTeX, between the signs that MathJax and KaTeX look for: \( \), \[ \], $$, $."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree

from dbce_spark.html.structure.formulas import one_line
from dbce_spark.html.structure.kept_text import replace_text

_MOST_CHARS = 2_000
"""Of a formula; between signs that are farther apart stands text."""

_MOST = 20_000
"""Formulas in a page; behind them they are text: each becomes an element, and a page may have no more tags than ten
times that."""

# No sign that opens stands within: each character is read twice at most, however many open and never close.
_FORMULA = re.compile(
    rf"\$\$(?P<dollars>[^$]{{1,{_MOST_CHARS}}})\$\$"
    rf"|\\\[(?P<brackets>(?:(?!\\[\[(]).){{1,{_MOST_CHARS}}}?)\\\]"
    rf"|\\\((?P<parentheses>(?:(?!\\[\[(]).){{1,{_MOST_CHARS}}}?)\\\)"
    rf"|(?<![\\$\w])\$(?P<dollar>[^\s$](?:[^$\n]{{0,{_MOST_CHARS}}}[^\s$\\])?)\$(?![\w$])",
    re.DOTALL,
)
_SIGN = re.compile(r"[\\^_{]|^[^\W\d_]$")
"""Marks of LaTeX that money has not: its signs, or a letter alone."""
_VERBATIM = frozenset("code formula kbd listing note pre samp script style textarea tt xmp".split())


def replace_raw_formulas(root: Any, shown: bytes) -> None:
    """Put a <formula> in the place of each formula in a text. One that is alone in its block is on lines of its own.

    `shown` is the tree as text.
    """
    if b"$" not in shown and b"\\" not in shown:
        return
    left = _MOST
    for element, is_tail, text in [*_candidates(root)]:
        found = [*islice(filter(_is_latex, _FORMULA.finditer(text)), left)]
        holder = element.getparent() if is_tail else element
        if found and not any(above.tag in _VERBATIM for above in (holder, *holder.iterancestors())):
            _replace(element, is_tail, text, found)
            left -= len(found)


def _candidates(root: Any) -> Iterator[tuple[Any, bool, str]]:
    for element in root.iter("*"):
        for is_tail, text in ((False, element.text), (True, element.tail)):
            if text and ("$" in text or "\\" in text) and (not is_tail or element is not root):
                yield element, is_tail, text


def _is_latex(match: re.Match[str]) -> bool:
    if match.lastgroup in ("brackets", "parentheses"):
        return True
    return bool(_SIGN.search(match.group(match.lastgroup or 0)))


def _replace(element: Any, is_tail: bool, text: str, found: list[re.Match[str]]) -> None:
    """Cut a text at the formulas in it."""
    is_alone = not is_tail and not len(element) and text.strip() == found[0].group()
    formulas: list[Any] = []
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=True):
        is_display = is_alone and match.lastgroup in ("dollars", "brackets")
        formula = etree.Element("formula", {"display": "block"} if is_display else {})
        formula.text = one_line(match.group(match.lastgroup or 0))
        formula.tail = text[match.end() : end]
        formulas.append(formula)
    replace_text(element, is_tail, text[: found[0].start()], formulas)
