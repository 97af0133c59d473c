"""Poll feeds of a real server, and follow them to their pages."""

import gzip
import io
import os
import re
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

from dbce_spark.archive import warc
from dbce_spark.archive.warc import ITEM_TITLE
from dbce_spark.errors import OutputError
from dbce_spark.streaming.feeds.feed_archive import FeedArchive
from dbce_spark.streaming.feeds.feed_item import Item
from dbce_spark.streaming.feeds.feed_memory import ItemStatus, Memory, WaitingItem
from dbce_spark.streaming.feeds.feed_reader import Reader
from dbce_spark.streaming.feeds.web_exchange import WebExchange
from tests.support.builders import config, outcomes_of, read
from tests.support.full_disks import full_disk
from tests.support.newsroom import Newsroom, item, newsroom

QUICK = (
    *("acquire.delay_seconds=0", "acquire.poll_seconds=1e-6", "acquire.first_wait_seconds=0.01"),
    *("acquire.timeout_seconds=5", "acquire.private_addresses=true"),
)


@pytest.fixture
def room() -> Iterator[Newsroom]:
    with newsroom() as opened:
        yield opened


class Desk:
    """A reader of feeds that is run again and again, with its memory in one folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.warned: list[str] = []

    def read(
        self, feeds: Sequence[str], *settings: str, once: bool = True, stops: Callable[[], bool] = lambda: False
    ) -> dict[str, int]:
        """Read once; return the counts."""
        made = config(*QUICK, *settings)
        with Memory(self.folder / "state" / "memory.sqlite") as memory:
            archive = FeedArchive(self.folder / "state" / "open", str(self.folder / "warcs"), made.acquire.user_agent)
            reader = Reader(feeds, memory, archive, made, self.warned.append)
            reader.run(stops=stops, once=once)
            return {name: count for name, count in reader.counts.items() if count}

    def files(self) -> list[Path]:
        return sorted((self.folder / "warcs").glob("*"))

    def items(self) -> dict[str, int]:
        with Memory(self.folder / "state" / "memory.sqlite") as memory:
            return memory.counts()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def captured(desk: Desk) -> list[tuple[str, str]]:
    """Return the pages in the WARC files, as this project reads them: URL and the title that the feed gave."""
    found = [one for file in desk.files() for one in read(file)]
    return [(one.capture.url, one.capture.item_title) for one in found if isinstance(one, warc.Fetch)]


def test_pages_of_a_feed_become_captures(room: Newsroom, desk: Desk) -> None:
    """Each item's page is in a WARC file, with the title that the feed has for it."""
    room.article("/a", "Of a")
    room.article("/b", "Of b")
    feed = room.publish("/rss", item(f"{room.url}/a", "Große &amp; kleine"), item(f"{room.url}/b", "B"))
    counts = desk.read([feed])

    assert [(f"{room.url}/a", "Große & kleine"), (f"{room.url}/b", "B")] == captured(desk)
    assert {"polls": 1, "items": 2, "pages": 2, "files": 1} == counts


def test_what_is_known_is_not_fetched_again(room: Newsroom, desk: Desk) -> None:
    """A feed that has grown gives its new item; an old title, description and date under another link is no new
    item."""
    for path in ("/a", "/b", "/c"):
        room.article(path, f"Of {path}")
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    desk.read([feed])
    room.publish("/rss", item(f"{room.url}/c", "A"), item(f"{room.url}/b", "B"))
    desk.read([feed])

    assert ["/a", "/b"] == [path for path in room.paths() if len(path) == 2]


@pytest.mark.parametrize(
    "other", [item("{url}/b", "A2"), item("{url}/b", "A", description="Else"), item("{url}/b", "A", date="today")]
)
def test_another_title_description_or_date_is_another_item(room: Newsroom, desk: Desk, other: str) -> None:
    """Each of the three that identify an item makes a new one when it changes."""
    room.article("/a", "Of a")
    room.article("/b", "Of b")
    feed = room.publish("/rss", item(f"{room.url}/a", "A"), other.format(url=room.url))
    desk.read([feed])

    assert [f"{room.url}/a", f"{room.url}/b"] == [url for url, _ in captured(desk)]


def test_a_feed_that_is_as_it_was_is_not_sent(room: Newsroom, desk: Desk) -> None:
    """The second poll is conditional on the tag and the date of the first, and gets the answer that nothing has
    changed."""
    room.more["Last-Modified"] = "Mon, 24 Oct 2011 08:00:00 GMT"
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    desk.read([feed])
    counts = desk.read([feed])
    tags = [headers.get("If-None-Match") for path, headers, _ in room.asked if path == "/rss"]

    assert {"polls": 1, "unchanged": 1} == counts
    assert [True, False] == [tag is None for tag in tags]
    dates = [headers.get("If-Modified-Since") for path, headers, _ in room.asked if path != "/robots.txt"]
    assert [None, None, room.more["Last-Modified"]] == dates


def test_robots_are_asked_first_and_obeyed(room: Newsroom, desk: Desk) -> None:
    """A page that robots.txt forbids is neither fetched nor tried again; robots.txt is read before anything else."""
    room.pages["/robots.txt"] = (b"User-agent: dbce-acquire\nDisallow: /private", "text/plain")
    room.article("/private/a", "Of a")
    room.article("/b", "Of b")
    feed = room.publish("/rss", item(f"{room.url}/private/a", "A"), item(f"{room.url}/b", "B"))
    desk.read([feed])
    desk.read([feed])

    assert "/robots.txt" == room.paths()[0]
    assert "/private/a" not in room.paths()
    assert {ItemStatus.KEPT: 1, ItemStatus.REFUSED: 1} == desk.items()
    forbidden = f"{room.url}/private/a"
    assert [f"{forbidden}: refused: {room.url}/robots.txt forbids {forbidden}"] == desk.warned


def test_a_host_whose_robots_cannot_be_read_is_left_alone(room: Newsroom, desk: Desk) -> None:
    """A server error for robots.txt forbids everything until it can be read (RFC 9309)."""
    room.answers["/robots.txt"] = [(503, {})]
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    counts = desk.read([feed])

    assert ["/robots.txt"] == room.paths()
    assert {"polls": 1, "failed_polls": 1} == counts
    assert [f"{feed}: {room.url}/robots.txt cannot be read: HTTP 503"] == desk.warned


def test_between_two_requests_to_a_host_is_a_pause(room: Newsroom, desk: Desk) -> None:
    """The longer of the configured delay and that of robots.txt lies before each request but the first."""
    room.pages["/robots.txt"] = (b"User-agent: *\nCrawl-delay: 0.3", "text/plain")
    room.article("/a", "Of a")
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    desk.read([feed], "acquire.delay_seconds=0.1")
    times = [when for _, _, when in room.asked]

    assert ["/robots.txt", "/rss", "/a"] == room.paths()
    assert times[1] - times[0] >= 0.1
    assert times[2] - times[1] >= 0.3


def test_redirects_are_recorded_and_the_page_is_under_the_address_that_answered(room: Newsroom, desk: Desk) -> None:
    """A capture's URL is the response URL, and each redirect is a response of its own before it."""
    room.answers["/go?to=a"] = [(302, {"Location": "/moved"})]
    room.answers["/moved"] = [(301, {"Location": f"{room.url}/a?x=1"})]
    room.article("/a?x=1", "Of a")
    feed = room.publish("/rss", item(f"{room.url}/go?to=a", "A"))
    desk.read([feed])

    outcomes = outcomes_of(desk.files()[0])
    assert [f"{room.url}/a?x=1"] == [one for one in outcomes if one.startswith("http")]
    assert ["skip:status:302", "skip:status:301"] == [one for one in outcomes if one.startswith("skip:status")]


def test_endless_redirects_end(room: Newsroom, desk: Desk) -> None:
    """A page that redirects to itself is given up after the configured number of redirects."""
    room.answers["/a"] = [(302, {"Location": "/a"})] * 9
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    desk.read([feed], "acquire.max_redirects=3")

    assert 4 == room.paths().count("/a")
    assert {ItemStatus.FAILED: 1} == desk.items()


def test_a_busy_server_is_left_alone_as_long_as_it_asks(room: Newsroom, desk: Desk) -> None:
    """429 with Retry-After stops all requests to the host; after that time the same page is fetched."""
    room.answers["/a"] = [(429, {"Retry-After": "1"})]
    for path in ("/a", "/b"):
        room.article(path, f"Of {path}")
    feed = room.publish("/rss", item(f"{room.url}/a", "A"), item(f"{room.url}/b", "B"))
    desk.read([feed])
    asked_before = room.paths()
    time.sleep(1.1)
    desk.read([])

    assert ["/robots.txt", "/rss", "/a"] == asked_before
    assert {"/a", "/b"} == {*room.paths()[len(asked_before) :]} - {"/robots.txt"}
    assert {ItemStatus.KEPT: 2} == desk.items()


def test_a_server_that_is_not_busy_is_asked_again(room: Newsroom, desk: Desk) -> None:
    """Retry-After closes a host only with a status that says to come later."""
    room.more["Retry-After"] = "3600"
    for path in ("/a", "/b"):
        room.article(path, f"Of {path}")
    desk.read([room.publish("/rss", item(f"{room.url}/a", "A"), item(f"{room.url}/b", "B"))])

    assert {ItemStatus.KEPT: 2} == desk.items()


def test_a_page_that_fails_again_and_again_is_given_up(room: Newsroom, desk: Desk) -> None:
    """A page is requested as often as configured, and then no more."""
    room.answers["/a"] = [(500, {})] * 9
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    desk.read([feed], "acquire.attempts=3")
    for _ in range(4):
        time.sleep(0.05)
        desk.read([feed], "acquire.attempts=3")

    assert 3 == room.paths().count("/a")
    assert {ItemStatus.FAILED: 1} == desk.items()


def test_a_feed_that_fails_is_polled_ever_more_seldom(room: Newsroom, desk: Desk) -> None:
    """The wait doubles with each failure, and is as before after a success."""
    feed = room.publish("/rss")
    room.answers["/rss"] = [(500, {})] * 3
    waits = []
    for _ in range(4):
        began = time.time()
        desk.read([feed], "acquire.poll_seconds=0.2")
        with Memory(desk.folder / "state" / "memory.sqlite") as memory:
            state = memory.feed(feed)
        waits.append((state.failures, state.next_at - began >= 0.2 * 2.0 ** max(0, state.failures - 1)))
        time.sleep(max(0.0, state.next_at - time.time()))

    assert [(1, True), (2, True), (3, True), (0, True)] == waits


def test_a_feed_that_is_gone_is_not_polled_again(room: Newsroom, desk: Desk) -> None:
    """A feed that answers 410 is never polled again."""
    room.answers["/rss"] = [(410, {})]
    feed = room.publish("/rss")
    desk.read([feed])
    desk.read([feed])

    assert 1 == room.paths().count("/rss")


def test_a_feed_is_polled_again_and_again_until_it_is_gone(room: Newsroom, desk: Desk) -> None:
    """A reader that is not stopped comes back to a feed, and not to one that is gone."""
    room.answers["/gone"] = [(410, {})]
    feeds = [room.publish("/rss"), room.publish("/gone")]
    looks = iter(range(20))
    desk.read(feeds, once=False, stops=lambda: next(looks, None) is None)

    assert room.paths().count("/rss") > 1
    assert 1 == room.paths().count("/gone")


def test_a_reader_whose_feeds_are_all_gone_ends(room: Newsroom, desk: Desk) -> None:
    """Nothing can come any more; what one has shown before is fetched first."""
    room.article("/a", "Of a")
    room.answers["/a"] = [(503, {})]
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    desk.read([feed], stops=lambda: bool(desk.warned))
    room.answers["/rss"] = [(410, {})]
    looks = iter(range(50))
    desk.read([feed], once=False, stops=lambda: next(looks, None) is None)

    assert next(looks, None) is not None
    assert [f"{room.url}/a"] == [url for url, _ in captured(desk)]


def test_a_feed_is_left_alone_as_long_as_it_asks(room: Newsroom, desk: Desk) -> None:
    """A ttl of RSS, in minutes, that is longer than the configured pause replaces it."""
    feed = room.publish("/rss", ttl="60")
    began = time.time()
    desk.read([feed])
    desk.read([feed])
    with Memory(desk.folder / "state" / "memory.sqlite") as memory:
        state = memory.feed(feed)

    assert 1 == room.paths().count("/rss")
    assert state.next_at >= began + 3600


def test_a_feed_that_is_as_it_was_is_left_alone_as_long_as_it_last_asked(room: Newsroom, desk: Desk) -> None:
    """The ttl of the answer that was whole holds: "not modified" comes without one."""
    feed = room.publish("/rss", ttl="60")
    desk.read([feed])
    with Memory(desk.folder / "state" / "memory.sqlite") as memory:
        memory.note_poll(replace(memory.feed(feed), next_at=0.0), [], time.time())
    began = time.time()
    counts = desk.read([feed])
    with Memory(desk.folder / "state" / "memory.sqlite") as memory:
        state = memory.feed(feed)

    assert {"polls": 1, "unchanged": 1} == counts
    assert state.next_at >= began + 3600


def test_what_is_no_page_is_not_kept(room: Newsroom, desk: Desk) -> None:
    """A film that an item links to is not read, and not requested again."""
    room.pages["/a.mp4"] = (b"film", "video/mp4")
    feed = room.publish("/rss", item(f"{room.url}/a.mp4", "A"))
    desk.read([feed])

    assert {ItemStatus.REFUSED: 1} == desk.items()
    assert [] == desk.files()


@pytest.mark.parametrize("kind", ["application/xhtml+xml", "TEXT/HTML; charset=utf-8", ""])
def test_what_can_be_a_page_is_kept(room: Newsroom, desk: Desk, kind: str) -> None:
    """Of a type that is one, or that servers give to pages."""
    room.pages["/a"] = (b"<p>Of a</p>", kind)
    desk.read([room.publish("/rss", item(f"{room.url}/a", "A"))])

    assert {ItemStatus.KEPT: 1} == desk.items()


@pytest.mark.parametrize(("mimes", "status"), [(["text/html"], "refused"), (["text/plain"], "kept")])
def test_a_type_that_the_settings_name_is_a_page(room: Newsroom, desk: Desk, mimes: list[str], status: str) -> None:
    """A page is acquired if its type is one of those that are labelled, and not otherwise."""
    room.pages["/a"] = (b"Of a", "text/plain")
    desk.read([room.publish("/rss", item(f"{room.url}/a", "A"))], f"input.mimes={mimes}")

    assert {status: 1} == desk.items()


def test_a_page_over_the_limit_is_cut_and_says_so(room: Newsroom, desk: Desk) -> None:
    """A page is kept up to the limit, and the capture is marked as truncated."""
    room.article("/a", "word " * 1000)
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    desk.read([feed], "acquire.max_bytes=1000")
    found = [one for one in read(desk.files()[0]) if isinstance(one, warc.Fetch)]

    assert [(1000, True)] == [(len(one.html), one.capture.truncated) for one in found]


def test_what_a_kill_leaves_is_handed_over_as_far_as_it_was_noted(room: Newsroom, desk: Desk) -> None:
    """Half a record behind the last page that was noted is cut off; no page is lost, and none is fetched twice."""
    room.article("/a", "Of a")
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    desk.read([feed])
    whole = desk.files()[0]
    left = desk.folder / "state" / "open" / whole.name
    left.write_bytes(whole.read_bytes() + b"half a record")
    with Memory(desk.folder / "state" / "memory.sqlite") as memory:
        waiting = next(iter(memory.waiting()), None)
        memory.note_poll(memory.feed(feed), [], 0.0)
        memory._store.execute("INSERT INTO files VALUES (?, ?)", (whole.name, whole.stat().st_size))
    expected = whole.read_bytes()
    whole.unlink()
    (left.parent / "of-nothing.warc.gz").write_bytes(b"half a file")
    desk.read([feed])

    assert waiting is None
    assert [expected] == [one.read_bytes() for one in desk.files()]
    assert 1 == room.paths().count("/a")
    assert [] == list(left.parent.iterdir())


def test_an_open_file_is_handed_over_when_it_is_large(room: Newsroom, desk: Desk) -> None:
    """Each page fills a file where files may have a byte; none is empty, all can be read."""
    for path in ("/a", "/b", "/c"):
        room.article(path, f"Of {path}")
    feed = room.publish("/rss", *(item(f"{room.url}{path}", path) for path in ("/a", "/b", "/c")))
    counts = desk.read([feed], "acquire.file_bytes=1")

    assert 3 == counts["files"] == len(desk.files())
    assert 3 == len(captured(desk))


def test_records_are_as_the_standard_wants_them(room: Newsroom, desk: Desk) -> None:
    """warcio verifies all digests, and the metadata record has the fields of the feed's item."""
    room.article("/a", "Of a")
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    desk.read([feed])
    kinds, metadata = [], b""
    for found in ArchiveIterator(io.BytesIO(desk.files()[0].read_bytes()), check_digests="raise"):
        kinds.append(found.rec_type)
        content = found.content_stream().read()
        metadata = content if found.rec_type == "metadata" else metadata

    assert ["warcinfo", "request", "response", "metadata"] == kinds
    when = "date: Mon, 24 Oct 2011 08:00:00 GMT"
    written = [f"via: {feed}", f"link: {room.url}/a", "title: A", when, "description: Of it"]
    assert written == metadata.decode().splitlines()
    assert {"gzip"} == {headers["Accept-Encoding"] for _, headers, _ in room.asked}


def test_records_belong_together(room: Newsroom, desk: Desk) -> None:
    """Each is compressed by itself; all name the record of the file, and a request and its metadata their response."""
    room.answers["/a"] = [(302, {"Location": "/b?c=d"})]
    room.article("/b?c=d", "Of b")
    desk.read([room.publish("/rss", item(f"{room.url}/a", "A"))])
    (path,) = desk.files()
    with path.open("rb") as stream:
        found = [(one.rec_type, one.rec_headers, one.http_headers) for one in ArchiveIterator(stream)]
    (_, info, _), *rest = found
    ids = [one.get_header("WARC-Record-ID") for _, one, _ in found]
    kinds = ["request", "response"] * 2 + ["metadata"]

    assert all(re.fullmatch("<urn:uuid:[0-9a-f-]{36}>", one) for one in ids)
    assert len(found) == gzip.decompress(path.read_bytes()).count(b"WARC/1.1\r\n") == len({*ids})
    assert path.name == info.get_header("WARC-Filename")
    assert kinds == [kind for kind, _, _ in rest]
    assert {ids[0]} == {one.get_header("WARC-Warcinfo-ID") for _, one, _ in rest}
    assert [ids[2], None, ids[4], None, ids[4]] == [one.get_header("WARC-Concurrent-To") for _, one, _ in rest]
    asked = ["GET /a HTTP/1.1", "HTTP/1.1 302 Found", "GET /b?c=d HTTP/1.1", "HTTP/1.1 200 OK"]
    assert asked == [f"{head.protocol} {head.statusline}" for _, _, head in rest if head]
    assert [None, None, None, "A", None] == [one.get_header(ITEM_TITLE) for _, one, _ in rest]
    assert {path.name[9:24]} == {re.sub("[-:]", "", info.get_header("WARC-Date"))[:15]}


def test_an_output_that_cannot_be_written_costs_no_page(room: Newsroom, desk: Desk) -> None:
    """The run ends with an OutputError; the file waits, and the next run hands it over and counts it."""
    room.article("/a", "Of a")
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    (desk.folder / "warcs").write_bytes(b"no folder")
    with pytest.raises(OutputError, match="warcs: cannot be written"):
        desk.read([feed])
    (desk.folder / "warcs").unlink()
    counts = desk.read([feed])

    assert [(f"{room.url}/a", "A")] == captured(desk)
    assert 1 == room.paths().count("/a")
    assert 1 == counts["files"]


@pytest.mark.parametrize("left", [0, 100], ids=["gone", "cut"])
def test_a_file_that_lacks_noted_pages_is_not_handed_over(room: Newsroom, desk: Desk, left: int) -> None:
    """It was passed over, or handed over with half a record, without a word. The whole file can be put back."""
    room.article("/a", "Of a")
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    (desk.folder / "warcs").write_bytes(b"no folder")
    with pytest.raises(OutputError, match=r"warcs: cannot be written: .*; make it writable"):
        desk.read([feed])
    (desk.folder / "warcs").unlink()
    (waits,) = (desk.folder / "state" / "open").iterdir()
    whole = waits.read_bytes()
    waits.write_bytes(whole[:left]) if left else waits.unlink()
    with pytest.raises(OutputError, match=rf"{waits.name}: holds {left} of {len(whole):,} bytes, .* put back"):
        desk.read([feed])
    waits.write_bytes(whole)
    desk.read([feed])

    assert ([(f"{room.url}/a", "A")], []) == (captured(desk), [*waits.parent.iterdir()])


def test_a_kill_before_a_file_is_noted_as_handed_over_costs_no_page(
    room: Newsroom, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is still there, and is handed over again under its name."""
    room.article("/a", "Of a")
    feed = room.publish("/rss", item(f"{room.url}/a", "A"))
    with monkeypatch.context() as killed:
        killed.setattr(Memory, "drop_file", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            desk.read([feed])
    desk.read([feed])

    assert [(f"{room.url}/a", "A")] == captured(desk)
    assert [] == [*(desk.folder / "state" / "open").iterdir()]


def test_what_a_hostile_answer_breaks_is_its_own_item(room: Newsroom, desk: Desk) -> None:
    """Halves of characters, letters beyond ASCII in headers, waits that no clock has: the others are fetched."""
    names = ["half", "link", "good", "wait"]  # the last closes the host
    feed = room.publish(
        "/feed", *(item(f"{room.url}/{name}", "&#xD800;&#55357;" if name == "half" else name) for name in names)
    )
    for name in names:
        room.article(f"/{name}", name)
    room.answers["/link"] = [(200, {"Link": "<\xe9>; rel=caf\xe9", "X-\xe9": "\xff", "Content-Type": "text/html"})]
    room.answers["/wait"] = [
        (503, {"Retry-After": "9" * 400}),
        (429, {"Retry-After": "Fri, 31 Dec 9999 23:59:59 -2359"}),
    ]
    counts = desk.read([feed])

    assert (3, 1, []) == (counts["pages"], counts["retries"], desk.warned)
    assert {"/half", "/link", "/good"} == {url.removeprefix(room.url) for path in desk.files() for url in targets(path)}


def targets(path: Path) -> set[str]:
    """The addresses of the responses in a file."""
    with path.open("rb") as stream:
        return {
            one.rec_headers.get_header("WARC-Target-URI")
            for one in ArchiveIterator(stream)
            if one.rec_type == "response"
        }


def test_a_page_that_cannot_be_written_leaves_no_bytes(
    desk: Desk, room: Newsroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bytes are taken back, so that the next page stands behind the one before."""
    feed = room.publish("/feed", *(item(f"{room.url}/{name}", name) for name in "abc"))
    for name in "abc":
        room.article(f"/{name}", name)
    write = FeedArchive._metadata

    def broken(self: FeedArchive, exchange: WebExchange, reply: str, of: Item) -> ArcWarcRecord:
        if of.title == "b":
            raise ValueError("no such record")
        return write(self, exchange, reply, of)

    monkeypatch.setattr(FeedArchive, "_metadata", broken)
    counts = desk.read([feed])

    assert (2, 1) == (counts["pages"], counts["failed"])
    assert {f"{room.url}/a", f"{room.url}/c"} == {url for path in desk.files() for url in targets(path)}


def test_private_addresses_are_not_asked_for(room: Newsroom, desk: Desk) -> None:
    """Unless the settings say so."""
    feed = room.publish("/feed", item(f"{room.url}/a", "a"))
    counts = desk.read([feed], "acquire.private_addresses=false")

    assert (1, []) == (counts["failed_polls"], room.asked)


def test_hosts_that_are_done_with_are_forgotten(room: Newsroom, desk: Desk) -> None:
    """A feed may link to as many as its owner gives names to."""
    room.article("/a", "Of a")
    feed = room.publish("/feed", item(f"{room.url.replace('127.0.0.1', 'localhost')}/a", "a"))
    made = config(*QUICK)
    with Memory(desk.folder / "memory.sqlite") as memory:
        archive = FeedArchive(desk.folder / "open", str(desk.folder / "warcs"), "a")
        reader = Reader([feed], memory, archive, made, desk.warned.append)
        reader.run(stops=lambda: False, once=True)
    reader._send()

    assert (1, []) == (reader.counts["pages"], desk.warned)
    assert {} == reader._hosts


def test_a_robots_txt_is_read_up_to_its_limit_also_when_it_is_packed(room: Newsroom, desk: Desk) -> None:
    """The rules behind it do not count, however few bytes were sent."""
    rules = b"User-agent: *\nDisallow: /b\n# " + b"-" * 2000 + b"\nDisallow: /a\n"
    room.pages["/robots.txt"] = (gzip.compress(rules), "text/plain")
    room.more["Content-Encoding"] = "gzip"
    feed = f"{room.url}/a"
    desk.read([feed, f"{room.url}/b"], "acquire.robots_bytes=1000")

    assert ["/robots.txt", "/a"] == room.paths()


def test_a_robots_txt_that_cannot_be_unpacked_forbids_all(room: Newsroom, desk: Desk) -> None:
    """Its rules are there, and nobody can read them."""
    room.pages["/robots.txt"] = (b"\x1f\x8b\x08x", "text/plain")
    room.more["Content-Encoding"] = "gzip"
    looks = iter(range(20))
    url = f"{room.url}/a"
    desk.read([url], "acquire.first_wait_seconds=60", stops=lambda: next(looks, None) is None)

    assert ["/robots.txt"] == room.paths()
    assert [f"{url}: {room.url}/robots.txt cannot be read: gzip: broken before its first byte"] == desk.warned


def test_a_crawl_delay_has_a_cap(room: Newsroom, desk: Desk) -> None:
    """A host that wants years between two requests is asked at the longest wait that the settings have."""
    room.pages["/robots.txt"] = (b"User-agent: *\nCrawl-delay: 99999999\n", "text/plain")
    feed = room.publish("/feed", item(f"{room.url}/a", "a"))
    room.article("/a", "a")
    looks = iter(range(100))
    counts = desk.read([feed], "acquire.max_delay_seconds=0.01", stops=lambda: next(looks, None) is None)

    assert 1 == counts.get("pages")


def test_a_reader_that_is_stopped_does_not_wait_for_answers(desk: Desk) -> None:
    """A server that says nothing does not hold it up: the request is left to the next run."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/feed"
        looks = iter(range(3))
        began = time.monotonic()
        counts = desk.read([url], "acquire.timeout_seconds=60", stops=lambda: next(looks, None) is None)

        assert {} == counts
        assert time.monotonic() - began < 30


def test_a_feed_is_read_up_to_a_number_of_items(room: Newsroom, desk: Desk) -> None:
    """The first of them count."""
    feed = room.publish("/feed", *(item(f"{room.url}/{nth}", str(nth)) for nth in range(9)))

    assert 4 == desk.read([feed], "acquire.feed_items=4")["items"]


def test_a_feed_that_is_too_large_is_not_parsed(room: Newsroom, desk: Desk) -> None:
    """Its poll has failed, and says why; a smaller one is read again later."""
    links = [item(f"{room.url}/{nth}", str(nth)) for nth in range(9)]
    feed = room.publish("/feed", *links)
    counts = desk.read([feed], "acquire.feed_bytes=1000")

    assert {"polls": 1, "failed_polls": 1} == counts
    assert [f"{feed}: {len(room.pages['/feed'][0])} bytes, at most 1000 allowed"] == desk.warned


def test_a_redirect_is_asked_for_only_if_robots_allow_it(room: Newsroom, desk: Desk) -> None:
    """The rules hold for where it leads, too."""
    room.pages["/robots.txt"] = (b"User-agent: *\nDisallow: /private", "text/plain")
    room.answers["/a"] = [(302, {"Location": "/private/a"})]
    room.article("/private/a", "secret")
    counts = desk.read([room.publish("/feed", item(f"{room.url}/a", "a"))])

    assert (1, 1) == (counts["redirects"], counts["refused"])
    assert "/private/a" not in room.paths()


def test_rules_of_robots_are_followed_to_where_they_are(room: Newsroom, desk: Desk) -> None:
    """Redirects of robots.txt are followed, to another host too, and what is there holds for the host that was
    asked."""
    elsewhere = room.url.replace("127.0.0.1", "localhost")
    room.answers["/robots.txt"] = [(301, {"Location": f"{elsewhere}/rules.txt"})]
    room.pages["/rules.txt"] = (b"User-agent: *\nDisallow: /private", "text/plain")
    room.article("/a", "a")
    counts = desk.read([room.publish("/feed", *(item(f"{room.url}/{name}", name) for name in ("private", "a")))])

    assert (1, 1) == (counts["refused"], counts["pages"])
    assert ["/robots.txt", "/rules.txt", "/feed", "/a"] == room.paths()


@pytest.fixture
def other() -> Iterator[Newsroom]:
    """Open a second server, under a name of its own."""
    with newsroom() as opened:
        opened.url = opened.url.replace("127.0.0.1", "localhost")
        yield opened


def test_rules_of_robots_are_asked_for_once_while_another_host_has_them(
    room: Newsroom, other: Newsroom, desk: Desk
) -> None:
    """The host that redirects to them is left alone until the other one has answered."""
    room.answers["/robots.txt"] = [(301, {"Location": f"{other.url}/rules.txt"})] * 9
    other.pages["/rules.txt"] = (b"User-agent: *\nDisallow: /private", "text/plain")
    other.pause = 0.5
    counts = desk.read([room.publish("/feed", item(f"{room.url}/private", "a"))])

    assert (["/robots.txt", "/feed"], ["/rules.txt"]) == (room.paths(), other.paths())
    assert 1 == counts["refused"]


def test_rules_of_robots_of_a_host_that_is_closed_are_left_to_the_next_run(
    room: Newsroom, other: Newsroom, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that waits for another host can be done now."""
    is_closed = threading.Event()
    room.answers["/robots.txt"] = [(301, {"Location": f"{other.url}/rules.txt"})] * 9
    monkeypatch.setattr(room, "wait", lambda: is_closed.wait(60))
    other.answers["/busy"] = [(503, {"Retry-After": "3600"})]
    looks = iter(range(300))

    def stops() -> bool:
        if desk.warned:  # of the answer that closes the other one
            is_closed.set()
        return next(looks, None) is None

    desk.read([f"{other.url}/busy", room.publish("/feed")], stops=stops)

    assert (["/robots.txt"], ["/robots.txt", "/busy"]) == (room.paths(), other.paths())
    assert next(looks, None) is not None


def test_rules_of_robots_that_break_the_library_forbid_all(
    room: Newsroom, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are as good as none that can be read, and not asked for again at once."""

    def broken(_: str) -> None:
        raise LookupError("half a rule")

    monkeypatch.setattr("protego.Protego.parse", broken)
    looks = iter(range(20))
    desk.read([room.publish("/feed")], "acquire.first_wait_seconds=60", stops=lambda: next(looks, None) is None)

    assert ["/robots.txt"] == room.paths()
    assert [f"{room.url}/feed: {room.url}/robots.txt cannot be read: LookupError: half a rule"] == desk.warned


def test_rules_of_robots_that_redirect_for_ever_are_none(room: Newsroom, desk: Desk) -> None:
    """After as many redirects as are configured all is allowed (RFC 9309, 2.3.1.2)."""
    room.answers["/robots.txt"] = [(302, {"Location": "/robots.txt"})] * 9
    room.article("/a", "a")
    counts = desk.read([room.publish("/feed", item(f"{room.url}/a", "a"))], "acquire.max_redirects=3")

    assert (4, 1) == (room.paths().count("/robots.txt"), counts["pages"])


def test_rules_of_robots_are_read_up_to_a_size(room: Newsroom, desk: Desk) -> None:
    """The rules behind that do not count."""
    rules = [b"User-agent: *\nDisallow: /near\n".ljust(99, b"#") + b"\n", b"Disallow: /far\n"]
    room.pages["/robots.txt"] = (b"".join(rules), "text/plain")
    room.article("/far", "far")
    links = [item(f"{room.url}/{name}", name) for name in ("near", "far")]
    counts = desk.read([room.publish("/feed", *links)], "acquire.robots_bytes=100")

    assert (1, 1) == (counts["refused"], counts["pages"])


@pytest.mark.parametrize(("seconds", "is_once"), [("1e-6", False), ("60", True)])
def test_rules_of_robots_are_read_again_when_they_are_old(
    room: Newsroom, desk: Desk, seconds: str, is_once: bool
) -> None:
    """They hold for as long as is configured, and no longer."""
    names = "abc"
    for name in names:
        room.article(f"/{name}", name)
    feed = room.publish("/feed", *(item(f"{room.url}/{name}", name) for name in names))
    looks = iter(range(20))
    desk.read([feed], f"acquire.robots_seconds={seconds}", stops=lambda: next(looks, None) is None)

    assert is_once == (room.paths().count("/robots.txt") == 1)


@pytest.mark.parametrize(("together", "at_once"), [(1, 1), (2, 2), (9, 2)])
def test_so_many_hosts_are_asked_at_once(room: Newsroom, desk: Desk, together: int, at_once: int) -> None:
    """As many as are configured, one request each."""
    room.pause = 0.3
    feed = room.publish("/feed")
    desk.read([feed, feed.replace("127.0.0.1", "localhost")], f"acquire.hosts_together={together}")

    assert at_once == room.most_at_once


@pytest.mark.parametrize("status", [200, 429, 500])
def test_no_feed_is_waited_for_longer_than_the_settings_say(room: Newsroom, desk: Desk, status: int) -> None:
    """Whatever its ttl, its Retry-After or its failures demand."""
    feed = room.publish("/feed", ttl="999999")
    room.answers["/feed"] = [] if status == 200 else [(status, {"Retry-After": "99999999"})]
    desk.read([feed], "acquire.max_poll_seconds=3600")
    with Memory(desk.folder / "state" / "memory.sqlite") as memory:
        state = memory.feed(feed)

    assert 3500 < state.next_at - time.time() <= 3600


def test_what_was_put_off_by_a_clock_that_was_ahead_is_due(
    room: Newsroom, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a feed nor a page waits until the clock comes again to where it once was."""
    room.article("/a", "Of a")
    room.answers["/a"] = [(503, {"Retry-After": "3600"})]
    feed = room.publish("/feed", item(f"{room.url}/a", "a"))
    with monkeypatch.context() as ahead:
        now = time.time
        ahead.setattr(time, "time", lambda: now() + 40 * 86_400)
        desk.read([feed])
    counts = desk.read([feed])

    assert {"polls": 1, "unchanged": 1, "pages": 1, "files": 1} == counts


def test_a_page_that_fails_waits_twice_as_long_each_time(room: Newsroom, desk: Desk) -> None:
    """From the first wait on, up to the longest that the settings have."""
    room.answers["/a"] = [(500, {})] * 9
    feed = room.publish("/feed", item(f"{room.url}/a", "a"))
    waits = []
    for _ in range(4):
        settings = ("acquire.first_wait_seconds=100", "acquire.max_poll_seconds=350", "acquire.attempts=9")
        desk.read([feed], *settings)
        with Memory(desk.folder / "state" / "memory.sqlite") as memory:
            (waiting,) = memory.waiting()
            waits.append((waiting.attempts, round((waiting.next_at - time.time()) / 10)))
            memory.note_retry(replace(waiting, next_at=0.0), "")

    assert [(1, 10), (2, 20), (3, 35), (4, 35)] == waits


def test_a_memory_that_cannot_be_there_is_named(desk: Desk) -> None:
    """A file in the place of its folder, or one of something else in its own, is an error that names it."""
    (desk.folder / "file").write_bytes(b"of something else" * 100)

    for path in (desk.folder / "file" / "memory.sqlite", desk.folder / "file"):
        with pytest.raises(OutputError, match=f"^{path}: cannot be the memory of `dbce acquire`: .* give another "):
            Memory(path)


def test_a_file_of_another_program_is_no_memory(desk: Desk) -> None:
    """An SQLite file with other tables is refused, and gets none of ours."""
    path = desk.folder / "memory.sqlite"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()
    with pytest.raises(OutputError, match=f"^{path} is an SQLite file of another program: give another --state"):
        Memory(path)

    assert before == path.read_bytes()


def test_a_file_in_place_of_the_folder_of_open_files_is_named(desk: Desk) -> None:
    """The error says what to do."""
    (desk.folder / "open").touch()

    with pytest.raises(OutputError, match=f"^{desk.folder}/open: cannot be written: .*; make it writable"):
        FeedArchive(desk.folder / "open", str(desk.folder / "warcs"), "dbce-acquire")


def test_a_memory_is_held_by_one(desk: Desk) -> None:
    """A second one says who may have it."""
    with Memory(desk.folder / "memory.sqlite"), pytest.raises(OutputError, match="is another `dbce acquire` at work"):
        Memory(desk.folder / "memory.sqlite")


def test_a_memory_that_is_refused_is_not_held(desk: Desk) -> None:
    """The program that it is of can open it, while the error is still looked at."""
    path = desk.folder / "memory.sqlite"
    with closing(sqlite3.connect(path)) as later:
        later.execute("PRAGMA user_version = 99")
    with pytest.raises(OutputError, match="is of version 99") as refused:
        Memory(path)
    with closing(sqlite3.connect(path, timeout=0)) as later:
        later.execute("CREATE TABLE more (name TEXT)")

    assert refused.value.args


def test_an_item_waits_from_the_poll_on_that_has_shown_it(desk: Desk) -> None:
    """It has had no try yet; a later poll neither makes another of it nor lets it wait longer."""
    one = Item(feed="f", link="l", title="t", description="", date="")
    with Memory(desk.folder / "memory.sqlite") as memory:
        new = [memory.note_poll(memory.feed("f"), [one], now) for now in (1.0, 2.0)]

        assert [[one], []] == new
        assert [WaitingItem(item=one, attempts=0, next_at=1.0)] == memory.waiting()


def test_a_poll_that_breaks_off_is_not_noted(desk: Desk) -> None:
    """All that belongs to it is written, or nothing; and what broke it is named."""

    def items() -> Iterator[Item]:
        yield Item(feed="f", link="l", title="", description="", date="")
        raise KeyboardInterrupt

    with Memory(desk.folder / "memory.sqlite") as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.note_poll(replace(memory.feed("f"), failures=1), items(), 0.0)

        assert (0, {}) == (memory.feed("f").failures, memory.counts())


def test_a_host_has_one_request_at_a_time(room: Newsroom, desk: Desk) -> None:
    """Each is answered before the next is sent, however many pages wait."""
    names, room.pause = "abc", 0.5
    for name in names:
        room.article(f"/{name}", name)
    desk.read([room.publish("/feed", *(item(f"{room.url}/{name}", name) for name in names))])

    assert len(names) + 2 == len(room.asked)
    assert 1 == room.most_at_once


def test_a_page_is_noted_when_it_is_on_the_disk(room: Newsroom, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill in between loses no page that the memory says is there."""
    steps: list[str] = []
    sync, note = os.fsync, Memory.note_page

    def synced(number: int) -> None:
        steps.append("sync")
        sync(number)

    def noted(self: Memory, of: Item, file: str, size: int) -> None:
        steps.append("note")
        note(self, of, file, size)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Memory, "note_page", noted)
    room.article("/a", "a")
    desk.read([room.publish("/feed", item(f"{room.url}/a", "a"))])

    assert ["sync", "note"] == steps[:2]


@pytest.mark.parametrize(
    ("description", "page", "named"),
    [("x" * 90_000, b"<p>b", "memory.sqlite"), ("", b"<p>" + os.urandom(90_000).hex().encode(), "state/open")],
    ids=["memory", "archive"],
)
def test_a_full_disk_is_named_and_loses_nothing(
    room: Newsroom, desk: Desk, description: str, page: bytes, named: str
) -> None:
    """Of the memory, or of the open WARC file: the run ends with an error of one line, and the next has every page."""
    desk.read([])
    room.pages["/b"] = (page, "text/html")
    room.article("/a", "a")
    links = [item(f"{room.url}/{name}", name, description=description) for name in "ab"]
    with full_disk(70_000), pytest.raises(OutputError, match=f"{named}: .*; make room"):
        desk.read([room.publish("/feed", *links)])
    desk.read([f"{room.url}/feed"])

    assert [f"{room.url}/a", f"{room.url}/b"] == sorted(url for url, _ in captured(desk))


STYLED = """<html><head><base href="/media/"><link rel="Stylesheet" href="page.css"><link rel="next" href="/b"></head>
<p>Of a<img src="harbour.png"><img src="data:image/gif;base64,R0lG"><img src="blank.gif" data-src="/ship.png#top"></p>
<img src="harbour.png"><img src="/one-too-many.png"></html>"""


def archived(desk: Desk) -> dict[tuple[str, str], bytes]:
    """Return the bodies of all records, by type and URL."""
    found = {}
    for file in desk.files():
        for one in ArchiveIterator(io.BytesIO(file.read_bytes()), check_digests="raise"):
            found[one.rec_type, one.rec_headers.get_header("WARC-Target-URI")] = one.content_stream().read()
    return found


def requisites_of(room: Newsroom) -> list[str]:
    return [path for path in room.paths() if path.startswith(("/media/", "/ship", "/one"))]


def test_requisites_of_a_page_are_fetched_with_it(room: Newsroom, desk: Desk) -> None:
    """As many as are asked for, each once, whatever its type; where they are from stands in the record."""
    room.pages |= {f"/{path}": (STYLED.encode(), "text/html") for path in "ab"}
    room.pages["/media/page.css"] = (b"p {}", "text/css")
    room.pages["/media/harbour.png"] = (b"\x89PNG\r\n\x1a\n", "image/png")
    feed = room.publish("/feed", item(f"{room.url}/a", "a"), item(f"{room.url}/b", "b"))
    counts = desk.read([feed], "acquire.page_requisites=3")

    assert ["/media/page.css", "/media/harbour.png", "/ship.png"] == requisites_of(room)
    assert {"polls": 1, "items": 2, "pages": 2, "requisites": 3, "files": 1} == counts
    bodies = archived(desk)
    assert b"\x89PNG\r\n\x1a\n" == bodies["response", f"{room.url}/media/harbour.png"]
    assert f"via: {room.url}/a\r\nhopsFromSeed: E\r\n" in bodies["metadata", f"{room.url}/ship.png"].decode()


def test_no_requisite_is_fetched_unless_it_is_asked_for(room: Newsroom, desk: Desk) -> None:
    """Text needs none. Nor does an error page."""
    room.pages["/a"] = (STYLED.encode(), "text/html")
    desk.read([room.publish("/feed", item(f"{room.url}/a", "a"), item(f"{room.url}/none", "n"))])

    assert [] == requisites_of(room)


def test_requisites_that_are_left_are_fetched_by_the_next_run(room: Newsroom, desk: Desk) -> None:
    """Stopped behind the page: nothing of it is asked for again."""
    room.pages["/a"] = (STYLED.encode(), "text/html")
    room.answers["/media/harbour.png"] = [(503, {"Retry-After": "1"})]
    feed = room.publish("/feed", item(f"{room.url}/a", "a"))
    desk.read([feed], "acquire.page_requisites=2")
    time.sleep(1.1)
    desk.read([feed], "acquire.page_requisites=2")

    assert ["/media/page.css", *["/media/harbour.png"] * 2] == requisites_of(room)
    assert 1 == room.paths().count("/a")


@pytest.mark.parametrize("version", [4, 6])
def test_a_memory_of_another_version_is_refused(desk: Desk, version: int) -> None:
    """The error names both versions, and the option that begins another one."""
    path = desk.folder / "memory.sqlite"
    with closing(sqlite3.connect(path)) as store:
        store.execute(f"PRAGMA user_version = {version}")

    with pytest.raises(OutputError, match=f"is of version {version}, this program has 5: give another --state"):
        Memory(path)


def test_a_memory_that_a_disk_has_changed_is_named(room: Newsroom, desk: Desk) -> None:
    """A page of its tables is changed while it is at work."""
    room.article("/a", "a")
    feed = room.publish("/feed", item(f"{room.url}/a", "a"))
    desk.read([feed])
    kept = desk.folder / "state/memory.sqlite"
    kept.write_bytes(kept.read_bytes()[:4096] + b"\xff" * 4096 + kept.read_bytes()[8192:])

    with pytest.raises(OutputError, match=r"memory\.sqlite: database disk image is malformed; .* put back"):
        desk.read([feed])


def test_a_page_waits_as_long_as_its_server_asks(room: Newsroom, desk: Desk) -> None:
    """Also where the reader was stopped and begun again in the meantime."""
    room.answers["/a"] = [(503, {"Retry-After": "7200"})]
    desk.read([room.publish("/feed", item(f"{room.url}/a", "a"))])
    with Memory(desk.folder / "state" / "memory.sqlite") as memory:
        (waiting,) = memory.waiting()

    assert 7000 < waiting.next_at - time.time() <= 7200


def test_items_of_a_feed_that_is_as_it_was_are_remembered(
    room: Newsroom, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that nothing has changed shows the items of the last one again, and none that had gone before that."""
    room.article("/a", "a")
    room.article("/b", "b")
    feed = room.publish("/feed", item(f"{room.url}/a", "a"))
    desk.read([feed])
    room.publish("/feed", item(f"{room.url}/b", "b"))
    desk.read([feed])
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 1.5 * 86_400)
    unchanged = desk.read([feed])
    desk.read([], "acquire.remember_days=1", stops=lambda: True)

    assert {"polls": 1, "unchanged": 1} == unchanged
    assert {ItemStatus.KEPT: 1} == desk.items()


def test_what_no_feed_shows_any_more_is_forgotten(room: Newsroom, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """After as many days as are configured, and no page that is still to be fetched."""
    room.article("/a", "a")
    room.answers["/b"] = [(503, {"Retry-After": "86400"})]
    desk.read([room.publish("/feed", *(item(f"{room.url}/{name}", name) for name in "ab"))])
    held, now = desk.items(), time.time
    monkeypatch.setattr(time, "time", lambda: now() + 1.5 * 86_400)
    desk.read([], "acquire.remember_days=2", stops=lambda: True)
    held_in_time = desk.items()
    desk.read([], "acquire.remember_days=1", stops=lambda: True)

    assert {ItemStatus.KEPT: 1, ItemStatus.WAITING: 1} == held == held_in_time
    assert {ItemStatus.WAITING: 1} == desk.items()
