"""Hash text blocks by their letters, as a tree counts them."""

import hashlib
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import numpy.typing as npt
import xxhash

from dbce_spark.html.tokens import code_points
from dbce_spark.model import Blocks

Keys = npt.NDArray[np.uint64]
"""(blocks, key words): the hash of each block, in 64-bit words."""

_LETTERS = re.compile(r"[^\W\d_]+")
_LOWER = bytes(range(256)).lower()
_NO_ASCII_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha() and chr(code) != "\n")

_HASHES: Mapping[str, Callable[[bytes], bytes]] = {
    "xxh3": lambda data: xxhash.xxh3_64_digest(data)[::-1],
    "md5": lambda data: hashlib.md5(data, usedforsecurity=False).digest(),
}

KEY_WORDS = {"xxh3": 1, "md5": 2}
"""64-bit words of a key."""


def letters(text: str) -> bytes:
    """Return a text in lower case as UTF-8, without every character that is no letter; line breaks stay. Two blocks
    with the same letters are one to a tree."""
    if text.isascii():  # at half of the time
        return text.encode().translate(_LOWER, _NO_ASCII_LETTERS)
    codes = code_points(text)
    kept = codes[_is_kept()[codes]].tobytes().decode("utf-32-le", "surrogatepass")
    return kept.lower().encode("utf-8", "surrogatepass")


@cache
def _is_kept() -> npt.NDArray[np.bool_]:
    """Return (code points,): True where `letters` keeps the code point."""
    every = np.arange(sys.maxunicode + 1, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    is_kept = np.zeros(len(every), np.bool_)
    is_kept[ord("\n")] = True
    for match in _LETTERS.finditer(every):
        is_kept[slice(*match.span())] = True
    return is_kept


def block_keys(blocks: Blocks, hash_name: str) -> Keys:
    """Return the key of each block of a page, (blocks, key words), in page order. All blocks without a letter, such as
    dates, have one key."""
    raw = b"".join(map(_HASHES[hash_name], _letters_of(blocks)))
    return np.frombuffer(raw, "<u8").astype(np.uint64).reshape(len(blocks), KEY_WORDS[hash_name])


def _letters_of(blocks: Blocks) -> list[bytes]:
    """Return the letters of each block, computed for all at once; a line is a block."""
    spans = zip(blocks.starts.tolist(), blocks.ends.tolist(), strict=True)
    text = "\n".join([blocks.text[start:end].replace("\n", " ") for start, end in spans])
    return letters(text).split(b"\n") if len(blocks) else []
