"""Boxes to tick that items of lists begin with: those of lists of what is to be done."""

from typing import Any

BOX = "box"
"""Attribute of an item that begins with a box, with the state of that."""
TICKED, EMPTY = "ticked", "empty"
_AROUND_BOX = frozenset(("div", "label", "p", "span"))
"""Elements that a box may stand in, within its item."""


def mark_boxes(root: Any) -> None:
    """Note on each item that begins with a box whether that is ticked. To be called before boxes are taken out.

    A box before a list within the item may open that list, if readers can tick it: it is none.
    """
    for item in root.iter("li"):
        item.attrib.pop(BOX, None)  # a page's own
    for box in root.iter("input"):
        if (box.get("type") or "").strip().lower() != "checkbox" or "hidden" in box.attrib:
            continue
        item = _item_begun_by(box)
        if item is not None and ("disabled" in box.attrib or next(item.iterchildren("ul", "ol"), None) is None):
            item.set(BOX, TICKED if "checked" in box.attrib else EMPTY)


def _item_begun_by(box: Any) -> Any:
    """Find the item that a box begins; None if it begins none."""
    at = box
    while at.getprevious() is None:
        above = at.getparent()
        if above is None or (above.text or "").strip():
            return None
        if above.tag == "li":
            return above
        if above.tag not in _AROUND_BOX:
            return None
        at = above
    return None
