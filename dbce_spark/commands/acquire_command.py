"""`dbce acquire`."""

import argparse
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from dbce_spark import config as configuration
from dbce_spark import log
from dbce_spark.commands.arguments import add_log, told_to
from dbce_spark.errors import InputError
from dbce_spark.files import sources
from dbce_spark.log import Log

_LINE_SECONDS = 30.0
"""Between two lines that say how far it is."""
_TOLD = ("polls", "unchanged", "failed_polls", "items", "pages", "redirects", "retries", "refused", "failed", "files")


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds it to the commands of `dbce`."""
    command = commands.add_parser(
        "acquire",
        help="poll feeds, and write the pages that they link to as WARC files",
        description="Poll RSS, Atom and RDF feeds, and write the pages that they link to as WARC files, for `dbce"
        " stream` (docs/streaming.md). Runs until it is stopped by Ctrl-C or SIGTERM; the same command resumes it.",
    )
    command.add_argument(
        "feed",
        nargs="+",
        metavar="FEED",
        help="poll the feed of this URL, or the feeds in @FILE, one on each line; # begins a comment",
    )
    command.add_argument(
        "--output",
        required=True,
        metavar="DIR",
        help="write finished WARC files to this folder, or URL such as s3://bucket/name",
    )
    command.add_argument(
        "--state", required=True, metavar="DIR", help="keep the state and the unfinished WARC file in this folder"
    )
    command.add_argument(
        "--once", action="store_true", help="poll the feeds that are due, fetch the pages that are due, and stop"
    )
    command.add_argument(
        "--config",
        metavar="FILE",
        help="read parameters from this TOML file; those that it leaves out keep their values in conf/dbce.toml",
    )
    command.add_argument(
        "--set", action="append", default=[], metavar="SECTION.NAME=VALUE", dest="settings",
        help="set one parameter of conf/dbce.toml, such as acquire.poll_seconds=300; may be repeated",
    )  # fmt: skip
    add_log(command)
    command.set_defaults(run=_acquire_and_tell)


def _acquire_and_tell(arguments: argparse.Namespace) -> None:
    told = Log(command="dbce acquire", stage="acquire")
    with told_to(arguments, told):
        _acquire(arguments, told)


def _acquire(arguments: argparse.Namespace, told: Log) -> None:
    config = configuration.load(arguments.config, arguments.settings)
    urls = _urls(arguments.feed)
    from dbce_spark.streaming.feeds.feed_archive import FeedArchive
    from dbce_spark.streaming.feeds.feed_memory import Memory
    from dbce_spark.streaming.feeds.feed_reader import Reader

    state = Path(arguments.state)
    with Memory(state / "memory.sqlite") as memory, _stopping() as stops:
        archive = FeedArchive(state / "open", sources.absolute(arguments.output), config.acquire.user_agent)
        reader = Reader(
            urls, memory, archive, config.acquire, config.input.mimes, lambda text: told.write("warning", text)
        )
        told.write("start", f"{len(urls):,} feeds are polled", {"feeds": len(urls), "items": memory.counts()})
        with log.repeat(_LINE_SECONDS, lambda: told.write("progress", _line(reader.counts), dict(reader.counts))):
            reader.run(stops=stops, once=arguments.once)
        told.write("end", f"ended: {_line(reader.counts)}", dict(reader.counts) | {"of_all": memory.counts()})
        print(_line(reader.counts))


def _line(counts: Counter[str]) -> str:
    """What was done, without what was not."""
    return ", ".join(f"{counts[name]:,} {name.replace('_', ' ')}" for name in _TOLD if counts[name]) or "nothing"


def _urls(arguments: Sequence[str]) -> list[str]:
    """Feeds by their arguments, each once."""
    urls: list[str] = []
    for argument in arguments:
        if argument.startswith("@"):
            urls += _urls(_listed(argument[1:]))
        elif argument.lower().startswith(("http://", "https://")):
            urls.append(argument)
        else:
            raise InputError(f"{argument}: is no URL of a feed; write http://... or https://..., or @FILE")
    return list(dict.fromkeys(urls))


def _listed(path: str) -> list[str]:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"@{path}: cannot be read: {error}") from error
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Within the block a signal to stop is only noted: the open file is to be handed over. A second one is obeyed."""
    heard: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        if heard:
            raise KeyboardInterrupt
        heard.append(number)

    before = [(number, signal.signal(number, note)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield lambda: bool(heard)
    finally:
        for number, handler in before:
            signal.signal(number, handler)
