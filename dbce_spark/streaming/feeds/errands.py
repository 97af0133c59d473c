"""Run the errands of a reader of feeds, each in a thread of its own: one request, and what is read from its answer."""

from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread

from dbce_spark.archive.content_coding import BodyError
from dbce_spark.archive.mime import declared_type, is_sniffed
from dbce_spark.config import DbceConfig
from dbce_spark.streaming.feeds import feed_parser, requisites
from dbce_spark.streaming.feeds.feed_memory import FeedState, WaitingItem
from dbce_spark.streaming.feeds.feed_parser import Feed, NotAFeed
from dbce_spark.streaming.feeds.robots import origin
from dbce_spark.streaming.feeds.web_exchange import WebExchange, decode_body
from dbce_spark.streaming.feeds.web_request import Unreachable, Web

_BROKEN_OFF = ("time", "disconnect")
"""The reasons of WARC-Truncated for which the rest of an answer may hold anything: more rules, or more items."""


@dataclass(frozen=True, slots=True)
class Errand:
    """One request to make: of a feed, a page, or, if it is neither, a robots.txt; and the redirects that led to it."""

    url: str
    feed: FeedState | None = None
    page: WaitingItem | None = None
    redirects: tuple[WebExchange, ...] = ()

    @property
    def is_robots(self) -> bool:
        return self.feed is None and self.page is None

    @property
    def first_origin(self) -> str:
        """Return the origin of the request before all redirects."""
        return origin(self.redirects[0].url if self.redirects else self.url)


@dataclass(frozen=True, slots=True)
class ErrandResult:
    """The result of one request: an answer, with the feed in it if it was one, or the URLs of a page's requisites; or
    the reason why there is none."""

    errand: Errand
    exchange: WebExchange | None = None
    feed: Feed | None = None
    detail: str = ""
    requisites: tuple[str, ...] = ()

    @property
    def failure(self) -> str:
        """Return the reason why the request failed."""
        return self.detail or (f"HTTP {self.exchange.status}" if self.exchange else "no answer")


class ErrandRunner:
    """Runs errands. It holds nothing that one of them changes."""

    def __init__(self, config: DbceConfig):
        self._config, self._mimes = config.acquire, config.input.mimes
        self._web = Web(config.acquire)

    def begin(self, errand: Errand) -> Future[ErrandResult]:
        """Run one request in a thread of its own, which does not keep the process from ending."""
        future: Future[ErrandResult] = Future()
        Thread(target=lambda: future.set_result(self._run(errand)), daemon=True).start()
        return future

    def _run(self, errand: Errand) -> ErrandResult:
        """Run one request. Whatever a server answers, there is a result."""
        config = self._config
        is_for_page = errand.page is not None and not errand.page.item.page
        try:
            exchange = self._web.fetch(
                errand.url,
                headers=_conditions(errand),
                max_bytes=config.robots_bytes if errand.is_robots else config.max_bytes,
                wants=self.is_page if is_for_page else lambda _: True,
            )
            if errand.page is None and exchange.cut in _BROKEN_OFF:
                raise Unreachable(f"{errand.url}: the answer broke off: {exchange.cut}")
            if is_for_page and exchange.status == 200:
                return ErrandResult(errand, exchange, requisites=self._requisites(exchange))
            if errand.feed is None or exchange.status != 200:
                return ErrandResult(errand, exchange)
            body = decode_body(exchange, config.feed_bytes)
            found = feed_parser.parse(body, exchange.header("content-type"), exchange.url, most_items=config.feed_items)
            return ErrandResult(errand, exchange, feed=found)
        except (NotAFeed, BodyError) as error:
            return ErrandResult(errand, exchange, detail=str(error))
        except Unreachable as error:
            return ErrandResult(errand, detail=str(error))
        except Exception as error:
            return ErrandResult(errand, detail=f"{errand.url}: {type(error).__name__}: {error}"[:300])

    def _requisites(self, exchange: WebExchange) -> tuple[str, ...]:
        """Find what a page needs to be shown, as far as that is wanted."""
        if not self._config.page_requisites:
            return ()
        try:
            body = decode_body(exchange, self._config.max_bytes)
        except BodyError:  # the page is kept as it was sent
            return ()
        charset = declared_type(exchange.header("content-type")).charset
        return tuple(requisites.find(body, charset, exchange.url, self._config.page_requisites))

    def is_page(self, content_type: str) -> bool:
        """Return whether an answer of this type can be a page."""
        essence = declared_type(content_type).essence
        return essence in self._mimes or is_sniffed(essence)


def _conditions(errand: Errand) -> dict[str, str]:
    """Return the headers that make a request for a feed conditional on a change."""
    feed = errand.feed
    if feed is None:
        return {}
    headers = {"If-None-Match": feed.etag, "If-Modified-Since": feed.modified}
    return {name: value for name, value in headers.items() if value}
