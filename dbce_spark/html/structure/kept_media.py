"""Pictures and rules that belong to what is kept: they have no label, so the text around them decides."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.html.structure.addresses import is_image_file

Kept = npt.NDArray[np.bool_]
"""Of each character of a page's text that is no white space: is it kept? In the order of the page."""

MEDIA_TAGS = frozenset("code hr img math noscript picture player script".split())
"""Elements that may show something without text; where they are kept follows from the text around them."""

_PICTURES = frozenset(("img", "noscript", "picture", "player"))
_ROWS = frozenset(("table", "thead", "tbody", "tfoot", "tr"))
"""Elements that give a picture a cell for itself, where they are the nearest with text."""
_NEARLY_ALL = 0.95
"""Of an article's text: a line of it, such as a date, may not be kept."""


Counts = npt.NDArray[np.int32]


def counts_before(marks: Kept) -> Counts:
    """Count the marked characters before each, and before the end."""
    counts = np.zeros(len(marks) + 1, np.int32)
    np.cumsum(marks, out=counts[1:])
    return counts


@dataclass(frozen=True, slots=True)
class Around:
    """The nearest element around a picture that has text, and the characters of the page that it spans."""

    element: Any
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The text of a page: which of its characters are kept, and how many of them before each."""

    is_kept: Kept
    kept_before: Counts

    def kept(self, start: int, end: int) -> int:
        """Count the characters of a part of the page that are kept."""
        return self.kept_before.item(end) - self.kept_before.item(start)

    def hold(self, medium: Any, at: int, around: Around) -> bool:
        """Test whether a picture or a rule, at its place in the text, belongs to what is kept.

        It does between two kept texts of the element around it. Otherwise half of that element must be kept, and the
        text before or behind it; for a rule both. If the element has most of what is kept of the page, as an article
        has, a picture beside its text must also be in a figure, or the element's own and the element kept nearly whole.
        """
        start, end = around.start, around.end
        before, behind = at > 0 and bool(self.is_kept[at - 1]), at < len(self.is_kept) and bool(self.is_kept[at])
        if before and behind and start < at < end:
            return True
        length, kept = end - start, self.kept(start, end)
        if 2 * kept < length or not (before or behind):
            return False
        if before and behind:
            return True
        if medium.tag not in _PICTURES:
            return bool(medium.tag != "hr")
        all_kept = int(self.kept_before[-1])
        is_most = all_kept > 0 and 2 * kept >= all_kept
        if not is_most or _is_in_figure(medium):
            return True
        return kept >= _NEARLY_ALL * length and _is_own(medium, around)


def _is_in_figure(picture: Any) -> bool:
    return next(picture.iterancestors("figure"), None) is not None


def _is_own(picture: Any, around: Around) -> bool:
    """Test for a picture that is none of what frames an article: no link to another page, as logos, buttons and
    advertisements are, none that only readers without scripts see, as counters are, and none in a cell of its own."""
    link = next(picture.iterancestors("a"), None)
    if link is not None and link.get("href") and not is_image_file(link.get("href")):
        return False
    if picture.tag == "noscript":
        before = picture.getprevious()
        if before is None or before.tag != "img":
            return False
    return around.element.tag not in _ROWS
