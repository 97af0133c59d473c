"""The marks that browsers draw around a quotation within a line (`<q>`), but do not copy with its text."""

from itertools import islice
from typing import Any

from dbce_spark.html.elements import BLOCK_TAGS
from dbce_spark.html.removal import put_behind

_WRITTEN = frozenset("\"'’‘‚“”„«»‹›「」『』")
_FIRST_PARTS = 10
"""Elements of a quotation in which its first sign is looked for."""
_SIGNS = ('"', "'")
"""By turns, if quotations stand in one another. Those of a page's language are not known; these are read in all."""


def write_marks(root: Any) -> None:
    """Write the marks of each quotation without a block into its text, and make a <span> of it, which has none.

    None are written where the page has some itself: where the quotation begins with one, or stands right behind one.
    """
    depths: dict[Any, int] = {}
    for quotation in [one for one in root.iter("q") if _lacks_marks(one)]:
        around = next((one for one in quotation.iterancestors() if one in depths), None)
        depth = depths[quotation] = 0 if around is None else depths[around] + 1
        _enclose(quotation, _SIGNS[depth % len(_SIGNS)])
        quotation.tag = "span"


def _lacks_marks(quotation: Any) -> bool:
    before = quotation.getprevious()
    beside = (quotation.getparent().text if before is None else before.tail) or ""
    texts = (
        text
        for one in islice(quotation.iter(), _FIRST_PARTS)
        for text in (one.text, None if one is quotation else one.tail)
    )
    text = "".join(filter(None, texts)).strip()
    is_block = next(quotation.iterdescendants(*BLOCK_TAGS), None) is not None
    return bool(text) and not is_block and _WRITTEN.isdisjoint((text[0], beside[-1:]))


def _enclose(quotation: Any, sign: str) -> None:
    """Put a sign before and behind the text of a quotation, and the white space that it begins and ends with outside of
    them; none between it and the punctuation mark that follows."""
    first = quotation.text or ""
    if first != first.lstrip():
        put_behind(quotation.getparent(), quotation.getprevious(), " ")
    quotation.text = sign + first.lstrip()
    last = (quotation[-1].tail or "") if len(quotation) else quotation.text
    if last != last.rstrip() and (not quotation.tail or quotation.tail[0].isalnum()):
        quotation.tail = f" {quotation.tail or ''}"
    if len(quotation):
        quotation[-1].tail = last.rstrip() + sign
    else:
        quotation.text = last.rstrip() + sign
