"""Reading and parsing where a page that never ends, or ends its process, costs no more than itself.

C code can be stopped only with its process. The first attempt at a task works in the worker itself, under a timer of
the kernel: that costs nothing, and what computes too long ends the worker. A later attempt, by which Spark answers the
end of a worker for whatever reason, has its pages parsed in a process that can be spared. If a worker ends again, it
was reading, and the next attempt reads in such a process, too. Rows are the same in each.
"""

import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import Generic, Self, TypeVar

from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.pages import KeepHtml, Source, fetches, parse_fetch, parsed_pages
from dbce_spark.errors import DbceError, exit_name
from dbce_spark.files import sources
from dbce_spark.html.charset import decode
from dbce_spark.model import Capture, Page, Reject, RejectReason, RejectStage, Revisit, Skip

In = TypeVar("In")
Out = TypeVar("Out")
ReadRecord = Fetch | Revisit | Reject | Skip

_PATIENCE = 10
"""The seconds by the clock that a page may take for each that it may compute: a machine can be that busy, or swap. A
process that takes longer waits for what never comes."""

_ANY_PAGE = Fetch(
    Capture(
        url="http://example.org/",
        url_key="org,example)/",
        site="example.org",
        timestamp=0,
        warc_file="",
        warc_offset=0,
        warc_length=0,
        record_id="",
        payload_digest="",
        http_status=200,
        mime="text/html",
        declared_charset="",
        truncated=False,
    ),
    b"<title>a</title><h1>b</h1><ul><li>c<ol><li>d</ol></ul><table><tr><td>e<p>f</table><pre>g</pre><b>h<i>j</i></b>",
)
"""Has enough in it to be signed and to have page features."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The records of one source, and what makes pages of fetched captures and keeps their HTML: as `fetches` and
    `parsed_pages`."""

    records: Iterator[ReadRecord]
    pages: Callable[[Sequence[Fetch], KeepHtml], Iterable[Page | Reject]]


@contextmanager
def reading(source: Source, config: DbceConfig, attempt: int | None) -> Iterator[Reading]:
    """Open a source for the nth attempt (from 0) at a task. None: no task, and nothing may end this process."""
    records, seconds = fetches(source, config), config.page.max_seconds

    def in_place(captures: Sequence[Fetch], keep_html: KeepHtml) -> Iterable[Page | Reject]:
        return parsed_pages(captures, config, keep_html)

    if attempt is None:
        yield Reading(records, in_place)
        return
    if attempt == 0:
        with timer(seconds):
            yield Reading(_timed(records, seconds), in_place)
        return
    with parser(config) as one_parser:
        apart = partial(_kept_apart, one_parser)
        if attempt == 1:
            with timer(seconds):
                yield Reading(_timed(records, seconds), apart)
        else:
            with Sandbox[int, ReadRecord | None](
                partial(nth_record, enumerate(_timed(records, seconds))), seconds
            ) as reader:
                yield Reading(records_apart(reader, source), apart)


def load_parser(config: DbceConfig) -> None:
    """Load what a first page loads, so that no process that is forked does it on a page's time."""
    parse_fetch(_ANY_PAGE, config)


def parser(config: DbceConfig) -> "Sandbox[Fetch, Page | Reject]":
    """Make the sandbox in which pages are parsed."""
    load_parser(config)
    seconds = config.page.max_seconds
    return Sandbox(partial(parse_fetch, config=config), seconds, patience=_PATIENCE * seconds)


@contextmanager
def timer(seconds: float) -> Iterator[None]:
    """End this process within the block, by SIGPROF and whatever C code it is in, once it has computed for so many
    seconds since the block began, or since `set_timer`.

    Of processor time, not of the clock: to wait for storage is no work, and which page goes too far must not depend on
    how busy the machine is.
    """
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})
    set_timer(seconds)
    try:
        yield
    finally:
        set_timer(0)


def set_timer(seconds: float) -> None:
    """Give this process so many seconds from now on; 0: as many as it likes."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _timed(records: Iterator[ReadRecord], seconds: float) -> Iterator[ReadRecord]:
    """Pass on records; each has the whole time, and so has what is done with it until the next is taken."""
    for one in records:
        set_timer(seconds)
        yield one


class Lost(Exception):
    """The process that worked on something is no more."""

    def __init__(self, reason: RejectReason, detail: str):
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Child:
    process: ForkProcess
    pipe: Connection

    def end(self) -> int | None:
        """End it, if it has not ended; return its exit code."""
        self.pipe.close()
        self.process.kill()
        self.process.join()
        return self.process.exitcode


class Sandbox(Generic[In, Out]):
    """A process that does some work again and again; started when first needed, and again after it was lost.

    It is forked: it has the work, and all that is loaded, without sending anything. `seconds` are what one piece of
    work may take of the processor, `patience` what it may take by the clock (None: for ever).
    """

    def __init__(self, work: Callable[[In], Out], seconds: float, *, patience: float | None = None):
        self._work = work
        self._seconds = seconds
        self._patience = patience
        self._running: _Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def result(self, what: In) -> Out:
        """Do one piece of work, at the second try if the first ends the process: another cause may have.

        Raises:
            Lost: the process ended over it twice, or was ended because it took too long; or the work raised what no
                work should.
            DbceError: the work raised it.
        """
        try:
            return self._once(what)
        except Lost as lost:
            if lost.reason is not RejectReason.KILLED_WORKER:
                raise
            return self._once(what)

    def _once(self, what: In) -> Out:
        running = self._running or self._start()
        try:
            running.pipe.send(what)
            if not running.pipe.poll(self._patience):
                self._stop()
                raise Lost(RejectReason.PAGE_TIMEOUT, f"no answer after {self._patience:g} s")
            done: Out
            done, error = running.pipe.recv()
        except (EOFError, OSError):
            raise self._lost(self._stop()) from None
        if isinstance(error, DbceError):
            raise error
        if error is not None:
            self._stop()
            raise Lost(RejectReason.KILLED_WORKER, error)
        return done

    def _start(self) -> _Child:
        context = multiprocessing.get_context("fork")
        near, far = context.Pipe()
        process = context.Process(target=_serve, args=(far, near, self._work, self._seconds), daemon=True)
        with warnings.catch_warnings():
            # Python 3.12 and newer warn of threads; those that a worker has (Arrow's) hold no lock that parsing takes.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        far.close()
        self._running = _Child(process, near)
        return self._running

    def _stop(self) -> int | None:
        code = None if self._running is None else self._running.end()
        self._running = None
        return code

    def _lost(self, code: int | None) -> Lost:
        if code == -signal.SIGPROF:
            return Lost(
                RejectReason.PAGE_TIMEOUT, f"more than {self._seconds:g} s of computing, which is page.max_seconds"
            )
        return Lost(RejectReason.KILLED_WORKER, f"its process ended with {exit_name(code)}")


def _serve(pipe: Connection, near: Connection, work: Callable[[In], Out], seconds: float) -> None:
    """Do work in the process until the other side is gone."""
    near.close()  # or it would not see that the other side is gone
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other side gets it too, and is gone then
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        try:
            what = pipe.recv()
        except (EOFError, OSError):
            return
        done: Out | None = None
        error: DbceError | str | None = None
        try:
            with timer(seconds):
                done = work(what)
        except DbceError as of_run:
            error = of_run
        except Exception as fault:  # such as MemoryError: in the worker it would end the task
            error = f"{type(fault).__name__}: {fault}"[:300]
        try:
            pipe.send((done, error))
        except OSError:  # the other side was killed while this one worked
            return


def pages_apart(parser: Sandbox[Fetch, Page | Reject], lot: Sequence[Fetch]) -> list[Page | Reject]:
    """Parse fetched captures, each by itself in a process of its own."""
    return [_page_apart(parser, fetch) for fetch in lot]


def _kept_apart(
    parser: Sandbox[Fetch, Page | Reject], captures: Sequence[Fetch], keep_html: KeepHtml
) -> Iterator[Page | Reject]:
    for fetch in captures:
        outcome = _page_apart(parser, fetch)
        if isinstance(outcome, Page):
            keep_html(decode(fetch.html, fetch.capture.declared_charset).html)
        yield outcome


def _page_apart(parser: Sandbox[Fetch, Page | Reject], fetch: Fetch) -> Page | Reject:
    try:
        return parser.result(fetch)
    except Lost as lost:
        return Reject.of_record(fetch.capture, RejectStage.PAGE, lost.reason, str(lost))


def nth_record(records: Iterator[tuple[int, ReadRecord]], number: int) -> ReadRecord | None:
    """Return a record by its number, None behind the last. A new reader finds the place again."""
    return next((one for at, one in records if at == number), None)


def records_apart(reader: Sandbox[int, ReadRecord | None], source: Source) -> Iterator[ReadRecord]:
    """Iterate over the records of one source, read in a process of its own; where that is lost, one reject."""
    last: Fetch | Revisit | Reject | None = None
    for number in count():
        try:
            record = reader.result(number)
        except Lost as lost:
            yield _rest(source, last, lost)
            return
        if record is None:
            return
        if not isinstance(record, Skip):
            last = record
        yield record


def _rest(source: Source, last: Fetch | Revisit | Reject | None, lost: Lost) -> Reject:
    """Make the reject of all that lies behind the last record that has a place."""
    place = last.capture if isinstance(last, Fetch) else last
    whole = source if isinstance(source, str) else source[0].path
    # Of a WACZ the place is in a file within it.
    file, offset = (place.warc_file, max(0, place.warc_offset)) if place is not None else (whole, 0)
    detail = f"{lost}; what lies behind the record at {offset} is not read"
    size = sources.size(source) if isinstance(source, str) else 0
    # A place that is further than the source is long is in a deflated file, of which it does not tell the stored share.
    behind = size - offset if offset < size else size
    return Reject(warc_file=file, stage=RejectStage.READ, reason=lost.reason, detail=detail, lost_bytes=behind)
