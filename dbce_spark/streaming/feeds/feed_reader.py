"""Poll feeds and fetch the pages they link to, with one request at a time to each host.

One thread decides and writes; the others do nothing but send requests. The memory holds what is left to do: a reader
that was killed goes on with it.
"""

import heapq
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from itertools import count
from urllib.parse import urlsplit

from dbce_spark.archive.content_coding import BodyError
from dbce_spark.archive.http_message import NOT_MODIFIED
from dbce_spark.config import DbceConfig
from dbce_spark.errors import DbceError
from dbce_spark.streaming.feeds.errands import Errand, ErrandResult, ErrandRunner
from dbce_spark.streaming.feeds.feed_archive import FeedArchive
from dbce_spark.streaming.feeds.feed_item import Item
from dbce_spark.streaming.feeds.feed_memory import FeedState, ItemStatus, Memory, WaitingItem
from dbce_spark.streaming.feeds.robots import Robots, RobotsCache, origin
from dbce_spark.streaming.feeds.web_exchange import WebExchange, decode_body, encode_url

_TICK_SECONDS = 0.2
"""Seconds between two looks at the clock while nothing ends."""
_LAST_SECONDS = 1.0
"""Seconds that answers which are under way have when the reader is stopped."""
_DAY = 86_400.0
"""Seconds."""
_GONE = 410
"""The status of what will not come back."""


@dataclass(slots=True)
class _Host:
    """The queue of requests to a host. Times are seconds since 1970."""

    queue: deque[Errand] = field(default_factory=deque)
    is_busy: bool = False
    free_at: float = 0.0  # after the pause behind the last answer
    closed_until: float = 0.0  # its answer has set this time, by Retry-After
    delay: float = 0.0  # by its robots.txt

    def is_needed(self, now: float) -> bool:
        """Return whether it has something to do, or to wait for."""
        return bool(self.queue) or self.is_busy or max(self.free_at, self.closed_until) > now


class Reader:
    """Polls `urls`; `warn` is called with each failure."""

    def __init__(
        self,
        urls: Iterable[str],
        memory: Memory,
        archive: FeedArchive,
        config: DbceConfig,
        warn: Callable[[str], object],
    ):
        self._memory, self._archive, self._warn = memory, archive, warn
        self._config, self._runner = config.acquire, ErrandRunner(config)
        self._hosts: dict[str, _Host] = {}
        self._robots = RobotsCache(config.acquire)
        self._reading: set[str] = set()  # origins whose robots.txt is under way, be it at a host it redirects to
        self._running: set[Future[ErrandResult]] = set()
        self._later: list[tuple[float, int, Errand]] = []
        self._numbers = count()
        self._polls_again = True
        self.counts: Counter[str] = Counter()
        """Counts by name: polls, unchanged, items, pages, requisites, redirects, refused, failed, retries, files."""
        self._feeds = [*dict.fromkeys(urls)]

    def run(self, *, stops: Callable[[], bool], once: bool) -> None:
        """Work until `stops` returns True or nothing is left to do. There is always more as long as a feed is not gone.

        With `once`, work only until every feed was polled and nothing is left that can be done now. Files that an
        earlier run has left are handed over first, and its own before this ends.
        """
        self._hand_over_left()
        self._polls_again = not once
        for feed in (self._memory.feed(url) for url in self._feeds):
            if not feed.is_gone:
                self._put_off(self._due(feed.next_at), Errand(encode_url(feed.url), feed=feed))
        for waiting in self._memory.waiting():
            self._put_off(self._due(waiting.next_at), Errand(encode_url(waiting.item.link), page=waiting))
        self._forget()
        while self._has_work() and not stops() and not (once and self._is_done()):
            self._send()
            ended, self._running = wait(self._running, _TICK_SECONDS, FIRST_COMPLETED)
            if not self._running and not ended:
                time.sleep(_TICK_SECONDS)
            for one in ended:
                self._settle(one.result())
            self._roll()
        # What has no answer by then is left to the next run, which the memory tells of it.
        for one in wait(self._running, _LAST_SECONDS).done:
            self._settle(one.result())
        self._hand_over()

    def _hand_over_left(self) -> None:
        """Hand over the files that an earlier run has left, as far as they are noted."""
        for name, size in self._memory.files().items():
            self._archive.hand_over(name, size)
            self._memory.drop_file(name)
            self.counts["files"] += 1
        self._archive.clear()

    def _due(self, noted_at: float) -> float:
        """Return when an errand that an earlier run has put off is due: now if that is further off than any wait, as
        where the clock was ahead then."""
        return noted_at if noted_at <= time.time() + self._config.max_poll_seconds else 0.0

    def _has_work(self) -> bool:
        """Return whether something is left, if not now: a feed is never done, unless it is gone."""
        return bool(self._later or self._running or any(host.queue for host in self._hosts.values()))

    def _is_done(self) -> bool:
        """Return whether nothing is under way, nothing is due, and hosts with a queue are all closed for a time."""
        now = time.time()
        is_due = bool(self._later) and self._later[0][0] <= now
        return not (self._running or is_due or any(self._is_open(one, now) for one in self._hosts.values()))

    def _is_open(self, host: _Host, now: float) -> bool:
        """Return whether a host has a queue that waits neither for a time nor for another host."""
        if not host.queue or host.closed_until > now:
            return False
        return host.queue[0].is_robots or origin(host.queue[0].url) not in self._reading

    def _put_off(self, at: float, errand: Errand) -> None:
        """Leave an errand until a time, seconds since 1970."""
        heapq.heappush(self._later, (at, next(self._numbers), errand))

    def _send(self) -> None:
        """Begin all errands that may be run now."""
        now = time.time()
        while self._later and self._later[0][0] <= now:
            self._queue(heapq.heappop(self._later)[2])
        self._hosts = {name: host for name, host in self._hosts.items() if host.is_needed(now)}
        for host in [*self._hosts.values()]:
            if len(self._running) >= self._config.hosts_together:
                return
            if host.queue and not host.is_busy and max(host.free_at, host.closed_until) <= now:
                errand = self._next_errand(host, now)
                if errand is not None:
                    host.is_busy = True
                    self._running.add(self._runner.begin(errand))

    def _queue(self, errand: Errand, *, first: bool = False) -> None:
        """Put an errand into the queue of its host, or give it up if its URL has none."""
        name = urlsplit(errand.url).hostname
        if not name:
            self._give_up(errand, ItemStatus.REFUSED, "no URL that can be asked for")
            return
        queue = self._hosts.setdefault(name, _Host()).queue
        (queue.appendleft if first else queue.append)(errand)

    def _next_errand(self, host: _Host, now: float) -> Errand | None:
        """Return the next errand of a host that its robots.txt allows; an errand for that file if it has not been
        read."""
        while host.queue:
            errand = host.queue.popleft()
            if errand.is_robots:
                return errand
            site = origin(errand.url)
            robots = self._robots.get(site, now)
            if robots is None:
                host.queue.appendleft(errand)
                if site in self._reading:
                    return None
                self._reading.add(site)
                return Errand(f"{site}/robots.txt")
            host.delay = robots.delay(self._config.user_agent)
            if robots.allows(errand.url, self._config.user_agent):
                return errand
            if robots.rules is None:
                self._retry(errand, f"{site}/robots.txt cannot be read: {robots.lack}", 0.0)
            else:
                self._give_up(errand, ItemStatus.REFUSED, f"{site}/robots.txt forbids {errand.url}")
        return None

    def _settle(self, result: ErrandResult) -> None:
        """Take a result; what a hostile answer breaks costs its own item only."""
        try:
            self._take(result)
        except (DbceError, OSError):  # of the machine, the output or the memory
            raise
        except Exception as error:
            self._give_up(result.errand, ItemStatus.FAILED, f"{type(error).__name__}: {error}"[:300])

    def _take(self, result: ErrandResult) -> None:
        """Do with a result what is to be done."""
        errand, exchange = result.errand, result.exchange
        now = time.time()
        host = self._hosts[urlsplit(errand.url).hostname or ""]
        host.is_busy = False
        host.free_at = now + max(self._config.delay_seconds, min(host.delay, self._config.max_delay_seconds))
        if exchange is not None and exchange.is_busy and exchange.retry_seconds:
            host.closed_until = now + min(exchange.retry_seconds, self._config.max_poll_seconds)
        if exchange is not None and exchange.redirect and len(errand.redirects) < self._config.max_redirects:
            self.counts["redirects"] += 1
            self._queue(replace(errand, url=exchange.redirect, redirects=(*errand.redirects, exchange)), first=True)
        elif errand.is_robots:
            self._keep_robots(result, now)
        elif errand.feed is not None:
            self._keep_feed(errand.feed, result, now)
        elif errand.page is not None:
            self._keep_page(errand.page, result)

    def _keep_robots(self, result: ErrandResult, now: float) -> None:
        errand, exchange = result.errand, result.exchange
        status, body, lack = 0, b"", result.failure
        if exchange is not None:
            try:
                body = decode_body(exchange, self._config.max_bytes)
                status = 404 if exchange.redirect else exchange.status
            except BodyError as error:
                lack = str(error)
        read = Robots.from_answer(status, body[: self._config.robots_bytes], now, lack)
        self._robots.keep(errand.first_origin, read, now)
        self._reading.discard(errand.first_origin)

    def _keep_feed(self, feed: FeedState, result: ErrandResult, now: float) -> None:
        exchange = result.exchange
        self.counts["polls"] += 1
        items: tuple[Item, ...] = ()
        if exchange is not None and exchange.status == NOT_MODIFIED:
            self.counts["unchanged"] += 1
            feed = self._rested(feed, now)
        elif exchange is not None and result.feed is not None:
            items = tuple(replace(item, feed=feed.url) for item in result.feed.items)
            etag, modified = exchange.header("etag"), exchange.header("last-modified")
            feed = replace(feed, etag=etag, modified=modified, answered_at=now, rest=result.feed.ttl_seconds)
            feed = self._rested(feed, now)
        else:
            feed = self._failed_poll(feed, result, now)
        new = self._memory.note_poll(feed, items, now)
        self.counts["items"] += len(new)
        for item in new:
            self._queue(Errand(encode_url(item.link), page=WaitingItem(item=item)))
        if self._polls_again and not feed.is_gone:
            self._put_off(feed.next_at, Errand(encode_url(feed.url), feed=feed))

    def _rested(self, feed: FeedState, now: float) -> FeedState:
        """Return a feed that has answered, to be polled again as the configuration says, or as rarely as it demands."""
        rest = min(self._config.max_poll_seconds, max(self._config.poll_seconds, feed.rest))
        return replace(feed, failures=0, next_at=now + rest)

    def _failed_poll(self, feed: FeedState, result: ErrandResult, now: float) -> FeedState:
        self.counts["failed_polls"] += 1
        self._warn(f"{feed.url}: {result.failure}")
        is_gone = result.exchange is not None and result.exchange.status == _GONE
        wanted = 0.0 if result.exchange is None else result.exchange.retry_seconds
        rest = max(self._config.poll_seconds * 2.0 ** min(feed.failures, 32), wanted)
        next_at = now + min(rest, self._config.max_poll_seconds)
        return replace(feed, failures=feed.failures + 1, is_gone=is_gone, next_at=next_at)

    def _keep_page(self, waiting: WaitingItem, result: ErrandResult) -> None:
        errand, exchange = result.errand, result.exchange
        if exchange is None or exchange.is_busy:
            self._retry(errand, result.failure, 0.0 if exchange is None else exchange.retry_seconds)
        elif exchange.redirect:
            self._give_up(
                errand, ItemStatus.FAILED, f"{exchange.url}: more than {self._config.max_redirects} redirects"
            )
        elif waiting.item.page:
            self._keep(waiting.item, [*errand.redirects, exchange])
            self.counts["requisites"] += 1
        elif 200 <= exchange.status < 300 and not self._runner.is_page(exchange.header("content-type")):
            self._give_up(errand, ItemStatus.REFUSED, f"{exchange.url} is {exchange.header('content-type')}")
        else:
            # Before the page is noted: a kill between would leave it without.
            for item in self._memory.note_listed(result.requisites, time.time(), page=exchange.url):
                self._queue(Errand(encode_url(item.link), page=WaitingItem(item=item)))
            self._keep(waiting.item, [*errand.redirects, exchange])
            self.counts["pages"] += 1

    def _keep(self, item: Item, exchanges: list[WebExchange]) -> None:
        size = self._archive.write(item, exchanges)
        self._memory.note_page(item, self._archive.name, size)

    def _retry(self, errand: Errand, detail: str, retry_seconds: float) -> None:
        """Put off an errand that failed, longer each time; a page only up to `attempts` times."""
        config, now = self._config, time.time()
        if errand.feed is not None:
            self._keep_feed(errand.feed, ErrandResult(errand, detail=detail), now)
            return
        assert errand.page is not None
        attempts = errand.page.attempts + 1
        if attempts >= config.attempts:
            self._give_up(errand, ItemStatus.FAILED, detail)
            return
        rest = min(max(config.first_wait_seconds * 2.0 ** (attempts - 1), retry_seconds), config.max_poll_seconds)
        waiting = replace(errand.page, attempts=attempts, next_at=now + rest)
        self._memory.note_retry(waiting, detail)
        self.counts["retries"] += 1
        self._put_off(waiting.next_at, Errand(encode_url(waiting.item.link), page=waiting))

    def _give_up(self, errand: Errand, status: ItemStatus, detail: str) -> None:
        """Give up a page for good, a feed or a robots.txt for now."""
        self.counts[str(status)] += 1
        if errand.page is not None:
            self._warn(f"{errand.page.item.link}: {status}: {detail}")
            self._memory.note_end(errand.page.item, status, detail)
        elif errand.feed is not None:
            self._keep_feed(errand.feed, ErrandResult(errand, detail=detail), time.time())
        else:
            self._keep_robots(ErrandResult(errand, detail=detail), time.time())

    def _roll(self) -> None:
        """Hand the open file over when it is large or old."""
        began = self._archive.began
        if began is None:
            return
        size = self._memory.files().get(self._archive.name, 0)
        if size >= self._config.file_bytes or time.time() - began.timestamp() >= self._config.file_seconds:
            self._hand_over()

    def _hand_over(self) -> None:
        name = self._archive.close()
        size = self._memory.files().get(name, 0)
        if size:
            self._archive.hand_over(name, size)
            self._memory.drop_file(name)
            self._archive.clear()
            self.counts["files"] += 1
            self._forget()

    def _forget(self) -> None:
        self._memory.forget(time.time() - self._config.remember_days * _DAY)
