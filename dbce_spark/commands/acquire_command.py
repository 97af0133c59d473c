"""`dbce acquire`."""

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import (
    add_config,
    add_log_format,
    add_output,
    add_settings,
    check_installed,
    local_path,
)
from dbce_spark.commands.command_parser import Commands, add_command
from dbce_spark.commands.signals import noted_signals
from dbce_spark.config import AcquireConfig
from dbce_spark.errors import InputError
from dbce_spark.files import sources, timestamps
from dbce_spark.log import Log, counted, repeat

if TYPE_CHECKING:
    from dbce_spark.streaming.feeds.feed_memory import FeedState

_LINE_SECONDS = 30.0
"""Between two lines that show how far it is."""
_SHOWN = (
    "polls",
    "unchanged",
    "failed_polls",
    "items",
    "pages",
    "requisites",
    "redirects",
    "retries",
    "refused",
    "failed",
    "files",
)


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = add_command(
        commands, "acquire", _run, "fetch pages that feeds or searches link to, or of a list, into WARC files"
    )
    command.set_defaults(resumes=True)
    command.add_argument(
        "feed",
        nargs="*",
        metavar="FEED",
        help="poll the feed of this URL, or the feeds in @FILE, one on each line; # begins a comment",
    )
    command.add_argument(
        "--page-urls",
        nargs="+",
        default=[],
        metavar="URL",
        help="fetch the page of this URL, or the pages in @FILE, each once",
    )
    command.add_argument(
        "--search",
        default="",
        metavar="URL",
        help="poll searches for seed words too: the address of a search engine's feed, with {words} where they belong",
    )
    command.add_argument(
        "--seed-words",
        nargs="+",
        default=[],
        metavar="WORD",
        help="look for these words, or those in @FILE, a word or phrase on each line, several at a time",
    )
    add_output(command, "DIR", "write finished WARC files to this folder, or URL such as s3://bucket/name")
    command.add_argument(
        "--state", required=True, type=local_path, metavar="DIR",
        help="keep the state and the unfinished WARC file in this folder",
    )  # fmt: skip
    command.add_argument(
        "--once", action="store_true", help="poll the feeds that are due, fetch the pages that are due, and stop"
    )
    add_config(command)
    add_settings(command, "conf/dbce.toml, such as acquire.poll_seconds=300")
    add_log_format(command)


def _run(arguments: argparse.Namespace) -> None:
    """Poll RSS, Atom and RDF feeds, and write the pages that they link to, and those of a list, as WARC files, for
    `dbce stream` and `dbce extract` (docs/streaming.md). Runs until it is stopped by Ctrl-C or SIGTERM, without feeds
    until all pages are fetched or given up; the same command resumes it."""
    log: Log = arguments.log
    log.stage = "acquire"
    config = configuration.load(arguments.config, arguments.settings)
    urls = _urls([*arguments.feed, *_searches(arguments.search, arguments.seed_words, config.acquire)])
    pages = [*dict.fromkeys(url.partition("#")[0] for url in _urls(arguments.page_urls))]
    if not urls and not pages:
        raise InputError(
            "nothing to acquire; give the URL of a feed, --page-urls with URLs of pages, or --search with --seed-words"
        )
    check_installed("acquire", "feedparser", "protego")
    from dbce_spark.streaming.feeds.feed_archive import FeedArchive
    from dbce_spark.streaming.feeds.feed_memory import ItemStatus, Memory
    from dbce_spark.streaming.feeds.feed_reader import Reader

    state = Path(arguments.state)
    with Memory(state / "memory.sqlite") as memory, noted_signals() as noted:
        archive = FeedArchive(state / "open", sources.absolute(arguments.output), config.acquire.user_agent)
        warn = partial(log.write, "warning")
        reader = Reader(urls, memory, archive, config, warn)
        reader.counts["items"] += len(memory.note_listed(pages, time.time()))
        what = f"polling {counted(len(urls), 'feed')}" if urls else f"fetching {counted(len(pages), 'page')}"
        log.write("start", what, {"feeds": len(urls), "pages": len(pages), "items": memory.counts()})
        with repeat(_LINE_SECONDS, lambda: log.write("progress", _line(reader.counts), dict(reader.counts))):
            reader.run(stops=lambda: bool(noted), once=arguments.once)
        log.write("end", f"ended: {_line(reader.counts)}", dict(reader.counts) | {"of_all": memory.counts()})
        print(_line(reader.counts))
        if urls:
            _check_feeds([memory.feed(url) for url in urls], is_polled=reader.counts["polls"] > 0)
        elif not memory.counts().get(ItemStatus.KEPT) and not noted:
            raise InputError("no page could be fetched; the messages before say why")


def _check_feeds(feeds: "Sequence[FeedState]", *, is_polled: bool) -> None:
    """Check that the last poll of a feed, in this run or before, has had an answer.

    Raises:
        InputError: each has failed, or is gone.
    """
    if not all(feed.failures for feed in feeds):
        return
    if all(feed.is_gone for feed in feeds):
        raise InputError("every feed is gone (410); give others")
    if is_polled:
        raise InputError("no feed could be polled; the messages before say why")
    due = min(feed.next_at for feed in feeds if not feed.is_gone)
    when = timestamps.minute(int(due * timestamps.SECOND))
    raise InputError(f"the last poll of each feed has failed, and none is due before {when} UTC")


def _line(counts: Counter[str]) -> str:
    """Render the counts that are not 0."""
    shown = (f"{counts[name]:,} {_noun(name, counts[name])}" for name in _SHOWN if counts[name])
    return ", ".join(shown) or "nothing"


def _noun(name: str, count: int) -> str:
    one = f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")
    return (one if count == 1 else name).replace("_", " ")


def _searches(template: str, words: Sequence[str], config: AcquireConfig) -> list[str]:
    """List the addresses of searches for seed words, none if none are given.

    Raises:
        InputError: there are words and no search, or a search and too few words, or its address has no place for them.
    """
    if not template and not words:
        return []
    if not template or not words:
        raise InputError("--search and --seed-words belong together: where to search, and for what")
    from dbce_spark.streaming.feeds import word_searches

    drawn = word_searches.draw(
        sources.read_manifests(words), config.searches, config.words_a_search, config.search_seed
    )
    return word_searches.addresses(template, drawn)


def _urls(arguments: Sequence[str]) -> list[str]:
    """List the URLs that the arguments give, each once.

    Raises:
        InputError: one is no URL, or a file of them cannot be read.
    """
    urls = sources.read_manifests(arguments)
    for url in urls:
        if not sources.is_web_url(url):
            raise InputError(f"{url}: is no URL; write http://... or https://..., or @FILE")
    return list(dict.fromkeys(urls))
