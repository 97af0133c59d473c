"""Remember the URLs of a domain's last pages, as hashes, in each of several forms."""

from collections.abc import Iterable, Mapping
from typing import Self

import numpy as np

from dbce_spark.model import text_hash
from dbce_spark.streaming import json_head


def hashed(url: Mapping[str, str]) -> dict[str, int]:
    """Hash a URL in each of its forms, for `RecentUrls.note`."""
    return {form: text_hash(text) for form, text in url.items()}


class RecentUrls:
    """The last URLs of a domain in each form: of each form at most `most`, those seen first leaving first."""

    def __init__(self, forms: Iterable[str], most: int):
        self._most = most
        self._recent: dict[str, dict[int, None]] = {form: {} for form in forms}

    def note(self, url: Mapping[str, int]) -> list[str]:
        """Note the hashed URL of a page in some forms; return the forms in which one of the last pages had the same."""
        repeated = []
        for form, number in url.items():
            recent = self._recent[form]
            if number in recent:
                repeated.append(form)
                continue
            recent[number] = None
            if len(recent) > self._most:
                del recent[next(iter(recent))]
        return repeated

    def to_bytes(self) -> bytes:
        """Pack all that is remembered, for `from_bytes`."""
        head = json_head.pack({form: len(recent) for form, recent in self._recent.items()})
        columns = [np.fromiter(one, np.uint64, len(one)).astype("<u8").tobytes() for one in self._recent.values()]
        return b"".join([head, *columns])

    @classmethod
    def from_bytes(cls, data: bytes, most: int) -> tuple[Self, int]:
        """Restore what `to_bytes` packed at the start of some bytes; also return how many of them it takes."""
        counts, at = json_head.unpack(data)
        made = cls(counts, most)
        for form, count in counts.items():
            made._recent[form] = dict.fromkeys(np.frombuffer(data, "<u8", count, at).tolist())
            at += 8 * count
        return made, at
