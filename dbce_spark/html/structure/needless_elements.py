"""Elements of a clean tree that show nothing of their own: empty ones, links and headings that nobody sees, and
emphasis of a sign at a word or of images."""

import re
from collections.abc import Iterator, Sequence

from dbce_spark.html.elements import HEADING_TAGS
from dbce_spark.html.structure.clean_element import INLINE_TAGS, CleanElement
from dbce_spark.html.structure.layout_lists import LISTS, spread

_ENDS = frozenset(("br", "hr"))
_MAY_BE_EMPTY = frozenset(("img", "player", "td", "th"))
_BOLD = frozenset(("b", "strong"))
_EMPHASIS = _BOLD | {"em", "i"}
_IN_EMPHASIS = _EMPHASIS | {"a"}
_SHOWN_BY_TEXT = HEADING_TAGS | {"a"}
_GROUPS = frozenset(("blockquote", "footnote"))
_INVISIBLE = re.compile(r"[\s\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+")
_SIGNS = re.compile(r"[\W_]+")

_Parts = Sequence[str | CleanElement]


def drop_needless(node: CleanElement) -> None:
    """Take out what nothing came into, the breaks and rules that end a block, and rules right before a rule; of other
    needless elements what they hold stays."""
    if len(node.parts) == 1 and isinstance(node.parts[0], str):  # as in most elements
        return
    left: list[str | CleanElement] = []  # the last first
    may_be_needless = False
    for part in reversed(node.parts):
        if isinstance(part, CleanElement):
            drop_needless(part)
            found = _left_of(part, node, left[-1] if left else None)
            left += reversed(found)
            may_be_needless |= part.tag in _EMPHASIS and part in found and not _begins_with_letter(part)
        else:
            left.append(part)
    node.parts = left[::-1]
    if may_be_needless:
        node.parts = [*without_needless_emphasis(node.parts)]


def _left_of(part: CleanElement, around: CleanElement, behind: str | CleanElement | None) -> _Parts:
    """Return what is left of an element before another part, or at the end: itself, what it holds, or nothing."""
    tag = part.tag
    if tag in _ENDS:
        ends_block = behind is None and around.tag not in INLINE_TAGS
        is_repeated = tag == "hr" and isinstance(behind, CleanElement) and behind.tag == "hr"
        return () if ends_block or is_repeated else (part,)
    if not part.parts:
        return (part,) if tag in _MAY_BE_EMPTY else ()
    if tag in _BOLD and around.tag in HEADING_TAGS:  # as all of a heading is
        return part.parts
    if tag in _SHOWN_BY_TEXT and not _begins_with_letter(part) and _is_invisible(part):
        if tag == "a":
            return part.parts
        part.tag = "p"
    elif tag in _GROUPS and _is_needless_group(part):
        return (part.children()[0].with_text_attributes(part),)
    elif tag in LISTS:
        return spread(part)
    elif tag == "tr" and not any(cell.parts for cell in part.children()):
        return ()
    return (part,)


def _is_needless_group(group: CleanElement) -> bool:
    """Test for a quote of nothing but a quote, which sets margins, and for a footnote of one block, which its mark
    begins."""
    return len(group.parts) == 1 and (group.tag == "footnote" or group.children()[0].tag == "blockquote")


def _begins_with_letter(element: CleanElement) -> bool:
    """Test for a letter or digit at the beginning, as nearly all links, headings and emphasis have one."""
    first = element.parts[0]
    return isinstance(first, str) and first[0].isalnum()


def _is_invisible(element: CleanElement) -> bool:
    return all(isinstance(part, str) and _INVISIBLE.fullmatch(part) for part in element.parts)


def _is_of_images(emphasis: CleanElement) -> bool:
    """Test for images without a word, which no emphasis shows on."""
    images = 0
    for part in emphasis.parts:
        if isinstance(part, str):
            if not part.isspace():
                return False
        elif part.tag == "img" or (part.tag in _IN_EMPHASIS and _is_of_images(part)):
            images += 1
        else:
            return False
    return images > 0


def without_needless_emphasis(parts: _Parts) -> Iterator[str | CleanElement]:
    """Iterate over the parts of an element; emphasis of signs alone that touches a word or an element is plain, and so
    is that of what nobody sees, and of images."""
    for at, part in enumerate(parts):
        if not isinstance(part, CleanElement) or part.tag not in _EMPHASIS:
            yield part
        elif _is_of_images(part):
            yield from part.parts
        else:
            signs = _signs_of(part)
            is_apart = _is_space(parts[at - 1 : at], -1) and _is_space(parts[at + 1 : at + 2], 0)
            yield signs if signs and (not is_apart or _INVISIBLE.fullmatch(signs)) else part


def _signs_of(emphasis: CleanElement) -> str:
    """Read the signs in emphasis; "" where a letter, a digit or another element is in it."""
    texts = []
    for part in emphasis.parts:
        if not isinstance(part, str):
            part = _signs_of(part) if part.tag in _EMPHASIS else ""
        texts.append(part)
    return "".join(texts) if all(map(_SIGNS.fullmatch, texts)) else ""


def _is_space(beside: _Parts, at: int) -> bool:
    """Test for white space, the end of a line, or nothing."""
    return all(part[at].isspace() if isinstance(part, str) else part.tag == "br" for part in beside)
