"""Text nodes of a page as readers label them: in order, white space collapsed, empty ones left out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree

_UNREAD = ("script", "style", "noscript")


@dataclass(frozen=True, slots=True)
class ReaderText:
    """A text with its place: at the start of an element, or as its tail, behind it."""

    text: str
    element: Any
    is_tail: bool

    def remove(self) -> None:
        """Remove the text from the page."""
        setattr(self.element, "tail" if self.is_tail else "text", None)

    @property
    def holder(self) -> Any:
        """Return the element that the text is in."""
        return self.element.getparent() if self.is_tail else self.element


def reader_texts(root: Any) -> Iterator[ReaderText]:
    """Iterate over the text nodes of a page, in order; those of scripts and styles are left out."""
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        is_tail = event == "end"
        if element.tag in _UNREAD and not is_tail:
            walker.skip_subtree()
            continue
        text = element.tail if is_tail else element.text
        if text and text.strip() and (not is_tail or element.getparent() is not None):
            yield ReaderText(" ".join(text.split()), element, is_tail)
