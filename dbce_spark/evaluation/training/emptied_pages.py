"""Emptied pages: labelled pages once more, without what their reader copied.

An archive has pages whose content is missing, since scripts write it or nothing was found; all that they hold is
boilerplate. Gold has few of them.
"""

from dataclasses import replace
from typing import Any

from lxml import etree

from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.reader_texts import reader_texts
from dbce_spark.html.dom import PageError, parse_written

PAGE_TYPE = "none"
"""The type of a page without main content, in the readers' gold."""

_REMOVED = "emptied"
"""The tag that elements to remove are given: libxml2 then removes them all at once."""


def emptied(page: GoldPage) -> GoldPage | None:
    """Remove content and comments from a page, and the elements that held nothing else.

    None if no reader has labelled it, if there is nothing to remove, or if nothing would be left.
    """
    try:
        root, _ = parse_written(page.body)
    except PageError:
        return None
    nodes = [*reader_texts(root)]
    is_same = [node.text for node in nodes] == [text for _, text in page.nodes]
    removed = [node for node, (label, _) in zip(nodes, page.nodes, strict=False) if label]
    left = [(label, text) for label, text in page.nodes if not label]
    if not (is_same and removed and left):
        return None
    for node in removed:
        node.remove()
    for node in removed:
        _mark(node.holder)
    etree.strip_elements(root, _REMOVED, with_tail=False)
    html = etree.tostring(root, encoding="unicode", method="html")
    return replace(
        page,
        page_id=f"emptied/{page.page_id}",
        group=page.group or page.page_id,  # so that its site, which may be made up of them, stays the same
        page_type=PAGE_TYPE,
        html=html,
        gold="",
        comments="",
        nodes=left,
    )


def _mark(element: Any) -> None:
    """Mark an element for removal, and those around it, as far as they hold no text."""
    while element.tag not in ("body", "html", _REMOVED) and not "".join(element.itertext()).strip():
        element.tag = _REMOVED
        element = element.getparent()
