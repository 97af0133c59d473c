"""Names of slots that are the same on every page of a template, and the marks that standards give them."""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.key_numbers import ODD, mixed_pairs
from dbce_spark.html.page_walk import SlotName
from dbce_spark.model import Hashes, Numbers, text_hash

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class SlotKeys:
    """64-bit names of some slots, one entry a slot, that are the same on every page of the template.

    `by_class` is the chain of tags and classes from the root, `by_id` that and the ids, `by_path` that of tags alone,
    `own` the last link of the first. Names with digits in them are left out: they number things. `numbered` names an id
    that has digits by the rest of it, and is 0 for all others. `marks` are bits of ROLES, PROPERTIES, TYPES and
    CLASSES, of the slot and of those above. `shown` are bits of SHOWN, of the slot alone.
    """

    by_class: Hashes
    by_id: Hashes
    by_path: Hashes
    own: Hashes
    numbered: Hashes
    marks: Numbers
    shown: Numbers


_ARTICLE, _HEADLINE, _ABOUT, _MAIN, _AROUND, _FRAME, _REPLY = (1 << bit for bit in range(7))
MARK_BITS = 7

ROLES = {
    "main": _MAIN, "article": _MAIN, "navigation": _AROUND, "menu": _AROUND, "search": _AROUND, "banner": _FRAME,
    "contentinfo": _FRAME, "complementary": _FRAME, "comment": _REPLY,
}  # fmt: skip
"""Marks by the role of WAI-ARIA 1.3, of an element or of one it lies in."""

PROPERTIES = {
    "articlebody": _ARTICLE, "text": _ARTICLE, "reviewbody": _ARTICLE, "headline": _HEADLINE, "author": _ABOUT,
    "datepublished": _ABOUT, "comment": _REPLY, "comments": _REPLY,
}  # fmt: skip
"""Marks by schema.org's `itemprop`."""

TYPES = {
    "article": _MAIN, "newsarticle": _MAIN, "blogposting": _MAIN, "recipe": _MAIN, "comment": _REPLY,
    "usercomments": _REPLY, "sitenavigationelement": _AROUND, "wpheader": _FRAME, "wpfooter": _FRAME,
    "wpsidebar": _FRAME,
}  # fmt: skip
"""Marks by the last part of schema.org's `itemtype`."""

CLASSES = {
    "e-content": _ARTICLE, "entry-content": _ARTICLE, "p-name": _HEADLINE, "entry-title": _HEADLINE,
    "h-entry": _MAIN, "hentry": _MAIN, "p-author": _ABOUT, "u-comment": _REPLY, "p-comment": _REPLY, "h-cite": _REPLY,
}  # fmt: skip
"""Marks by the class names that microformats.org defines: hAtom, and h-entry of microformats2."""


SHOWN = {"img": 1, "a": 2, "br": 4, "b": 8, "strong": 8, "em": 8, "i": 8, "button": 16, "time": 32, "label": 64}
"""Bits of what a tag of running text shows: a picture, a link, a new line, stress, a button, a time, a form's label."""


def slot_keys(names: Sequence[SlotName], above: Numbers) -> SlotKeys:
    """Name some slots; `above` has the index of the one above each, a root's its own."""
    links = np.frombuffer(b"".join(map(_link, names)), np.uint64).reshape(-1, 6).T
    own, numbered, shown = links[0], links[3], links[5].astype(np.int64)
    (by_class, by_id, by_path), marks = _from_the_root(links[:3], links[4], above)
    return SlotKeys(by_class, by_id, by_path, own, numbered, marks.astype(np.int64), shown)


def _from_the_root(links: Hashes, marks: Hashes, above: Numbers) -> tuple[Hashes, Hashes]:
    """Hash the links down to each slot, by each row of `links`, and unite the marks of all of them.

    The number is a polynomial of the links, modulo 2**64. Each round takes in twice as many, by adding that of the
    ancestor so far up: as many rounds as the depth has bits, not as many as it has levels.
    """
    chains = np.concatenate((links, np.zeros((len(links), 1), np.uint64)), axis=1)
    marks = np.append(marks, np.uint64(0))
    factor = int(ODD)
    for far in doubled(above):
        chains = chains + chains[:, far] * np.uint64(factor)
        marks = marks | marks[far]
        factor = factor * factor % (1 << 64)
    return mixed_pairs(chains[:, :-1], links), marks[:-1]


def doubled(above: Numbers) -> Iterator[Numbers]:
    """Iterate over the places 1, 2, 4, ... above each place of a tree, until none is so far up.

    `above` has the index of the place above each, a root's its own. Behind them stands one for nothing: what is above a
    root, and above that.
    """
    nothing = len(above)
    far = np.append(np.where(above == np.arange(nothing), nothing, above), nothing)
    while far.min() < nothing:
        yield far
        far = far[far]


def nearest(is_marked: npt.NDArray[np.bool_], above: Numbers) -> Numbers:
    """Find for each place of a tree the first that is marked, of it and those above; the root where none is."""
    found = np.where(is_marked, np.arange(len(above)), above)
    while not np.array_equal(found, found[found]):
        found = found[found]
    return found


_LINK = struct.Struct("=6Q")


@lru_cache(maxsize=1 << 15)
def _link(name: SlotName) -> bytes:
    """Pack what a slot is by itself, whatever it is under: 64 bits of its tag and classes, of these and its id, and of
    its tag; then `numbered`, `marks` and `shown`."""
    names = [name] if isinstance(name, str) else [one or "" for one in name]
    tag, css_class, html_id, role, itemprop, itemtype = [*names, *[""] * (6 - len(names))]
    marks = ROLES.get(role.lower(), 0) | PROPERTIES.get(itemprop.lower(), 0)
    marks |= TYPES.get(itemtype.rpartition("/")[2].lower(), 0)
    for one in css_class.split():
        marks |= CLASSES.get(one, 0)
    classes = f"{tag}|{unnumbered(css_class)}"
    numbered = text_hash(f"{tag}#{_DIGITS.sub('', html_id)}") if _DIGITS.search(html_id) else 0
    with_id = text_hash(f"{classes}|{unnumbered(html_id)}")
    return _LINK.pack(text_hash(classes), with_id, text_hash(tag), numbered, marks, SHOWN.get(tag, 0))


def unnumbered(names: str) -> str:
    """Sort the names of a class or id; leave out those with digits, which number things."""
    if not _DIGITS.search(names):
        return " ".join(sorted(names.split()))
    return " ".join(sorted(name for name in names.split() if not _DIGITS.search(name)))
