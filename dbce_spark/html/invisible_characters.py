"""Characters that a text has and nobody sees: soft hyphens, byte order marks, spaces of no width."""

import re
from itertools import pairwise

from dbce_spark.html.tokens import HAS_SPACELESS

INVISIBLE = _SOFT_HYPHEN, _ZERO_WIDTH_SPACE, _BYTE_ORDER_MARK = tuple(char.encode() for char in "\u00ad\u200b\ufeff")
_SUSPECTS = {char: re.compile(char) for char in INVISIBLE}
"""`re` finds several bytes in a third of the time that `in` takes."""


def drop_invisible(html: bytes) -> bytes:
    """Take out of a page in UTF-8 what belongs to no word of its text; the same object if it has none of these.

    A space of no width stays beside letters of scripts without spaces, whose words it parts; elsewhere it is where a
    line may break, as <wbr> is. Tags stay as they are: a soft hyphen may be in the name of a file.
    """
    for char, suspect in _SUSPECTS.items():
        if char[:1] in html and suspect.search(html):
            html = _without(html, char)
    return html


def _without(html: bytes, char: bytes) -> bytes:
    pieces = html.split(char)
    parts, is_tag = pieces[:1], False
    for before, behind in pairwise(pieces):
        opened, closed = before.rfind(b"<"), before.rfind(b">")
        if opened != closed:
            is_tag = opened > closed
        if is_tag or (char == _ZERO_WIDTH_SPACE and _is_beside_spaceless(before, behind)):
            parts.append(char)
        parts.append(behind)
    return b"".join(parts)


def _is_beside_spaceless(before: bytes, behind: bytes) -> bool:
    beside = before[-4:].decode("utf-8", "ignore")[-1:] + behind[:4].decode("utf-8", "ignore")[:1]
    return HAS_SPACELESS.search(beside) is not None
