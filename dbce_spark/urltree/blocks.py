"""Text blocks as a tree counts them: by the hash of their letters."""

import hashlib
import re
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import xxhash

from dbce_spark.model import Blocks

Keys = npt.NDArray[np.uint64]
"""(blocks, words): the hash of each block, in 64-bit words."""

_NO_LETTERS = re.compile(r"[\W\d_]+")
_LOWER = bytes(range(256)).lower()
_NO_ASCII_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())

_HASHES: Mapping[str, Callable[[bytes], bytes]] = {
    "xxh3": lambda data: xxhash.xxh3_64_digest(data)[::-1],
    "md5": lambda data: hashlib.md5(data, usedforsecurity=False).digest(),
}

WORDS = {"xxh3": 1, "md5": 2}
"""64-bit words of a key."""


def letters(text: str) -> bytes:
    """A block without all that is no letter, in lower case, as UTF-8: blocks of these in common are the same to a
    tree."""
    if text.isascii():  # at a quarter of the time
        return text.encode().translate(_LOWER, _NO_ASCII_LETTERS)
    return _NO_LETTERS.sub("", text).lower().encode("utf-8", "surrogatepass")


def block_keys(blocks: Blocks, hash_name: str) -> Keys:
    """The key of each block of a page, in page order. Blocks without a letter, such as dates, all have the same."""
    digest, text = _HASHES[hash_name], blocks.text
    spans = zip(blocks.starts.tolist(), blocks.ends.tolist(), strict=True)
    raw = b"".join([digest(letters(text[start:end])) for start, end in spans])
    return np.frombuffer(raw, "<u8").astype(np.uint64).reshape(len(blocks), WORDS[hash_name])
