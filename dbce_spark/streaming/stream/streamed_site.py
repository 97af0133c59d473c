"""Label the pages that arrive at one site of the stream by DBCE, and keep the state for the next."""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import page_labels, pages, pools, sites
from dbce_spark.dbce.classifier import classify
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.page_labels import ScoredPage
from dbce_spark.dbce.page_lots import TOGETHER, cut_lots
from dbce_spark.model import TEXT, ComparedPage, Keys, Label, Page, Reject
from dbce_spark.streaming import json_head, state_head
from dbce_spark.streaming.stream import site_pool
from dbce_spark.streaming.stream.arrival import Arrival, unpack_row
from dbce_spark.streaming.stream.outcomes import LABELS, LATE_LABELS, REJECTS, Outcome, keyed, place, repeat
from dbce_spark.streaming.stream.recent_urls import RecentUrls, hashed
from dbce_spark.streaming.stream.site_pool import Shown, SiteEvidence, SitePool, largest_beyond
from dbce_spark.streaming.stream.streamed_page import unpack_page, unpacked_bytes
from dbce_spark.streaming.urltree.url_keys import KEY_FORMS, UrlKey

VERSION = 2 + site_pool.VERSION
"""Version of the state, which rises with that of the pool in it. A state of another is refused."""

_WORDS = "words"
FORMS = (*KEY_FORMS[:-1], _WORDS)
"""The forms of a URL before its key, and the key with the words of its page."""
_MAGIC = b"DBCESITE"
_COUNT = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class _Compared:
    """A page that is to be labelled: the table of its labels, its row, what is known of it, and its evidence."""

    table: str
    packed_row: bytes
    columns: dict[str, Any]
    page: ComparedPage


@dataclass(frozen=True, slots=True)
class PrimedPage:
    """A page that a site begins with: what `seen_as` gives of it, and the page as evidence, None where it is too old
    to be any."""

    seen_as: Mapping[str, int]
    shown: Shown | None


def seen_as(url_key: UrlKey, keys: Keys) -> dict[str, int]:
    """Return the hashes by which a site knows a page again: of the forms of its URL, and of its key with its words.

    keys: `BlockFeatures.keys` of the page.
    """
    words = keys[TEXT].astype("<u4", copy=False).tobytes().hex()
    forms = {form: getattr(url_key, form) for form in KEY_FORMS[:-1]}
    return hashed(forms | {_WORDS: f"{url_key.key} {words}"})


class StreamedSite:
    """The state that the stream keeps of a site: its last pages as evidence, the URLs of its last pages, and the pages
    that are labelled once more when more has come.

    Each of them is bounded by number. The pages are bounded by their size together, too; the largest go first.
    """

    def __init__(self, config: DbceConfig, remembered: int):
        """`remembered`: URLs of each form that are remembered."""
        self._config, self._remembered = config, remembered
        self._recent = RecentUrls(FORMS, remembered)
        self._pool = SitePool(config.stream.pool_pages, config.stream.pool_blocks)
        self._waiting: dict[str, bytes] = {}

    def prime(self, pages: Iterable[PrimedPage]) -> None:
        """Keep pages that were labelled elsewhere, in order of their time, as if they had come: of those with the same
        words under one URL key the first."""
        for one in pages:
            is_repeat = _WORDS in self._recent.note(one.seen_as)
            if one.shown is not None and not is_repeat:
                self._pool.add(*one.shown)

    def take(self, arrivals: Iterable[Arrival]) -> Iterator[Outcome]:
        """Take pages in, in the order of the stream. Yield the labels of each, or a repeat if its words have come under
        its URL key before; after it, earlier pages that are labelled once more.

        Pages are compared one by one, and scored together.
        """
        found = (one for arrival in arrivals for one in self._take(arrival))
        for lot in cut_lots(found, _count_blocks, TOGETHER):
            compared = [one for one in lot if isinstance(one, _Compared)]
            scored = iter(pages.spared(partial(_score, config=self._config), compared, _reject))
            yield from (
                outcome
                for one in lot
                for outcome in ([one] if isinstance(one, Outcome) else _labelled(one, next(scored)))
            )

    def _take(self, arrival: Arrival) -> Iterator[_Compared | Outcome]:
        page = unpack_page(arrival.packed_blocks)
        assert page.features is not None
        noted = self._recent.note(seen_as(arrival.url_key, page.features.keys))
        steps = [form for form in noted if form != _WORDS]
        if _WORDS in noted:
            yield repeat(arrival, steps)
            return
        before = len(self._pool)
        shown = self._pool.take(page, self._classifier())
        self._waiting = {one: packed for one, packed in self._waiting.items() if one in self._pool}
        yield self._compared(page, shown, LABELS, arrival.packed_row, keyed(arrival, steps))
        has_grown = len(self._pool) > before
        is_due = len(self._pool) in self._config.stream.relabel_pages
        if has_grown and is_due:
            yield from self._due(arrival)
        self._keep_waiting(page.capture_id, arrival.packed_blocks)

    def _keep_waiting(self, capture_id: str, packed: bytes) -> None:
        """Keep a page that is to be labelled once more, and none when all has come that they waited for.

        None waits that the pool has let go of: the evidence on it is of what the pool holds, itself included. While
        those that wait have too many bytes together, the largest go, of equal ones the older.
        """
        if len(self._pool) >= max(self._config.stream.relabel_pages, default=0):
            self._waiting.clear()
            return
        if capture_id in self._pool:
            self._waiting[capture_id] = packed
        sizes = {one: unpacked_bytes(packed) for one, packed in self._waiting.items()}
        for one in largest_beyond(sizes, self._config.stream.waiting_bytes):
            del self._waiting[one]

    def _due(self, arrival: Arrival) -> Iterator[_Compared]:
        """Compare the waiting pages with what is there now."""
        for capture_id, packed in self._waiting.items():
            shown = self._pool.evidence(capture_id, self._classifier())
            columns = place(arrival) | {"capture_id": capture_id}
            yield self._compared(unpack_page(packed), shown, LATE_LABELS, b"", columns)

    def _compared(
        self, page: Page, shown: SiteEvidence, table: str, packed_row: bytes, columns: dict[str, Any]
    ) -> _Compared:
        own = {"siblings": shown.siblings, "snapshots": shown.snapshots, "domain_documents": len(self._pool)}
        evidence = pools.page_evidence(page, shown.by_siblings, shown.by_snapshots)
        return _Compared(table, packed_row, columns | own, sites.gather(page, [], evidence, ""))

    def _classifier(self) -> classify.Classifier:
        return load_classifier(self._config.label.classifier)

    def to_bytes(self) -> bytes:
        """Pack the whole state, for `from_bytes`."""
        ids = json_head.pack([*self._waiting])
        parts = [self._recent.to_bytes(), self._pool.to_bytes(), ids, *self._waiting.values()]
        sizes = b"".join(_COUNT.pack(len(part)) for part in parts)
        return b"".join([state_head.pack(_MAGIC, VERSION), _COUNT.pack(len(parts)), sizes, *parts])

    @classmethod
    def from_bytes(cls, data: bytes, config: DbceConfig, remembered: int) -> Self:
        """Restore the site as it was when `to_bytes` was called.

        Raises:
            OutputError: the state is of another version.
        """
        recent, pool, ids, *waiting = _parts(state_head.unpack(data, _MAGIC, VERSION, "a site"))
        made = cls(config, remembered)
        made._recent, _ = RecentUrls.from_bytes(recent, remembered)
        made._pool = SitePool.from_bytes(pool, config.stream.pool_pages, config.stream.pool_blocks)
        made._waiting = dict(zip(json_head.unpack(ids)[0], waiting, strict=True))
        return made


def _parts(data: bytes) -> Iterator[bytes]:
    """Cut packed parts, which stand behind their number and their lengths."""
    (count,) = _COUNT.unpack_from(data)
    lengths = np.frombuffer(data, "<u4", count, _COUNT.size).tolist()
    at = _COUNT.size * (1 + count)
    for length in lengths:
        yield data[at : at + length]
        at += length


def _count_blocks(one: _Compared | Outcome) -> int:
    return len(one.page.page.blocks) if isinstance(one, _Compared) else 0


def _score(compared: Sequence[_Compared], config: DbceConfig) -> list[ScoredPage]:
    return [*page_labels.score_pages([one.page for one in compared], config.label)]


def _reject(compared: _Compared, error: Exception) -> Reject:
    return page_labels.label_reject(compared.page, error)


def _labelled(one: _Compared, scored: ScoredPage | Reject) -> Iterator[Outcome]:
    """Yield the outcome of a page that was scored; a page that cannot be is a reject, once."""
    if isinstance(scored, ScoredPage):
        labels = np.where(scored.is_kept, Label.CONTENT, Label.BOILERPLATE)
        of_blocks = {"labels": labels.tolist(), "scores": scored.scores.tolist()}
        yield Outcome(one.table, one.packed_row, one.columns | of_blocks | {"confidence": scored.confidence})
    elif one.table == LABELS:
        page = unpack_row(one.packed_row)
        named = {name: page[name] for name in ("warc_file", "warc_offset", "record_id", "url")}
        why = {"stage": str(scored.stage), "reason": str(scored.reason), "detail": scored.detail}
        yield Outcome(REJECTS, b"", named | why | {"file_no": one.columns["file_no"]})
