"""Features of a segment's place in the DOM (KrdWrd 2.2.3.2)."""

from math import log1p
from typing import Any

import numpy as np

from dbce_spark.annotation.markup.page_file import Sheet
from dbce_spark.errors import InputError
from dbce_spark.html.dom import parse_tree
from reproductions.krdwrd.segment_features import Values

NAMES = (
    "depth",  # logarithm, as are all counts
    "neighbours",  # children of the same parent
    "text in HTML",  # characters of the element's text over those of its HTML
    "links of the page",
    "images of the page",
    "objects of the page",
    "anchors of the page",
    "in a link",
    "in a heading",
    "in a paragraph",
    "in a list",
    "in a table",
    "link text",  # share of the characters of the element's parent that are in links
)

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LISTS = ("li", "dd", "dt")
_WITHIN = (("a",), _HEADINGS, ("p",), _LISTS, ("td", "th"))


def features(sheet: Sheet) -> Values:
    """Compute one row a segment, with the columns of NAMES.

    Raises:
        InputError: a segment is in an element that the page does not have.
    """
    root = parse_tree(sheet.html.encode("utf-8", "replace"))
    of_page = _of_page(root)
    by_xpath: dict[str, list[float]] = {}
    for one in sheet.segments:
        if one.xpath not in by_xpath:
            found = root.xpath(one.xpath)
            if len(found) != 1:
                raise InputError(f"{sheet.page}: {one.xpath} is not in the page; give the page that was cut")
            by_xpath[one.xpath] = _of_element(found[0], of_page)
    return np.array([by_xpath[segment.xpath] for segment in sheet.segments], np.float64).reshape(-1, len(NAMES))


def _of_page(root: Any) -> list[float]:
    counts = (
        len(root.xpath("//a[@href]")),
        len(root.xpath("//img")),
        len(root.xpath("//object | //embed | //iframe | //applet | //video | //audio")),
        len(root.xpath("//a[@name] | //a[@id and not(@href)]")),
    )
    return [log1p(count) for count in counts]


def _of_element(element: Any, of_page: list[float]) -> list[float]:
    above = [element, *element.iterancestors()]
    tags = {one.tag for one in above}
    parent = element.getparent()
    around = element if parent is None else parent
    return [
        log1p(len(above)),
        log1p(0 if parent is None else len(parent)),
        _text_share(element),
        *of_page,
        *(float(not tags.isdisjoint(some)) for some in _WITHIN),
        _link_share(around),
    ]


def _characters(element: Any) -> int:
    return sum(len("".join(text.split())) for text in element.itertext())


def _text_share(element: Any) -> float:
    """Count tags and attributes as they would be written, without what white space there is."""
    text = _characters(element)
    markup = 0
    for one in element.iter("*"):
        markup += 5 + 2 * len(one.tag) + sum(len(name) + len(value) + 4 for name, value in one.attrib.items())
    return text / (text + markup)


def _link_share(element: Any) -> float:
    return sum(map(_characters, element.iter("a"))) / max(1, _characters(element))
