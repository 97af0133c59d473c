"""Callouts, also called admonitions and alerts: a note, a tip or a warning that stands beside the text.

HTML has no element for them. Writers of documentation mark them by the classes of the programs that made them, which
follow docutils, and Markdown by the first line of a quote: `[!note]`.
"""

import re
from typing import Any

from lxml import etree

from dbce_spark.html.elements import BLOCK_TAGS

_BOXES = frozenset(("admonition", "admonitionblock", "callout", "markdown-alert", "alert"))
_PREFIX = re.compile(r"(?:theme-)?(?:admonition|callout|markdown-alert|alert)--?")
"""Before a kind; with two dashes as a modifier of BEM."""
_MARKS = ("admonition", "callout", "alert")
_IS_NAMED = etree.XPath("boolean(descendant-or-self::*/@data-callout)")
_KINDS = frozenset(
    "note tip hint info important warning caution danger error attention success example question"
    " abstract summary todo check failure bug quote seealso".split()
)
_TITLES = ("title", "heading", "summary")
_TAGS = ("div", "aside", "section", "details", "blockquote")


def mark_callouts(root: Any, classes: str) -> None:
    """Make a quote of each callout, with its kind as a <callout> before its first words.

    `classes` are those of all elements (`classes_of`).
    """
    if not (any(mark in classes for mark in _MARKS) or _IS_NAMED(root)):
        return
    for box in [*root.iter(*_TAGS)]:
        kind = _kind(box)
        if not kind:
            continue
        box.tag = "blockquote"
        holder = _first_block(box)
        if not _is_title(holder, box):
            title = etree.Element("p")
            title.tail, box.text = box.text, None
            box.insert(0, title)
            holder = title
        mark = etree.Element("callout", {"kind": kind})
        mark.tail, holder.text = (holder.text or "").lstrip(), None
        holder.insert(0, mark)


def _kind(box: Any) -> str:
    """Find the kind that the classes of a callout name; "" of anything else."""
    classes = (box.get("class") or "").lower().split()
    named = (box.get("data-callout") or "").strip().lower()
    if named in _KINDS:
        return named
    if _BOXES.isdisjoint(classes):
        return ""
    names = (one if (prefix := _PREFIX.match(one)) is None else one[prefix.end() :] for one in classes)
    return next((one for one in names if one in _KINDS), "")


def _first_block(box: Any) -> Any:
    """Find the block that the first words stand in."""
    block = box
    while len(block) and not (block.text or "").strip() and block[0].tag in (*BLOCK_TAGS, "summary"):
        block = block[0]
    return block


def _is_title(block: Any, box: Any) -> bool:
    classes = (block.get("class") or "").lower()
    return block is not box and (block.tag == "summary" or any(name in classes for name in _TITLES))
