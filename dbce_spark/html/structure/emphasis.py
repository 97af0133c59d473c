"""Emphasis by style alone: editors write bold and italic text as a <span>, and plain text as a <b> that is not bold."""

import re
from typing import Any

from lxml import etree

from dbce_spark.html.structure.kept_text import wrap_content

_WEIGHT = re.compile(r"(?:^|[;\s])font-weight\s*:\s*(?P<plain>normal|lighter|[1-5]00)?(?P<strong>bold|[6-9]00)?", re.I)
_SLANT = re.compile(r"(?:^|[;\s])font-style\s*:\s*(?P<plain>normal)?(?P<strong>italic|oblique)?", re.I)
_TAGS = {"b": _WEIGHT, "strong": _WEIGHT, "i": _SLANT, "em": _SLANT}
"""Elements of emphasis, and the property that may take it from them."""


def mark_emphasis(root: Any) -> None:
    """Make <b> and <i> of what its own style shows so, and neither of what its style shows plain."""
    for element in [*root.iter("span", "font", *_TAGS)]:
        style = element.get("style")
        if not style or "font-" not in style.lower():
            continue
        if element.tag in _TAGS:
            found = _TAGS[element.tag].search(style)
            if found and found["plain"]:
                element.tag = "span"
            continue
        weight, slant = _WEIGHT.search(style), _SLANT.search(style)
        is_italic = bool(slant and slant["strong"])
        if weight and weight["strong"]:
            element.tag = "b"
            if is_italic:
                wrap_content(element, etree.Element("i"))
        elif is_italic:
            element.tag = "i"
