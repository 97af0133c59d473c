"""Copy what pages load from the archive into the store: images, style sheets, frames, fonts."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from dbce_spark.annotation.markup import url_rewriting
from dbce_spark.annotation.store import resource_index
from dbce_spark.annotation.store.resource_index import Place, ResourceIndex
from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings
from dbce_spark.annotation.store.workbench_store import Connection, insert, transaction
from dbce_spark.archive import http_message, mime, warc
from dbce_spark.archive.content_coding import BodyError
from dbce_spark.archive.index.index_entry import payload_digest
from dbce_spark.archive.index.urls import url_key
from dbce_spark.archive.record_date import parse_record_date
from dbce_spark.archive.records import Record
from dbce_spark.config import InputConfig
from dbce_spark.html import charset

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_MOST_REDIRECTS = 5
_COLUMNS = ("url", "timestamp", "status", "mime", "charset", "location")
"""Columns that a resource has as they are."""


@dataclass(frozen=True, slots=True)
class Resource:
    """An archived answer to a URL, its encodings undone."""

    url: str
    timestamp: int  # microseconds since 1970-01-01 UTC
    status: int
    mime: str
    charset: str
    location: str  # where a redirect leads, "" if it is none
    body: bytes


@dataclass(frozen=True, slots=True)
class Need:
    """A URL that is loaded by a page of this time."""

    url: str
    timestamp: int
    kind: str


def needed(html: str, url: str, timestamp: int) -> list[Need]:
    """Return the URLs that a page of this URL and time loads."""
    found: list[Need] = []

    def note(url: str, kind: str) -> str:
        found.append(Need(url, timestamp, kind))
        return url

    url_rewriting.parse_rewritten(html, url, note)
    return found


def copy(
    store: Connection, index: ResourceIndex, needs: Iterable[Need], config: InputConfig, settings: WorkbenchSettings
) -> int:
    """Copy the needed resources from the archives of an index, and those that they need in turn, up to
    `settings.rounds` levels deep. Return how many the store did not have.

    Each is written by itself: reading the archives takes minutes, in which others write, too.
    """
    requested: set[Need] = set()
    waiting = [*needs]
    new = 0
    for _ in range(settings.rounds):
        requested.update(waiting)
        wanted: dict[Place, list[tuple[Need, int]]] = defaultdict(list)
        for need in dict.fromkeys(waiting):
            if answer := index.nearest(need.url, need.timestamp):
                wanted[answer.place].append((need, answer.timestamp))
        waiting = []
        for place, payload in _fetched(wanted, config, settings.max_resource_bytes):
            answers = _answers(payload, wanted[place])
            with transaction(store):
                new += sum(keep(store, found) for found, _ in answers)
            waiting += [
                Need(url, moment, of)
                for (found, kind), moments in answers.items()
                for url, of in loads(found, kind)
                for moment in moments
            ]
        waiting = [need for need in waiting if need not in requested]
    return new


def _answers(payload: Resource, wanted: Iterable[tuple[Need, int]]) -> dict[tuple[Resource, str], list[int]]:
    """Return the answers that needs with the times of their captures find in a payload, each with the kind that it is
    loaded as, and with the times of the pages.

    The address that a redirect leads to is in its head: it is of its own URL alone.
    """
    answers: dict[tuple[Resource, str], list[int]] = defaultdict(list)
    for need, timestamp in wanted:
        is_own = url_key(need.url) == url_key(payload.url)
        if is_own or not payload.location:
            found = replace(payload, url=payload.url if is_own else need.url, timestamp=timestamp)
            answers[found, need.kind].append(need.timestamp)
    return answers


def _fetched(wanted: Collection[Place], config: InputConfig, most_bytes: int) -> Iterator[tuple[Place, Resource]]:
    for path in sorted({path for path, _, _ in wanted}):
        for record in resource_index.read_records(path, config):
            place = path, record.within, record.offset
            if place in wanted and (found := resource(record, most_bytes, config.max_ratio)) is not None:
                yield place, found


def resource(record: Record, most_bytes: int, max_ratio: int) -> Resource | None:
    """Return the answer in a record; None where it cannot be read, or is too large."""
    timestamp = parse_record_date(record.date)
    if record.block is None or timestamp is None:
        return None
    response = warc.message(record.headers, record.kind, record.block)
    if response is None:
        response = http_message.Response(0, {"content-type": record.headers.get("content-type")}, record.block)
    declared = mime.declared_type(response.headers.get("content-type", ""))
    try:
        content = http_message.decode_body(response, max_bytes=most_bytes, max_ratio=max_ratio).html
    except BodyError:
        return None
    location = response.headers.get("location", "") if response.status in _REDIRECTS else ""
    return Resource(
        record.url, timestamp, response.status or 200, declared.essence, declared.charset, location, content
    )


def loads(found: Resource, kind: str) -> list[tuple[str, str]]:
    """Return the URLs that an answer loads in turn, with the kind of each: a frame, a style sheet, or the target of a
    redirect."""
    needs: list[tuple[str, str]] = []

    def note(url: str, kind: str) -> str:
        needs.append((url, kind))
        return url

    if found.location:
        if target := url_rewriting.absolute(found.location, found.url):
            note(target, kind)
    elif kind == url_rewriting.STYLE:
        url_rewriting.rewrite_css(decode_text(found), found.url, note)
    elif kind == url_rewriting.FRAME:
        needs += [(need.url, need.kind) for need in needed(decode_text(found), found.url, found.timestamp)]
    return needs


def decode_text(found: Resource) -> str:
    """Decode an answer as text."""
    return charset.decode(found.body, found.charset).html.decode("utf-8", "replace")


def keep(store: Connection, found: Resource) -> bool:
    """Put an answer into a store; leave one that it has as it is. Return whether it is new."""
    sha1 = payload_digest(found.body)
    insert(store, "bodies", {"digest": sha1, "body": found.body})
    row = {name: getattr(found, name) for name in _COLUMNS}
    return insert(store, "resources", {"url_key": url_key(found.url), **row, "body": sha1})


def nearest(store: Connection, url: str, timestamp: int) -> Resource | None:
    """Return the answer to a URL that is nearest to a time, redirects followed; None if the store has none."""
    for _ in range(_MOST_REDIRECTS):
        found = _nearest(store, url, timestamp)
        if found is None or not found.location:
            return found
        url = url_rewriting.absolute(found.location, found.url)
    return None


def _nearest(store: Connection, url: str, timestamp: int) -> Resource | None:
    key = url_key(url)
    times = [row[0] for row in store.execute("SELECT timestamp FROM resources WHERE url_key = ? ORDER BY 1", (key,))]
    if not times:
        return None
    at = bisect_left(times, timestamp)
    best = min(times[max(0, at - 1) : at + 1], key=lambda one: abs(one - timestamp))
    row = store.execute(
        f"SELECT {', '.join(_COLUMNS)}, b.body FROM resources r JOIN bodies b ON b.digest = r.body"
        " WHERE url_key = ? AND timestamp = ?",
        (key, best),
    ).fetchone()
    return Resource(**row)
