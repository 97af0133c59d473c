"""Index the records of archives by URL and time, in memory.

An archive has several captures of one URL; a page is shown with those nearest to its own time.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dbce_spark.archive.index.index_entry import normal_digest
from dbce_spark.archive.index.urls import url_key
from dbce_spark.archive.record_date import parse_record_date
from dbce_spark.archive.records import Limits, Record, records
from dbce_spark.archive.segmented_records import join_segments
from dbce_spark.config import InputConfig
from dbce_spark.files import sources

Place = tuple[str, str, int]
"""A record's file, the file within it (of a WACZ), and its offset there."""


@dataclass(frozen=True, slots=True)
class NearestCapture:
    """A capture of a URL. `place` is that of its payload: for a revisit, of an earlier record, perhaps of another
    URL."""

    timestamp: int
    place: Place


@dataclass(frozen=True, slots=True)
class _Entry:
    """A record as the index of an archive has it."""

    timestamp: int
    place: Place
    digest: str
    is_revisit: bool


@dataclass(slots=True)
class ResourceIndex:
    """The URLs of archives, with times and places. All in memory: some 300 bytes a record."""

    by_key: dict[str, list[_Entry]] = field(default_factory=lambda: defaultdict(list))
    by_digest: dict[str, Place] = field(default_factory=dict)

    def add(self, record: Record, path: str) -> None:
        """Add a record, if it is an answer to a URL."""
        timestamp = parse_record_date(record.date)
        if record.kind not in ("response", "resource", "revisit") or not record.url or timestamp is None:
            return
        declared_digest = normal_digest(record.headers.get("warc-payload-digest"))
        place = path, record.within, record.offset
        is_revisit = record.kind == "revisit"
        if declared_digest and not is_revisit:
            self.by_digest.setdefault(declared_digest, place)
        self.by_key[url_key(record.url)].append(_Entry(timestamp, place, declared_digest, is_revisit))

    def nearest(self, url: str, timestamp: int) -> NearestCapture | None:
        """Return the capture of a URL that is nearest in time."""
        captures = self.by_key.get(url_key(url), [])
        found = [one for one in captures if not one.is_revisit or one.digest in self.by_digest]
        if not found:
            return None
        nearest = min(found, key=lambda one: (abs(one.timestamp - timestamp), one.timestamp, one.place))
        if not nearest.is_revisit:
            return NearestCapture(nearest.timestamp, nearest.place)
        own = (one.place for one in captures if one.digest == nearest.digest and not one.is_revisit)
        return NearestCapture(nearest.timestamp, next(own, self.by_digest[nearest.digest]))


def build_index(paths: Iterable[str], config: InputConfig) -> ResourceIndex:
    """Index these archives."""
    index = ResourceIndex()
    for path in paths:
        for record in read_records(path, config):
            index.add(record, path)
    return index


def read_records(path: str, config: InputConfig) -> Iterator[Record]:
    """Yield the records of a file; pass over what cannot be read as one, since the reader of pages has reported it."""
    try:
        with sources.open_binary(path) as stream:
            for found in join_segments(records(stream, Limits.from_config(config)), config.max_record_bytes):
                if isinstance(found, Record):
                    yield found
    except OSError:
        return
