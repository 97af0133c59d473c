"""Originals that no input holds: found in the indexes, fetched, and parsed as the pages of their revisits.

Of the revisits of an original the first is the page: the payload with the revisit's own URL, time and record id, since
the original is no capture of the selection. The other revisits share its extraction.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from dbce_spark.archive import indexed_records, mime, warc
from dbce_spark.archive.index import index_file
from dbce_spark.archive.index.capture_filter import FilterCounts, selection
from dbce_spark.archive.index.fetch import Fetched, Unfetched, fetch
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.original_lookup import Lookup, Payload, lookup_selection
from dbce_spark.archive.revisits import Resolved, indexed_names, resolve, unresolved
from dbce_spark.config import DbceConfig, InputConfig
from dbce_spark.dbce import pages
from dbce_spark.model import Capture, Page, Reject, Revisit, Skip

Place = tuple[str, int]
"""File, as rows name it, and offset."""

_OF_PAYLOAD = ("mime", "feed", "status:", "select:")
"""The filters that pass over a revisit because of its payload. Of others, what lies in the place is no original."""


@dataclass(frozen=True, slots=True)
class Original:
    """A payload, and the first of the revisits that share it."""

    payload: Payload
    revisit: Revisit


@dataclass(frozen=True, slots=True)
class Lack:
    """The reason why an original is no page."""

    detail: str


RevisitOutcome = Page | Resolved | Reject | Skip
"""The outcome of a revisit: the page of its original's payload, one that shares it, or neither."""


def find_in_indexes(
    revisits: Sequence[Revisit], read: Iterable[Capture], indexes: Sequence[str], base: str, config: DbceConfig
) -> tuple[list[RevisitOutcome], dict[str, int]]:
    """Find in the indexes the originals of revisits that none of the captures read is; return an outcome for each, and
    their counts.

    `read` are those captures all the same: an index may have one by a name that its record lacks. No more than the
    first `select.max_wanted` revisits are looked up.
    """
    most = config.select.max_wanted
    payloads = look_up(revisits[:most], indexes, base, config)
    captures = {
        (one.warc_file, one.warc_offset): one for one in sorted(read, key=lambda one: one.capture_id, reverse=True)
    }
    first: dict[Place, Original] = {}
    for revisit, payload in sorted(zip(revisits, payloads, strict=False), key=lambda pair: pair[0].timestamp):
        if payload is not None and (place := _place(payload)) not in captures:
            original = first.setdefault(place, Original(payload, revisit))
            first[place] = replace(original, payload=min(original.payload, payload))
    ordered = sorted(first.values(), key=lambda one: _place(one.payload))
    of_originals = {_place(one.payload): parsed for one, parsed in _parsed(ordered, config)}
    outcomes: list[RevisitOutcome] = []
    for revisit, payload in zip(revisits, payloads, strict=False):
        if payload is None:
            outcomes.append(unresolved(revisit))
        elif capture := captures.get(place := _place(payload)):
            outcomes.append(Resolved(revisit, capture.capture_id, capture.payload_digest))
        else:
            outcomes.append(_of_revisit(revisit, first[place], of_originals[place]))
    outcomes += [unresolved(one, beyond_limit_detail(most)) for one in revisits[most:]]
    found = len(payloads) - payloads.count(None)
    return outcomes, account(len(payloads), found, sum(isinstance(one, Page) for one in of_originals.values()))


def resolve_revisits(
    revisits: Sequence[Revisit], read: Sequence[Capture], indexes: Sequence[str], base: str, config: DbceConfig
) -> tuple[list[RevisitOutcome], dict[str, int]]:
    """Resolve each revisit by the captures that were read, and then by the indexes; count the latter."""
    resolved = resolve(read, revisits)
    lost = [revisit for revisit, found in zip(revisits, resolved, strict=True) if found is None]
    found_in_indexes, looked_up = (
        find_in_indexes(lost, read, indexes, base, config) if indexes else ([*map(unresolved, lost)], {})
    )
    outcomes_of_lost = iter(found_in_indexes)
    return [found or next(outcomes_of_lost) for found in resolved], looked_up


def look_up(revisits: Sequence[Revisit], indexes: Sequence[str], base: str, config: DbceConfig) -> list[Payload | None]:
    """Look up the payload of each revisit's original in the indexes."""
    if not revisits:
        return []
    lookup = Lookup.from_names(
        ((name, one.timestamp) for one in revisits for name in indexed_names(one)),
        ((revisit.warc_file, revisit.warc_offset) for revisit in revisits),
    )
    wanted = lookup_selection(indexed_records.index_selection(config), (revisit.refers_to_key for revisit in revisits))
    for entry in index_file.read_entries(indexes, base, wanted, config.fetch, FilterCounts()):
        if isinstance(entry, IndexEntry):  # what is none was counted when the selection was made
            lookup.offer(entry)
    return [lookup.original(revisit) for revisit in revisits]


def account(looked_for: int, found: int, pages: int) -> dict[str, int]:
    """Count the revisits that were looked up in the indexes, those whose original is there, and the originals that were
    read as pages, as run.json has it."""
    return {"revisits": looked_for, "found": found, "pages": pages}


def beyond_limit_detail(most: int) -> str:
    """Word the detail of a revisit that was not looked up."""
    return f"not looked for in the index: more than select.max_wanted ({most:,}) revisits have no original in the input"


def lack_detail(payload: Payload, lack: Lack) -> str:
    """Word the detail of a revisit whose original is no page."""
    return f"its original at {payload.offset} of {payload.path}: {lack.detail}"


def _place(payload: Payload) -> Place:
    return payload.path, payload.offset


def _parsed(originals: Iterable[Original], config: DbceConfig) -> Iterator[tuple[Original, Page | Skip | Lack]]:
    """Read each original as a page, one after the other."""
    for one, found in read(originals, config):
        yield one, page_or_lack(pages.parse_fetch(found, config)) if isinstance(found, warc.Fetch) else found


def page_or_lack(parsed: Page | Reject) -> Page | Lack:
    """Turn the reject of an original into its lack."""
    return parsed if isinstance(parsed, Page) else Lack(f"{parsed.reason}: {parsed.detail}")


def read(originals: Iterable[Original], config: DbceConfig) -> Iterator[tuple[Original, warc.Fetch | Skip | Lack]]:
    """Read the payloads of some originals, which come in order of path and offset, as captures of their revisits.

    The filters apply as to any payload: media type, status, digest, language. By its own time and URL each revisit has
    passed them.
    """
    refusal = selection(config.select).refusal
    for path, of_path in groupby(originals, key=lambda one: one.payload.path):
        fetched: dict[int, Original] = {}
        entries = []
        for one in of_path:
            entry = _entry(one)
            if passed_over := _passed_over(entry, config.input, refusal):
                yield one, passed_over
                continue
            fetched[one.payload.offset] = one
            entries.append(entry)
        for found in fetch(path, entries, config.fetch, config.input.max_record_bytes):
            one = fetched[found.entry.offset]
            yield one, Lack(found.detail) if isinstance(found, Unfetched) else _read(one, found, config, refusal)


def _read(one: Original, found: Fetched, config: DbceConfig, refusal: warc.Refusal) -> warc.Fetch | Skip | Lack:
    # A place that holds several records means its first.
    record = next(warc.read_at(found, config.input, config.page.max_html_bytes, refusal))
    if isinstance(record, warc.Fetch):
        return replace(record, capture=_as_capture(one.revisit, record.capture))
    if isinstance(record, Reject):
        return Lack(f"{record.reason}: {record.detail}")
    if isinstance(record, Skip) and record.filter.startswith(_OF_PAYLOAD):
        return record
    return Lack("a revisit itself" if isinstance(record, Revisit) else f"no response: {record.filter}")


def _as_capture(revisit: Revisit, original: Capture) -> Capture:
    """Make a capture of the revisit with the original's payload, and its place, so that it can be read there again."""
    return replace(
        original,
        url=revisit.url,
        url_key=revisit.url_key,
        site=revisit.site,
        timestamp=revisit.timestamp,
        record_id=revisit.record_id,
        http_status=revisit.http_status,
        record_type="revisit",
    )


def _entry(one: Original) -> IndexEntry:
    """Build the entry that the filters see: the revisit, with the index's columns of its payload."""
    revisit = one.revisit
    return IndexEntry(
        urlkey=revisit.url_key,
        timestamp=revisit.timestamp,
        url=revisit.url,
        filename=one.payload.path,
        is_revisit=False,
        **one.payload._asdict(),
    )


def _passed_over(entry: IndexEntry, config: InputConfig, refusal: warc.Refusal) -> Skip | None:
    """Return the skip of an entry that need not be fetched, as `warc.read` would count it; None: to be fetched."""
    if entry.status and entry.status not in config.statuses:
        return Skip(f"status:{entry.status}")
    if refused := refusal(entry):
        return Skip(refused)
    return None if mime.may_be_page(entry.mime, config.mimes) else Skip("mime")


def _of_revisit(revisit: Revisit, original: Original, parsed: Page | Skip | Lack) -> RevisitOutcome:
    """Return the outcome of a revisit by that of its original, which is the page of the first of its revisits."""
    if isinstance(parsed, Lack):
        return unresolved(revisit, lack_detail(original.payload, parsed))
    if isinstance(parsed, Skip) or original.revisit is revisit:
        return parsed
    return Resolved(revisit, parsed.capture_id, parsed.capture.payload_digest)
