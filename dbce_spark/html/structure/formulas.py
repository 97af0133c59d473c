"""Formulas as LaTeX: what their page has of it beside MathML and glyphs, or else what the MathML says."""

import re
from typing import Any

from lxml import etree

from dbce_spark.html.formula_copies import is_rendered, unstyled
from dbce_spark.html.removal import is_within
from dbce_spark.html.structure.kept_text import is_formula_script, remove
from dbce_spark.html.structure.mathml import latex

_SOURCES = ("data-math", "data-latex", "data-tex", "alttext")
_SOURCE_NAMES = frozenset(_SOURCES)
_TEX_IMAGE = re.compile(r"(?:^|[\s-])(?:tex|latex|math)(?:$|[\s-])", re.IGNORECASE)
_TEX_PROGRAM = re.compile(r"(?:latex|mathtex|mimetex)(?:\.\w+)?\?", re.IGNORECASE)
"""In the address of an image that a program draws as it is asked for."""
_BETWEEN_SIGNS = re.compile(r"\s*(?:\$([^$]+)\$|\$\$([^$]+)\$\$|\\\((.+)\\\)|\\\[(.+)\\\])\s*", re.DOTALL)
_KATEX_DISPLAY = re.compile(r"(?:^|\s)katex-display")
_DISPLAY = re.compile(r"(?:^|[\s_-])(?:display|block)", re.IGNORECASE)
_MARKS = ("mathjax", "katex")
_HAS_MARKS = etree.XPath(
    f"boolean(descendant::math | descendant::mjx-container | descendant::*/@{' | descendant::*/@'.join(_SOURCES)})"
)
"""A class with one of these, or this, is in every page with a formula, but for those that are images."""
SIGN = re.compile(r"[\\^_{]|^[^\W\d_]$")
"""Marks of LaTeX that money has not: its signs, or a letter alone."""


def replace_formulas(root: Any, classes: str) -> None:
    """Put a <formula> in the place of each formula whose LaTeX is known; the others stay as they are shown.

    `classes` are those of all elements (`classes_of`).
    """
    for element in [*root.iter("script")]:
        if is_formula_script(element):
            while (
                (before := element.getprevious()) is not None
                and not (before.tail or "").strip()
                and is_rendered(before)
            ):
                remove(before)
            _replace(element, element.text or "", "display" in (element.get("type") or ""))
    has_marks = any(mark in classes for mark in _MARKS) or _HAS_MARKS(root)
    for element in [*root.iter("*" if has_marks else "img")]:
        if _is_formula(element) and is_within(element, root):
            source = _source(element)
            if source:
                _replace(element, source, _is_display(element))


def _is_formula(element: Any) -> bool:
    tag, names = element.tag, element.keys()
    if tag in ("math", "mjx-container"):
        return True
    if not _SOURCE_NAMES.isdisjoint(names):
        return True
    if tag in ("span", "div"):
        return "class" in names and is_rendered(element)
    return tag == "img" and "alt" in names and _is_drawn(element)


def _is_drawn(image: Any) -> bool:
    """Test for an image of a formula, whose description is its LaTeX."""
    alt = image.get("alt")
    if _TEX_IMAGE.search(image.get("class") or "") or _BETWEEN_SIGNS.fullmatch(alt):
        return bool(alt)
    return bool(SIGN.search(alt)) and bool(_TEX_PROGRAM.search(image.get("src") or ""))


def _source(element: Any) -> str:
    """Find or write the LaTeX of a formula; "" where there is none."""
    for one in (element, *element.iterdescendants("math")):
        for name in _SOURCES:
            if source := one.get(name):
                return str(source)
    if element.tag == "img":
        alt = element.get("alt") or ""
        signs = _BETWEEN_SIGNS.fullmatch(alt)
        return str(signs[signs.lastindex or 0] if signs else alt)
    formula = next(element.iter("math", "mjx-math"), None)
    return "" if formula is None else latex(formula)


def _is_display(element: Any) -> bool:
    for one in (element, *element.iterdescendants("math", "span", "div")):
        if one.tag == "math" and one.get("display") == "block":
            return True
        if one.get("display") == "true" or (one.tag != "math" and _DISPLAY.search(one.get("class") or "")):
            return True
    above = element.getparent()
    return above is not None and bool(_KATEX_DISPLAY.search(above.get("class") or ""))


def _replace(element: Any, source: str, is_display: bool) -> None:
    parent = element.getparent()
    if parent is None:
        return
    source = unstyled(source)
    if not source:
        remove(element)
        return
    formula = etree.Element("formula", {"display": "block"} if is_display else {})
    formula.text = "".join(character if character.isprintable() else " " for character in source)
    formula.tail = element.tail
    parent.replace(element, formula)
    after = formula.getnext() if formula.getnext() is not None else parent.getnext()
    if (
        after is not None
        and after.tag == "img"
        and _squeezed(after.get("alt")) in (_squeezed(source), _squeezed(element.get("alttext")))
    ):
        remove(after)


def _squeezed(text: str | None) -> str:
    return "".join(unstyled(text or "").split())
