"""The removal of elements from a page's tree."""

from typing import Any


def remove_element(element: Any, instead: str = "") -> None:
    """Take an element out with all it holds, but not the text behind it; `instead` is put before that."""
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    text = instead + (element.tail or "")
    if text and before is not None:
        before.tail = (before.tail or "") + text
    elif text:
        parent.text = (parent.text or "") + text
    parent.remove(element)


def is_within(element: Any, container: Any) -> bool:
    """Test for an element that is another one or lies in it, and was not taken out of it."""
    return element is container or any(above is container for above in element.iterancestors())


def disarm_embed(embed: Any) -> None:
    """Turn an <embed> into a <span>: libxml2 lets it hold what follows it."""
    embed.tag = "span"
    embed.attrib.clear()
