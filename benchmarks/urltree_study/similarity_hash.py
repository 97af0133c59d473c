"""Hash blocks so that those alike have hashes alike, and give blocks alike one key (section 6 of the paper).

The hash is Charikar's (STOC 2002), as Manku and others use it for pages (WWW 2007): 64 bits, each the majority of that
bit in the hashes of all runs of GRAM letters. The letters are those that a tree takes: so numbers never count, and no
language needs words.
"""

from collections.abc import Sequence

import numpy as np
import xxhash

from dbce_spark.model import Hashes

GRAM = 4
"""Letters of a run: shorter ones stand in all texts of a language."""
_FEWEST = 1_024


def similarity_hash(letters: bytes) -> int:
    """Hash the letters of a block, in UTF-8, to 64 bits."""
    text = letters.decode("utf-8", "surrogatepass")
    grams = [text[at : at + GRAM].encode("utf-8", "surrogatepass") for at in range(max(1, len(text) - GRAM + 1))]
    hashes = np.array([xxhash.xxh3_64_intdigest(gram) for gram in grams], "<u8")
    bits = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1)
    majority = np.packbits(bits.sum(axis=0) * 2 > len(hashes))
    return int.from_bytes(majority.tobytes(), "little")


class AlikeBlocks:
    """The blocks that a domain has shown: a block has the number of the first whose hash is within `most` bits.

    With `most` 0 only blocks of the same letters are one, as in a tree. All hashes are compared: for measuring only.
    """

    def __init__(self, most: int):
        self._most = most
        self._numbers: dict[bytes, int] = {}
        self._hashes: Hashes = np.empty(_FEWEST, np.uint64)
        self._count = 0

    def number(self, letters: Sequence[bytes]) -> Hashes:
        """Number the blocks of a page by their letters, (blocks,)."""
        return np.array([self._number(one) for one in letters], np.uint64)

    def _number(self, letters: bytes) -> int:
        known = self._numbers.get(letters)
        if known is None:
            known = self._numbers[letters] = self._find(letters) if self._most else self._next()
        return known

    def _find(self, letters: bytes) -> int:
        own = np.uint64(similarity_hash(letters))
        apart = np.bitwise_count(self._hashes[: self._count] ^ own)
        nearest = int(apart.argmin()) if self._count else 0
        if self._count and apart[nearest] <= self._most:
            return nearest
        if self._count == len(self._hashes):
            self._hashes = np.concatenate([self._hashes, np.empty_like(self._hashes)])
        self._hashes[self._count] = own
        return self._next()

    def _next(self) -> int:
        self._count += 1
        return self._count - 1
