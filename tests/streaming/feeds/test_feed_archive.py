"""Write WARC records of anything that servers and feeds send."""

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from dbce_spark.archive import warc
from dbce_spark.streaming.feeds.feed_archive import FeedArchive
from dbce_spark.streaming.feeds.feed_item import Item
from dbce_spark.streaming.feeds.web_exchange import WebExchange
from tests.support.builders import read

LATIN = st.text(st.characters(min_codepoint=32, max_codepoint=255, blacklist_characters="\x7f\x85\xa0"), max_size=20)
"""What a header can have by the time that it was read: latin-1 in one line."""


def exchange(status: int = 200, reason: str = "OK", body: bytes = b"<p>A word</p>", **headers: str) -> WebExchange:
    pairs = [("Content-Type", "text/html"), *((name.replace("_", "-"), value) for name, value in headers.items())]
    return WebExchange(
        url="http://example.org/a",
        request_headers=(("Host", "example.org"),),
        began=datetime(2020, 1, 2, tzinfo=UTC),
        status=status,
        reason=reason,
        headers=(*pairs, ("Content-Length", str(len(body)))),
        body=body,
        cut="",
    )


@given(LATIN, LATIN, st.text(max_size=20), st.text(max_size=20), st.binary(max_size=20))
def test_whatever_is_said_a_page_is_read_back(reason: str, header: str, title: str, text: str, more: bytes) -> None:
    """A page is read back as one capture with its body and the feed's title in one line, whatever headers, titles and
    descriptions hold."""
    item = Item(feed="http://example.org/rss", link="http://example.org/a", title=title, description=text, date=text)
    body = b"<p>A word</p>" + more
    with TemporaryDirectory() as folder:
        archive = FeedArchive(Path(folder, "state", "open"), folder, "dbce-acquire")
        size = archive.write(item, [exchange(reason=reason, body=body, X_Any=header)])
        name = archive.close()
        archive.hand_over(name, size)
        found = [one for one in read(Path(folder, name)) if isinstance(one, warc.Fetch)]

    assert [body] == [one.html for one in found]
    printable = "".join(letter if letter.isprintable() else " " for letter in title)
    assert " ".join(printable.split()) == found[0].capture.item_title
    assert "http://example.org/a" == found[0].capture.item_link


def test_a_record_is_of_the_time_at_which_its_request_began(tmp_path: Path) -> None:
    """And of the page that was asked for; only the record of the file is of its own."""
    archive = FeedArchive(tmp_path / "open", str(tmp_path / "out"), "dbce-acquire")
    item = Item(feed="http://example.org/rss", link="http://example.org/a", title="", description="", date="")
    size = archive.write(item, [exchange()])
    name = archive.close()
    archive.hand_over(name, size)
    with (tmp_path / "out" / name).open("rb") as stream:
        _, *found = [one.rec_headers for one in ArchiveIterator(stream)]

    assert {("2020-01-02T00:00:00Z", "http://example.org/a")} == {
        (one.get_header("WARC-Date")[:19] + "Z", one.get_header("WARC-Target-URI")) for one in found
    }


@pytest.mark.parametrize("location", ["http://[", "javascript:alert(1)", " "])
def test_a_redirect_to_nowhere_is_none(location: str) -> None:
    """A redirect without a usable target is an answer like any other."""
    assert "" == exchange(status=302, Location=location).redirect


@pytest.mark.parametrize(
    ("retry_after", "seconds"), [("120", 120.0), ("\xb2", 0.0), ("soon", 0.0), ("", 0.0), ("-3", 0.0)]
)
def test_how_long_a_server_asks_to_be_left_alone(retry_after: str, seconds: float) -> None:
    """Retry-After counts only if it is a number of ASCII digits."""
    assert seconds == exchange(status=429, Retry_After=retry_after).retry_seconds
