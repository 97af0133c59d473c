"""Make archived HTML harmless for a frame of the report. It is hostile: nothing in it may run, load, send, or leave the
frame.

Four measures, each enough by itself against scripts: what acts is removed; a content policy in the document; the same
policy in the page around it, which a `srcdoc` document inherits; and `sandbox=""` on the frame.
"""

import re
from typing import Any

from lxml import etree, html

from dbce_spark.dbce.kept import annotated_html
from dbce_spark.html import sealed_html
from dbce_spark.html.dom import parse_tree
from dbce_spark.html.elements import DROPPED_TAGS
from dbce_spark.html.removal import remove_element
from dbce_spark.model import LABEL_WORDS, Segments
from dbce_spark.report.archived_html import Archived, HtmlGone

POLICY = f"{sealed_html.POLICY}; frame-src 'none'"

MAX_BYTES = 4 << 20
"""HTML that goes into a frame: a browser shows a report of a dozen such pages, and no more."""

# A policy of the document says nothing of preconnect, and a link that is followed would leave the report.
_LOADING_TAGS = frozenset(("link", "meta", "base"))
_LOADING_ATTRIBUTES = frozenset(
    "action autofocus background data formaction longdesc lowsrc ping poster src srcset".split()
)
_INLINE_IMAGE = re.compile(r"data:image/(png|gif|jpeg|webp)[;,]", re.IGNORECASE)
_VISIBLE_DROPPED = frozenset(("svg", "style", "head", "input", "select", "option", "optgroup", "textarea", "canvas"))
_OUT = (DROPPED_TAGS | _LOADING_TAGS) - _VISIBLE_DROPPED
_HEAD = (
    f'<!DOCTYPE html>\n<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    "<style>:root { print-color-adjust: exact }"
    "a, area, button, input, select, textarea, summary, form { pointer-events: none !important }</style>\n"
)


def document(archived: Archived, page_text: str, segments: Segments) -> str:
    """Build a harmless document of the page with its segments coloured.

    Raises:
        HtmlGone: the page is too large to be shown, or takes no labels.
    """
    if len(archived.html) > MAX_BYTES:
        raise HtmlGone(f"the page has {len(archived.html):,} bytes, more than a report should hold")
    labelled = archived.html
    if not archived.is_labelled:
        try:
            labelled = annotated_html.labelled_html(archived.html, page_text, segments).encode("utf-8", "replace")
        except (etree.LxmlError, ValueError) as error:
            raise HtmlGone(f"its labels cannot be written into its HTML: {error}") from error
    root = parse_tree(labelled)
    _strip(root)
    return f"{_HEAD}{html.tostring(root, encoding='unicode')}"


def unlabelled(archived: Archived) -> Archived:
    """Remove the marks of the page's own labels."""
    if not archived.is_labelled:
        return archived
    root = parse_tree(archived.html)
    classes = {f"dbce-{word}" for word in LABEL_WORDS}
    for span in list(root.iter("span")):
        if span.get("class") in classes:
            _dissolve(span)
    return Archived(html.tostring(root, encoding="utf-8"), archived.blocks, is_labelled=False)


def _strip(root: Any) -> None:
    """Remove elements and attributes that run or load; no text of the page is in them."""
    for element in list(root.iter(*_OUT)):
        if element is not root and element.getparent() is not None:
            remove_element(element)
    for element in root.iter(etree.Element):
        for name, value in element.attrib.items():
            is_lost = name.lower() in _LOADING_ATTRIBUTES and not _INLINE_IMAGE.match(value)
            if is_lost or name.lower().startswith("on"):
                del element.attrib[name]


def _dissolve(span: Any) -> None:
    """Put the text of an element without children into its place."""
    if not len(span):
        remove_element(span, span.text or "")
