"""Read captures by an index: list the places that it names, cut them into parts of even size, fetch them, and read
their records."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from typing import Any

from dbce_spark.archive import failed_files, mime, warc
from dbce_spark.archive.failed_files import Loss
from dbce_spark.archive.index import index_file
from dbce_spark.archive.index.byte_ranges import group_by_file
from dbce_spark.archive.index.capture_filter import FilterCounts, Selection, selection
from dbce_spark.archive.index.fetch import Unfetched, fetch
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.index_fault import BadLine
from dbce_spark.config import DbceConfig, SelectConfig
from dbce_spark.errors import ConfigError, Parameter
from dbce_spark.files import sources
from dbce_spark.model import Reject, RejectReason, RejectStage

Places = Sequence[IndexEntry]
"""Places, each once, in order of path and offset."""

_GLOB = "*["


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPlaces:
    """The wanted places that indexes name, by path as `byte_ranges.group_by_file` gives them, and the lines that are no
    entry."""

    archives: dict[str, list[IndexEntry]]
    duplicates: int  # entries that name a place which another names
    rejects: list[Reject]
    counts: FilterCounts

    @property
    def record_counts(self) -> dict[str, int]:
        """Count the places of each archive, by the archive's name in rows."""
        return {path: len(places) for path, places in self.archives.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return the counts of index lines by outcome, for run.json."""
        return self.counts.as_dict() | {"duplicate": self.duplicates}


def read_places(paths: Sequence[str], base: str, config: DbceConfig) -> IndexedPlaces:
    """Read all places that index files name into memory: about 1 KB a place."""
    counts = FilterCounts()
    lines = [*index_file.read_entries(paths, base, index_selection(config), config.fetch, counts)]
    archives, duplicates = group_by_file(line for line in lines if isinstance(line, IndexEntry))
    rejects = [line_reject(line) for line in lines if isinstance(line, BadLine)]
    return IndexedPlaces(archives=archives, duplicates=duplicates, rejects=rejects, counts=counts)


def list_indexes(arguments: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """List all index files that the arguments name, sorted, as `sources.expand` finds them. An address on the web is
    one file, and needs no driver.

    Raises:
        InputError: an argument names nothing, or its storage cannot be reached.
    """
    single = {each for each in arguments if sources.is_web_url(each) and not set(_GLOB) & set(each)}
    return sorted(single.union(sources.expand([each for each in arguments if each not in single], patterns)))


def index_selection(config: DbceConfig) -> Selection:
    """Build the selection of index lines: the filters of [select], and the statuses and types that [input] accepts, so
    that other records are not fetched. Both count as the filters of the same names do.

    Raises:
        ConfigError: as `selection`; or [select] and [input] have no status, or no media type, in common.
    """
    _check_common(config)
    chosen = selection(config.select)
    statuses, mimes = frozenset(config.input.statuses), config.input.mimes
    checks: tuple[tuple[str, Callable[[IndexEntry], bool]], ...] = (
        ("status", lambda entry: not entry.status or entry.status in statuses),
        ("mime", lambda entry: mime.may_be_page(entry.mime, mimes)),
    )
    pushed_down = replace(config.select, statuses=config.select.statuses or config.input.statuses)
    return replace(chosen, checks=(*checks, *chosen.checks), config=pushed_down)


def _check_common(config: DbceConfig) -> None:
    """Check that [input] accepts some of what [select] asks for. Raises as `index_selection`."""
    statuses, accepted = config.select.statuses, config.input.statuses
    if statuses and not {*statuses} & {*accepted}:
        both = ",".join(map(str, (*accepted, *statuses)))
        raise ConfigError(
            Parameter("select.statuses"),
            f" {_listed(statuses)}: input.statuses accepts {_listed(accepted)}, so nothing would be selected; add --set"
            f" 'input.statuses=[{both}]'",
        )
    mimes, pages = config.select.mimes, config.input.mimes
    if mimes and not any(_fits_page(one.lower(), pages) for one in mimes):
        both = ",".join(f'"{one}"' for one in (*pages, *mimes))
        raise ConfigError(
            Parameter("select.mimes"),
            f" {_listed(mimes)}: input.mimes accepts {_listed(pages)}, so nothing would be selected; if such records"
            f" hold HTML, add --set 'input.mimes=[{both}]'",
        )


def _fits_page(wanted: str, accepted: Sequence[str]) -> bool:
    """Return whether a page may have a type of a filter, "text/html" or "text/*"; XML, which may be one, is of both
    families."""
    if wanted.endswith("/*"):
        return wanted in ("text/*", "application/*") or any(one.startswith(wanted[:-1]) for one in accepted)
    return mime.may_be_page(wanted, accepted)


def _listed(values: Sequence[object]) -> str:
    return ", ".join(map(str, values)) or "none"


def refusal(config: SelectConfig) -> warc.Refusal | None:
    """Return the filter of records that are read; None if the configuration has no filters."""
    chosen = selection(config)
    return chosen.refusal if chosen.checks else None


def line_reject(bad: BadLine) -> Reject:
    """Turn a line of an index that is no entry into a reject, whose detail names the line."""
    where = f"line {bad.line}: " if bad.line > 0 else ""
    return Reject(
        warc_file=bad.path,
        stage=RejectStage.SELECT,
        reason=bad.fault,
        detail=where + bad.detail,
    )


def cut(files: Mapping[str, Sequence[IndexEntry]], most: int) -> Iterator[list[IndexEntry]]:
    """Cut the places of `byte_ranges.group_by_file` into parts of `most` each, the last one smaller: a task each."""
    entries = chain.from_iterable(files.values())
    while part := [*islice(entries, most)]:
        yield part


def read(places: Places, config: DbceConfig) -> Iterator[warc.RecordOutcome]:
    """Fetch and read the records at the places, in order of path: at least one outcome for each place."""
    refused = selection(config.select).refusal
    for path, entries in groupby(places, key=lambda entry: entry.path):
        for fetched in fetch(path, entries, config.fetch, config.input.max_record_bytes):
            if isinstance(fetched, Unfetched):
                yield _reject(fetched)
            else:
                yield from warc.read_at(fetched, config.input, config.page.max_html_bytes, refused)


def _reject(unfetched: Unfetched) -> Reject:
    entry = unfetched.entry
    return Reject(
        warc_file=entry.path,
        warc_offset=entry.offset,
        url=entry.url,
        stage=RejectStage.SELECT,
        reason=unfetched.fault,
        detail=unfetched.detail,
    )


def losses(rejects: Iterable[Reject]) -> list[Loss]:
    """Count the places of each file that could not be fetched, by rejects of parts of the file.
    `failed_files.join_losses` adds the number of all its places."""
    lost: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for reject in rejects:
        if reject.reason is RejectReason.FETCH_FAILED:
            lost[reject.warc_file] += 1
            reasons.setdefault(reject.warc_file, failed_files.reason_of(reject))
    return [Loss(path, count, count, reasons[path]) for path, count in sorted(lost.items())]


def index_losses(rejects: Iterable[Reject], paths: Iterable[str]) -> list[Loss]:
    """List the index files that are unreadable or no index as a whole; a broken block or line does not count."""
    whole, files = (RejectReason.INDEX_UNREADABLE, RejectReason.NOT_AN_INDEX), set(paths)
    lost = (reject for reject in rejects if reject.reason in whole and reject.warc_file in files)
    return [Loss(reject.warc_file, 1, 1, failed_files.reason_of(reject)) for reject in lost]
