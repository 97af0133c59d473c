"""The removal of elements from a page's tree, and texts in the places between them."""

from collections.abc import Mapping
from itertools import islice
from typing import Any


def remove_element(element: Any, instead: str = "") -> None:
    """Take an element out with all it holds, but not the text behind it; `instead` is put before that."""
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    text = instead + (element.tail or "")
    put_behind(parent, before, text)
    parent.remove(element)


def remove_elements(gone: Mapping[Any, str]) -> None:
    """Take elements out as `remove_element` does, each with the text that is put instead.

    All of one parent at once: one by one, the text behind each would be moved for each one before it.
    """
    for parent in {one.getparent(): None for one in gone}:
        if parent is not None:
            remove_children(parent, gone)


def remove_children(parent: Any, gone: Mapping[Any, str]) -> None:
    """Take the children of an element that are `gone` out of it, each with the text that is put instead."""
    before: Any = None
    texts: list[str] = []
    for child in [*parent]:
        if child in gone:
            texts += (gone[child], child.tail or "")
            parent.remove(child)
        else:
            put_behind(parent, before, "".join(texts))
            before, texts = child, []
    put_behind(parent, before, "".join(texts))


def put_behind(parent: Any, before: Any, text: str) -> None:
    """Put a text behind a child of an element, or first in it."""
    if not text:
        return
    if before is None:
        parent.text = (parent.text or "") + text
    else:
        before.tail = (before.tail or "") + text


def is_within(element: Any, container: Any) -> bool:
    """Test for an element that is another one or lies in it, and was not taken out of it."""
    return element is container or container in element.iterancestors(container.tag)


def holds_more(element: Any, most: int) -> bool:
    """Test for an element that holds more than so many others, without reading them: of elements in each other, what
    the innermost holds would be read for each."""
    return next(islice(element.iterdescendants(), most, None), None) is not None
