"""The classes of characters that features count: letters, digits, stops, and signs of some uses."""

import unicodedata
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

UPPER, LOWER, LETTER, DIGIT, COMMA, STOP, PUNCTUATION, SYMBOL, CURRENCY, RIGHTS, POINTER, BAR, COLON, AT = range(1, 15)
"""Classes of characters; 0 is everything else, such as white space."""

CLASS_COUNT = 15

_ARROWS, _TRIANGLES = range(0x2190, 0x2200), range(0x25B2, 0x25C6)
_CHARACTERS_OF = {
    COMMA: ",;\u060c\u3001\uff0c\uff1b",
    STOP: ".!?\u3002\uff01\uff1f\u2026\u061f\u0964",
    RIGHTS: "\u00a9\u2117",
    POINTER: "".join(["<>\u00ab\u00bb\u2039\u203a", *map(chr, _ARROWS), *map(chr, _TRIANGLES)]),
    BAR: "|\u00a6\u00b7\u2022\u2219\u25cf\u25aa",
    COLON: ":\uff1a",
    AT: "@\uff20",
}
_CLASS_OF_CATEGORY = {
    "Lu": UPPER,
    "Lt": UPPER,
    "Ll": LOWER,
    "L": LETTER,
    "M": LETTER,
    "N": DIGIT,
    "P": PUNCTUATION,
    "Sc": CURRENCY,
    "S": SYMBOL,
}
_CLASSIFIED = 0x30000
"""Code points beyond are ideographs and private use: letters."""


def classes_of(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """Return the class of each of some code points."""
    classes: npt.NDArray[np.uint8] = _character_classes()[np.minimum(codes, _CLASSIFIED)]
    return classes


@lru_cache(maxsize=1)
def _character_classes() -> npt.NDArray[np.uint8]:
    categories = map(unicodedata.category, map(chr, range(_CLASSIFIED)))
    classes = np.full(_CLASSIFIED + 1, LETTER, np.uint8)
    classes[:-1] = np.fromiter(map(_class_of, categories), np.uint8, _CLASSIFIED)
    for name, characters in _CHARACTERS_OF.items():
        classes[[*map(ord, characters)]] = name
    return classes


@cache
def _class_of(category: str) -> int:
    """Return the class of the characters of a Unicode category."""
    return _CLASS_OF_CATEGORY.get(category) or _CLASS_OF_CATEGORY.get(category[0], 0)
