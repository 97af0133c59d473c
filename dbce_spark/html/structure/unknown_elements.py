"""Elements of a page that have the names of our marks: HTML does not know them, and shows what they hold."""

from typing import Any

_MARKS = ("callout", "footnote", "formula", "note", "player")


def rename_unknown(root: Any) -> None:
    """Make a <span> of each element of a page that would be taken for a mark of ours. To be called before any mark is
    set."""
    for element in root.iter(*_MARKS):
        element.tag = "span"
