"""All extractors under one signature: pages in, the text of each out."""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

from dbce_spark.errors import ConfigError
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting import given_extractors
from dbce_spark.evaluation.extracting.child_process import Child, Extracted, Load
from dbce_spark.evaluation.extracting.joint_extractors import JOINT, Setting
from dbce_spark.evaluation.extracting.peers import PEERS

NAMES = (*JOINT, *PEERS)
"""Names that extractors of this program go by."""


@dataclass(frozen=True, slots=True)
class OneByOne:
    """An extractor that sees one page at a time, in child processes."""

    load: Load
    setting: Setting


Extractor = OneByOne | Callable[[Sequence[GoldPage]], dict[str, Extracted]]
"""An extractor of pages one by one, or of all together. It gives a text by page id for each page, whatever happens."""


def by_name(names: Sequence[str], setting: Setting) -> Mapping[str, Extractor]:
    """Return the extractors of these names, in this order.

    Raises:
        ConfigError: there is no extractor of a name.
        PlatformError: the package of one is not installed.
    """
    if not names:
        raise ConfigError(f"--extractors is empty; known are {', '.join(NAMES)}")
    for name in names:
        if name in PEERS:
            PEERS[name].check()
    return {given_extractors.name_of(name): _extractor(name, setting) for name in dict.fromkeys(names)}


def _extractor(name: str, setting: Setting) -> Extractor:
    """Return the extractor of a name; MODULE:FUNCTION names a Joint that somebody else has written, NAME=COMMAND a
    program, NAME=FILE.parquet texts that there are."""
    if name in PEERS:
        return OneByOne(PEERS[name].load, setting)
    if name in JOINT:
        return partial(JOINT[name], setting=setting)
    shown, is_given, source = name.partition("=")
    if is_given and given_extractors.is_texts(source):
        return given_extractors.stored(shown, source)
    if is_given:
        return OneByOne(given_extractors.program(source), setting)
    if not name.partition(":")[2]:
        raise ConfigError(
            f"--extractors {name}: not known; known are {', '.join(NAMES)}, or"
            " MODULE:FUNCTION, NAME=COMMAND, NAME=FILE.parquet"
        )
    return given_extractors.function(name, setting)


def run(chosen: Mapping[str, Extractor], gold: Mapping[str, Sequence[GoldPage]]) -> dict[str, dict[str, Extracted]]:
    """Run all extractors, each on its pages: joint methods one after another, then the others side by side."""
    peers = {name: extract for name, extract in chosen.items() if isinstance(extract, OneByOne)}
    joint = {name: extract(gold[name]) for name, extract in chosen.items() if not isinstance(extract, OneByOne)}
    done = joint | side_by_side(peers, gold)
    return {name: done[name] for name in chosen}


def side_by_side(
    peers: Mapping[str, OneByOne], gold: Mapping[str, Sequence[GoldPage]]
) -> dict[str, dict[str, Extracted]]:
    """Run extractors, each on its pages, in as many child processes at a time as the setting has workers.

    A worker without work goes to the extractor that fewest are at: a slow one holds one worker while there are others
    to do, and has all of them when there are none. Pages are taken as workers come, so that a page that takes long
    holds up no other.
    """
    left = _Left({name: deque(gold[name]) for name in peers})
    done: dict[str, dict[str, Extracted]] = {name: {} for name in peers}

    def work(_: int) -> None:
        try:
            while (name := left.choose()) is not None:
                _extract(peers[name], left.pages[name], done[name])
                left.leave(name)
        except BaseException:
            left.clear()  # the others end with the page they are at
            raise

    workers = max((peer.setting.workers for peer in peers.values()), default=1)
    with ThreadPoolExecutor(workers) as threads:
        list(threads.map(work, range(workers)))
    return done


def _extract(peer: OneByOne, waiting: deque[GoldPage], done: dict[str, Extracted]) -> None:
    """Extract waiting pages until there are none."""
    child = Child(peer.load, time_limit=peer.setting.time_limit)
    try:
        while True:
            try:
                page = waiting.popleft()
            except IndexError:
                return
            done[page.page_id] = child.extract(page.html, page.lang)
            peer.setting.advance(1)
    finally:
        child.close()


@dataclass(frozen=True, slots=True)
class _Left:
    """The pages that no worker has taken, and how many workers are at each extractor."""

    pages: Mapping[str, deque[GoldPage]]
    _at: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def choose(self) -> str | None:
        """Take an extractor with pages left and fewest workers, and count one worker more; None if all is done."""
        with self._lock:
            names = [name for name, waiting in self.pages.items() if waiting]
            if not names:
                return None
            name = min(names, key=self._at.__getitem__)
            self._at[name] += 1
            return name

    def leave(self, name: str) -> None:
        """Count one worker less at an extractor."""
        with self._lock:
            self._at[name] -= 1

    def clear(self) -> None:
        """Leave no page to any worker."""
        for waiting in self.pages.values():
            waiting.clear()
