"""Captures by an index: the places that it names are found, cut into parts of even size, fetched, and read."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, groupby
from typing import Any

from dbce_spark.archive import mime, warc
from dbce_spark.archive.failed_files import Loss
from dbce_spark.archive.index import index_file
from dbce_spark.archive.index.byte_ranges import by_file
from dbce_spark.archive.index.capture_filter import FilterCounts, Selection, selection
from dbce_spark.archive.index.fetch import Unfetched, fetch
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.index_fault import BadLine
from dbce_spark.config import DbceConfig, InputConfig, SelectConfig
from dbce_spark.files import sources
from dbce_spark.model import Reject, RejectReason, RejectStage, Revisit, Skip

Places = Sequence[IndexEntry]
"""Some places, each once, in order of path and offset."""

_ON_THE_WEB = ("http://", "https://")
_MANY = "*["


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The wanted places that indexes name, by path as `byte_ranges.by_file` gives them, and what is no entry."""

    archives: dict[str, list[IndexEntry]]
    duplicates: int  # entries that name a place which another names
    rejects: list[Reject]
    counts: FilterCounts

    @property
    def asked(self) -> dict[str, int]:
        """How many places of each archive, by the name that rows have."""
        return {path: len(some) for path, some in self.archives.items()}

    def as_dict(self) -> dict[str, Any]:
        """What became of the lines, as run.json has it."""
        return self.counts.as_dict() | {"duplicate": self.duplicates}


def named(paths: Sequence[str], base: str, config: DbceConfig) -> Named:
    """All that some indexes name, held at once: about 1 KB a place."""
    counts = FilterCounts()
    found = [*index_file.wanted(paths, base, wanted(config), config.fetch, counts)]
    archives, duplicates = by_file(one for one in found if isinstance(one, IndexEntry))
    rejects = [reject_of(one) for one in found if isinstance(one, BadLine)]
    return Named(archives=archives, duplicates=duplicates, rejects=rejects, counts=counts)


def indexes(arguments: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """All index files that the arguments name, sorted, as `sources.expand` finds them. An address on the web is one
    file, and needs no driver.

    Raises:
        InputError: an argument names nothing, or its storage cannot be reached.
    """
    single = {one for one in arguments if one.startswith(_ON_THE_WEB) and not set(_MANY) & set(one)}
    return sorted(single.union(sources.expand([one for one in arguments if one not in single], patterns)))


def wanted(config: DbceConfig) -> Selection:
    """What is asked of an index: the filters of [select], and that it is no status and no type that [input] passes
    over, so that such records are not fetched. They count as the filters of the same names do."""
    chosen = selection(config.select)
    statuses, may_be_page = frozenset(config.input.statuses), _may_be_page(config.input)
    checks: tuple[tuple[str, Callable[[IndexEntry], bool]], ...] = (
        ("status", lambda entry: not entry.status or entry.status in statuses),
        ("mime", lambda entry: may_be_page(entry.mime)),
    )
    pushed_down = replace(config.select, statuses=config.select.statuses or config.input.statuses)
    return replace(chosen, checks=(*checks, *chosen.checks), config=pushed_down)


def _may_be_page(config: InputConfig) -> Callable[[str], bool]:
    """What `warc.read` says of a type before it looks at the payload; "" and words that are no type say nothing."""
    return lambda essence: essence in config.mimes or "/" not in essence or mime.is_sniffed(essence)


@lru_cache(maxsize=16)
def refusal(config: SelectConfig) -> warc.Refusal | None:
    """What the filters say of a record that is read; None where there are none."""
    chosen = selection(config)
    return chosen.refusal if chosen.checks else None


def reject_of(bad: BadLine) -> Reject:
    """A line of an index that is no entry; its place is told by the detail."""
    where = f"line {bad.line}: " if bad.line > 0 else ""
    return Reject.of_file(bad.path, RejectStage.SELECT, RejectReason(bad.fault.value), where + bad.detail)


def cut(files: Mapping[str, Sequence[IndexEntry]], most: int) -> Iterator[list[IndexEntry]]:
    """The places of `byte_ranges.by_file` in parts of `most`, the last one apart: what one task reads."""
    some: list[IndexEntry] = []
    for entry in chain.from_iterable(files.values()):
        some.append(entry)
        if len(some) == most:
            yield some
            some = []
    if some:
        yield some


def read(some: Places, config: DbceConfig) -> Iterator[warc.Fetch | Revisit | Reject | Skip]:
    """The records at some places, in order of path: at least one for each, or a reject."""
    asked = refusal(config.select) or _refuses_nothing
    for path, of_path in groupby(some, key=lambda entry: entry.path):
        for found in fetch(path, of_path, config.fetch, config.input.max_record_bytes):
            if isinstance(found, Unfetched):
                yield _reject(found)
            else:
                yield from warc.read_at(found, config.input, config.page.max_html_bytes, asked)


def _refuses_nothing(_: IndexEntry) -> None:
    return None


def _reject(found: Unfetched) -> Reject:
    entry, reason = found.entry, RejectReason(found.fault.value)
    return Reject.of_file(entry.path, RejectStage.SELECT, reason, found.detail, offset=entry.offset, url=entry.url)


def losses(rejects: Iterable[Reject]) -> list[Loss]:
    """How many places of each file could not be fetched, by the rejects of some places. Who knows all places of the
    file says how many there are (`failed_files.joined`)."""
    lost: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for one in rejects:
        if one.reason is RejectReason.FETCH_FAILED:
            lost[one.warc_file] += 1
            reasons.setdefault(one.warc_file, f"{one.reason}: {one.detail}"[:300])
    return [Loss(path, count, count, reasons[path]) for path, count in sorted(lost.items())]


def index_losses(rejects: Iterable[Reject], paths: Iterable[str]) -> list[Loss]:
    """Index files that are unreadable or no index as a whole; a block or a line of one is not."""
    whole, files = (RejectReason.INDEX_UNREADABLE, RejectReason.NOT_AN_INDEX), set(paths)
    lost = (one for one in rejects if one.reason in whole and one.warc_file in files)
    return [Loss(one.warc_file, 1, 1, f"{one.reason}: {one.detail}"[:300]) for one in lost]
