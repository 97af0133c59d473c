"""Number the block keys that a domain has shown: an open hash table of numpy arrays.

A dict of Python integers would take ten times the memory. Keys are looked up many at a time, so that numpy pays.
"""

import numpy as np
import numpy.typing as npt

from dbce_spark.streaming.urltree.blocks import Keys

Ids = npt.NDArray[np.int32]
"""Numbers of blocks within their domain."""

_EMPTY = np.int32(-1)
_FEWEST_SLOTS = 64
_FULLEST = 0.5
"""Share of slots taken at which their number doubles: chains of two slots on average."""
_GROWTH = 1.25
"""Room is made a quarter at a time: doubling would leave a quarter of all memory empty on average."""


class Vocabulary:
    """Numbers 0, 1, 2 ... for keys, in order of their first being seen."""

    def __init__(self, key_words: int):
        self._keys = np.empty((_FEWEST_SLOTS, key_words), np.uint64)
        self._slots = np.full(_FEWEST_SLOTS, _EMPTY)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def keys(self) -> Keys:
        """Return (numbers, key words): the key of each number."""
        return self._keys[: self._count]

    def numbers(self, keys: Keys) -> Ids:
        """Return the number of each key; number those not seen before."""
        found = self._find(keys)
        new = np.flatnonzero(found < 0)
        if len(new):
            raw = keys[new].view(f"V{keys.itemsize * keys.shape[1]}")[:, 0].tolist()
            places: dict[bytes, int] = {}
            at = [places.setdefault(key, len(places)) for key in raw]
            found[new] = self._add(np.frombuffer(b"".join(places), np.uint64).reshape(len(places), -1))[at]
        return found

    def _find(self, keys: Keys) -> Ids:
        """Return the number of each key, -1 where it has none."""
        found = np.full(len(keys), _EMPTY)
        waiting = np.arange(len(keys))
        slots = self._first_slots(keys)
        while len(waiting):
            here = self._slots[slots]
            is_taken = here >= 0
            is_own = is_taken & (self._keys[here] == keys[waiting]).all(axis=1)
            found[waiting[is_own]] = here[is_own]
            goes_on = is_taken & ~is_own
            waiting, slots = waiting[goes_on], self._next(slots[goes_on])
        return found

    def _add(self, fresh: Keys) -> Ids:
        """Number keys that have no number yet, each given once."""
        first, self._count = self._count, self._count + len(fresh)
        if self._count > len(self._keys):
            room = np.empty((int(self._count * _GROWTH), fresh.shape[1]), np.uint64)
            room[:first] = self._keys[:first]
            self._keys = room
        self._keys[first : self._count] = fresh
        if self._count > len(self._slots) * _FULLEST:
            size = 1 << int(np.ceil(np.log2(self._count / _FULLEST)))
            self._slots = np.full(max(size, _FEWEST_SLOTS), _EMPTY)
            self._place(0)
        else:
            self._place(first)
        return np.arange(first, self._count, dtype=np.int32)

    def _place(self, first: int) -> None:
        """Give the numbers from `first` on their slots. Where several want one, one gets it, and the rest go on."""
        numbers = np.arange(first, self._count, dtype=np.int32)
        slots = self._first_slots(self._keys[first : self._count])
        while len(numbers):
            is_free = self._slots[slots] < 0
            self._slots[slots[is_free]] = numbers[is_free]
            goes_on = self._slots[slots] != numbers
            numbers, slots = numbers[goes_on], self._next(slots[goes_on])

    def _first_slots(self, keys: Keys) -> npt.NDArray[np.int64]:
        return (keys[:, 0] & np.uint64(len(self._slots) - 1)).astype(np.int64)

    def _next(self, slots: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return (slots + 1) & (len(self._slots) - 1)


def build_vocabulary(keys: Keys) -> Vocabulary:
    """Build the vocabulary in which each of these keys, all different, has its index as number."""
    vocabulary = Vocabulary(keys.shape[1])
    vocabulary._add(keys)
    return vocabulary
