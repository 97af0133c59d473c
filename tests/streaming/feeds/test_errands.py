"""The result of one request: an answer, or the reason why there is none."""

from collections.abc import Iterator

import pytest

from dbce_spark.streaming.feeds.errands import Errand, ErrandResult, ErrandRunner
from dbce_spark.streaming.feeds.feed_item import Item
from dbce_spark.streaming.feeds.feed_memory import FeedState, WaitingItem
from tests.support import newsroom as news
from tests.support.builders import config
from tests.support.newsroom import Newsroom


@pytest.fixture
def broken() -> Iterator[Newsroom]:
    """Open a server of which every answer breaks off."""
    with news.newsroom() as room:
        room.pages["/robots.txt"] = (b"User-agent: *\nDisallow: /", "text/plain")
        room.publish("/rss", news.item(f"{room.url}/a", "A"))
        room.article("/a", "Of a")
        room.broken.update(room.pages)
        yield room


def run(errand: Errand) -> ErrandResult:
    return ErrandRunner(config("acquire.private_addresses=true")).begin(errand).result(timeout=30)


def test_rules_and_feeds_that_break_off_are_no_answer(broken: Newsroom) -> None:
    """Half of the rules would allow too much, and behind half of a feed its other items would stay unseen."""
    feed = f"{broken.url}/rss"
    results = [run(Errand(f"{broken.url}/robots.txt")), run(Errand(feed, feed=FeedState(url=feed)))]

    assert [None, None] == [one.exchange for one in results]
    for one in results:
        assert f"{one.errand.url}: the answer broke off: disconnect" == one.failure


def test_a_page_that_breaks_off_is_kept_as_cut(broken: Newsroom) -> None:
    """Its record says that it is not whole."""
    link = f"{broken.url}/a"
    item = Item(feed="", link=link, title="", description="", date="")
    exchange = run(Errand(link, page=WaitingItem(item=item))).exchange

    assert exchange is not None
    assert (200, "disconnect") == (exchange.status, exchange.cut)
