"""Keep what a site has shown in a stream: the last pages as evidence, without a word of their text.

The evidence on a page when it comes is that of the batch method on the same pages, as long as all of them are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dbce_spark.dbce import buckets, pools
from dbce_spark.dbce.pools import EvidenceModel
from dbce_spark.model import KEY_ROWS, Codes, Member, Page, PageFeatures, by_time
from dbce_spark.streaming import json_head, state_head

VERSION = 2
"""Version of the layout below, with which that of the state around it rises. A state of another is refused."""

_MAGIC = b"DBCEPOOL"
_FEATURES = {"words": "<i4", "link_words": "<i4", "first_scores": "<u2", "keys": "<u4"}
_MEMBER = {"signature": "<u4", "bands": "<u8"}
Shown = tuple[PageFeatures, Member | None]
"""A page as evidence; without a signature it is no member of a bucket."""


@dataclass(frozen=True, slots=True)
class SiteEvidence:
    """The evidence of a site on one of its captures, None where there is none, and how many others it is of."""

    by_siblings: Codes | None = None
    by_snapshots: Codes | None = None
    siblings: int = 0
    """Pages under another URL that were looked at."""
    snapshots: int = 0
    """Captures of the same URL that were there to look at."""


def largest_beyond(sizes: Mapping[str, int], most: int) -> list[str]:
    """List the largest of some pages, of equal ones the older, without which the others have no more than `most`.

    sizes: of each page by its id, the older first.
    """
    beyond, total = [], sum(sizes.values())
    for one in sorted(sizes, key=lambda one: -sizes[one]):
        if total <= most:
            break
        beyond.append(one)
        total -= sizes[one]
    return beyond


class SitePool:
    """The last pages of a site, at most `most`, in the order in which they came. While they have more blocks than
    `most_blocks` together, the largest are let go, of equal ones the older: they stay as ids, and show nothing.

    A page without a signature is kept for other captures of its URL, and is no sibling.
    """

    def __init__(self, most: int, most_blocks: int):
        self._most, self._most_blocks = most, most_blocks
        self._captures: dict[str, Shown | None] = {}

    def __len__(self) -> int:
        """Count the pages, those that were let go too."""
        return len(self._captures)

    def __contains__(self, capture_id: str) -> bool:
        """Test whether a capture is there and was not let go."""
        return self._captures.get(capture_id) is not None

    def take(self, page: Page, model: EvidenceModel) -> SiteEvidence:
        """Take a page in, which has features, and return the evidence on it of those that came before."""
        self._push(page.capture_id, (pools.page_features(page), buckets.member(page)))
        found = self.evidence(page.capture_id, model)
        self._let_go()
        return found

    def add(self, features: PageFeatures, member: Member | None) -> None:
        """Keep a capture; `member`: None without a signature."""
        self._push(features.capture_id, (features, member))
        self._let_go()

    def _push(self, capture_id: str, shown: Shown | None) -> None:
        """Put a capture behind the others, in place of the oldest where there are too many."""
        self._captures.pop(capture_id, None)
        self._captures[capture_id] = shown
        if len(self._captures) > self._most:
            del self._captures[next(iter(self._captures))]

    def _let_go(self) -> None:
        blocks = {one: len(shown[0].words) for one, shown in self._captures.items() if shown is not None}
        for one in largest_beyond(blocks, self._most_blocks):
            self._captures[one] = None

    def evidence(self, capture_id: str, model: EvidenceModel) -> SiteEvidence:
        """Compute the evidence of siblings and of snapshots on a capture that is in the pool."""
        captures = {one: shown for one, shown in self._captures.items() if shown is not None}
        own = captures[capture_id][0]
        by_siblings, siblings = None, 0
        members = [member for _, member in captures.values() if member is not None]
        for ids, wanted in pools.sibling_pools(members, self._most, {capture_id}):
            of_pool = [captures[one][0] for one in ids]
            by_siblings = model.of_siblings(of_pool, wanted).get(capture_id)
            siblings = len({one.url_key for one in of_pool} - {own.url_key})
        of_url = sorted((one for one, _ in captures.values() if one.url_key == own.url_key), key=by_time)
        by_snapshots = model.of_snapshots(of_url).get(capture_id) if len(of_url) > 1 else None
        return SiteEvidence(by_siblings, by_snapshots, siblings, len(of_url) - 1)

    def to_bytes(self) -> bytes:
        """Pack the whole state, for `from_bytes`. The same pages in the same order give the same bytes."""
        heads: list[list[Any]] = []
        arrays: list[bytes] = []
        for capture_id, shown in self._captures.items():
            if shown is None:
                heads.append([capture_id])
                continue
            features, member = shown
            row = [features.capture_id, features.url_key, features.timestamp, len(features.words)]
            arrays += [getattr(features, name).astype(kind).tobytes() for name, kind in _FEATURES.items()]
            if member is not None:
                row += [member.site, len(member.signature), len(member.bands)]
                arrays += [getattr(member, name).astype(kind).tobytes() for name, kind in _MEMBER.items()]
            heads.append(row)
        return b"".join([state_head.pack(_MAGIC, VERSION), json_head.pack(heads), *arrays])

    @classmethod
    def from_bytes(cls, data: bytes, most: int, most_blocks: int) -> Self:
        """Restore the state as it was when `to_bytes` was called.

        Raises:
            OutputError: it is of another version.
        """
        parts = state_head.unpack(data, _MAGIC, VERSION, "a site")
        made, (heads, at) = cls(most, most_blocks), json_head.unpack(parts)
        for capture_id, *of_shown in heads:
            if not of_shown:
                made._push(capture_id, None)
                continue
            url_key, timestamp, blocks, *of_member = of_shown
            found: dict[str, Any] = {}
            site, *sizes = of_member or [""]
            counts = [blocks, blocks, blocks, len(KEY_ROWS) * blocks, *sizes]
            for (name, kind), count in zip((_FEATURES | _MEMBER).items(), counts, strict=False):  # not all are members
                values = np.frombuffer(parts, kind, count, at)
                found[name], at = values.astype(values.dtype.newbyteorder("=")), at + values.nbytes
            own = {"capture_id": capture_id, "url_key": url_key, "timestamp": timestamp}
            found["keys"] = found["keys"].reshape(len(KEY_ROWS), blocks)
            member = Member(**own, site=site, **{name: found[name] for name in _MEMBER}) if of_member else None
            made._push(capture_id, (PageFeatures(**own, **{name: found[name] for name in _FEATURES}), member))
        return made
