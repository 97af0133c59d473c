"""Keep what a site has shown in a stream: the last pages as evidence, without a word of their text.

The evidence on a page when it comes is that of the batch method on the same pages, as long as all of them are kept.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dbce_spark.dbce import buckets, pools
from dbce_spark.dbce.pools import EvidenceModel
from dbce_spark.model import KEY_ROWS, Codes, Member, Page, PageFeatures, by_time
from dbce_spark.streaming import json_head, state_head

VERSION = 1
"""Version of the layout below, with which that of the state around it rises. A state of another is refused."""

_MAGIC = b"DBCEPOOL"
_FEATURES = {"words": "<i4", "link_words": "<i4", "first_scores": "<u2", "keys": "<u4"}
_MEMBER = {"signature": "<u4", "bands": "<u8"}


@dataclass(frozen=True, slots=True)
class SiteEvidence:
    """The evidence of a site on one of its captures, None where there is none, and how many others it is of."""

    by_siblings: Codes | None = None
    by_snapshots: Codes | None = None
    siblings: int = 0
    """Pages under another URL that were looked at."""
    snapshots: int = 0
    """Captures of the same URL that were there to look at."""


class SitePool:
    """The last pages of a site, at most `most`, in the order in which they came.

    A page without a signature is kept for other captures of its URL, and is no sibling.
    """

    def __init__(self, most: int):
        self._most = most
        self._captures: dict[str, tuple[PageFeatures, Member | None]] = {}

    def __len__(self) -> int:
        """Count the pages that are kept."""
        return len(self._captures)

    def take(self, page: Page, model: EvidenceModel) -> SiteEvidence:
        """Take a page in, which has features, and return the evidence on it of those that came before."""
        self.add(pools.page_features(page), buckets.member(page))
        return self.evidence(page.capture_id, model)

    def add(self, features: PageFeatures, member: Member | None) -> None:
        """Keep a capture, in place of the oldest where there are too many; `member`: None without a signature."""
        self._captures.pop(features.capture_id, None)
        self._captures[features.capture_id] = features, member
        if len(self._captures) > self._most:
            del self._captures[next(iter(self._captures))]

    def evidence(self, capture_id: str, model: EvidenceModel) -> SiteEvidence:
        """Compute the evidence of siblings and of snapshots on a capture that is kept."""
        own = self._captures[capture_id][0]
        by_siblings, siblings = None, 0
        members = [member for _, member in self._captures.values() if member is not None]
        for ids, wanted in pools.sibling_pools(members, self._most, {capture_id}):
            captures = [self._captures[one][0] for one in ids]
            by_siblings = model.of_siblings(captures, wanted).get(capture_id)
            siblings = len({one.url_key for one in captures} - {own.url_key})
        of_url = sorted((one for one, _ in self._captures.values() if one.url_key == own.url_key), key=by_time)
        by_snapshots = model.of_snapshots(of_url).get(capture_id) if len(of_url) > 1 else None
        return SiteEvidence(by_siblings, by_snapshots, siblings, len(of_url) - 1)

    def to_bytes(self) -> bytes:
        """Pack the whole state, for `from_bytes`. The same pages in the same order give the same bytes."""
        heads, arrays = [], []
        for features, member in self._captures.values():
            row = [features.capture_id, features.url_key, features.timestamp, len(features.words)]
            arrays += [getattr(features, name).astype(kind).tobytes() for name, kind in _FEATURES.items()]
            if member is not None:
                row += [member.site, len(member.signature), len(member.bands)]
                arrays += [getattr(member, name).astype(kind).tobytes() for name, kind in _MEMBER.items()]
            heads.append(row)
        return b"".join([state_head.pack(_MAGIC, VERSION), json_head.pack(heads), *arrays])

    @classmethod
    def from_bytes(cls, data: bytes, most: int) -> Self:
        """Restore the state as it was when `to_bytes` was called.

        Raises:
            OutputError: it is of another version.
        """
        parts = state_head.unpack(data, _MAGIC, VERSION, "a site")
        made, (heads, at) = cls(most), json_head.unpack(parts)
        for capture_id, url_key, timestamp, blocks, *of_member in heads:
            found: dict[str, Any] = {}
            site, *sizes = of_member or [""]
            counts = [blocks, blocks, blocks, len(KEY_ROWS) * blocks, *sizes]
            for (name, kind), count in zip((_FEATURES | _MEMBER).items(), counts, strict=False):  # not all are members
                values = np.frombuffer(parts, kind, count, at)
                found[name], at = values.astype(values.dtype.newbyteorder("=")), at + values.nbytes
            own = {"capture_id": capture_id, "url_key": url_key, "timestamp": timestamp}
            found["keys"] = found["keys"].reshape(len(KEY_ROWS), blocks)
            member = Member(**own, site=site, **{name: found[name] for name in _MEMBER}) if of_member else None
            made.add(PageFeatures(**own, **{name: found[name] for name in _FEATURES}), member)
        return made
