"""All extractors under one signature: pages in, the text of each out. Joint methods see all pages of a set."""

import dataclasses
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from threading import Lock
from typing import Protocol

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, pages
from dbce_spark.dbce.classify import ARTICLE
from dbce_spark.errors import ConfigError
from dbce_spark.evaluation import ablation, folds, given_extractors, gold_stream, spark_run
from dbce_spark.evaluation.child_process import Child, Extracted, Load
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.peers import PEERS
from dbce_spark.model import Extraction, Page, Reject
from dbce_spark.streaming.urltree import urltree_settings as urltree

Extractor = Callable[[Sequence[GoldPage]], dict[str, Extracted]]
"""The extracted texts by page id: one for each page, whatever happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Settings that all extractors run with. `advance` is called with the number of pages just done."""

    config: DbceConfig
    time_limit: float  # seconds a page, for those in a process of their own
    workers: int
    folds: str  # a folder of classifiers for `dbce`, each for the sites it has not seen; "": the configured one for all
    advance: Callable[[int], object]


class Joint(Protocol):
    """A method that sees all pages of a set at once."""

    def __call__(self, gold: Sequence[GoldPage], setting: Setting) -> dict[str, Extracted]: ...


@dataclass(frozen=True, slots=True)
class OneByOne:
    """An extractor that sees one page at a time, in child processes."""

    load: Load
    setting: Setting

    def __call__(self, gold: Sequence[GoldPage]) -> dict[str, Extracted]:
        """Extract the text of each page."""
        return side_by_side({"": self}, {"": gold})[""]


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
    module, _, function = name.partition(":")
    if not function:
        raise ConfigError(
            f"--extractors {name}: not known; known are {', '.join(NAMES)}, or"
            " MODULE:FUNCTION, NAME=COMMAND, NAME=FILE.parquet"
        )
    try:
        joint: Joint = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"--extractors {name}: {error}") from error
    return partial(joint, setting=setting)


def run(chosen: Mapping[str, Extractor], gold: Mapping[str, Sequence[GoldPage]]) -> dict[str, dict[str, Extracted]]:
    """Run all extractors, each on its pages: joint methods one after another, then the others side by side."""
    peers = {name: extract for name, extract in chosen.items() if isinstance(extract, OneByOne)}
    joint = {name: extract(gold[name]) for name, extract in chosen.items() if name not in peers}
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
        with self._lock:
            self._at[name] -= 1

    def clear(self) -> None:
        for waiting in self.pages.values():
            waiting.clear()


Method = Callable[[list[Page], DbceConfig], list[Extraction]]
"""Pages in, their extractions out."""


def together(
    gold: Sequence[GoldPage], setting: Setting, by: str = "", content: str = "", method: Method = local.extract_pages
) -> dict[str, Extracted]:
    """Extract all pages beside each other. Each gets the same share of the time.

    `by` and `content` are the `label.by` and `label.content` to set; "" leaves them as configured.
    """
    config = _config(setting.config, by=by, content=content)
    started = time.process_time()
    found: dict[str, tuple[str, str]] = {}
    by_classifier = folds.by_classifier(gold, setting.folds) if setting.folds else {"": gold}  # "": the configured one
    for classifier, some in by_classifier.items():
        found |= _texts(some, _config(config, classifier=classifier), method)
    seconds = (time.process_time() - started) / max(len(gold), 1)
    setting.advance(len(gold))
    return {page.page_id: Extracted(found[page.page_id][0], seconds, found[page.page_id][1]) for page in gold}


def _texts(gold: Sequence[GoldPage], config: DbceConfig, method: Method) -> dict[str, tuple[str, str]]:
    """Return text and error of each page, by its id."""
    made = dict(zip((page.page_id for page in gold), _made(gold, config), strict=True))
    unique = pages.unique(one for one in made.values() if isinstance(one, Page))
    texts = {found.page.capture_id: found.text for found in method(unique, config)}
    return {
        page_id: (texts[one.capture_id], "") if isinstance(one, Page) else ("", f"{one.reason}: {one.detail}")
        for page_id, one in made.items()
    }


def _made(gold: Sequence[GoldPage], config: DbceConfig) -> Iterator[Page | Reject]:
    for start in range(0, len(gold), pages.TOGETHER):
        some = gold[start : start + pages.TOGETHER]
        yield from pages.parse_fetches([page.fetch(start + at) for at, page in enumerate(some)], config)


def _config(config: DbceConfig, *, by: str = "", content: str = "", classifier: str = "") -> DbceConfig:
    """Return the configuration with these parameters of `label`; those that are "" stay as they are."""
    label = config.label
    changed = dataclasses.replace(
        label,
        by=by or label.by,
        content=content or label.content,
        classifier=classifier or label.classifier,
    )
    return dataclasses.replace(config, label=changed)


def _by_spark(gold: Sequence[GoldPage], setting: Setting) -> dict[str, Extracted]:
    return spark_run.extract(gold, config=setting.config, advance=setting.advance)


def by_url_tree(gold: Sequence[GoldPage], setting: Setting, changes: Sequence[str] = ()) -> dict[str, Extracted]:
    """Label each page as it comes, by URL Tree; `changes` are laid over the shipped parameters ("label.n_min=3")."""
    found = gold_stream.extract(gold, urltree.load(settings=changes), setting.config.page)
    setting.advance(len(gold))
    return found


_SHOWN = (0, 1, 2, 4, 8, 16)
"""Siblings that a page is shown, to see what one more is worth."""

_HEURISTICS: Mapping[str, tuple[str, ...]] = {
    "strict": ("label.heuristic=strict",),
    "strict-support-100": ("label.heuristic=strict-support", "label.support=100"),
    "strict-at-domain": ("label.heuristic=strict-at-domain",),
    "relaxed-at-domain-500": ("label.heuristic=relaxed-at-domain", "label.relaxed_above=500"),
    "relaxed-at-domain-20": ("label.heuristic=relaxed-at-domain", "label.relaxed_above=20"),
}
"""The paper's heuristics, with the paper's numbers; and one with a number that domains of our gold reach."""

JOINT: Mapping[str, Joint] = {
    "dbce": together,
    "dbce-article": partial(together, content=ARTICLE),
    "dbce-alone": partial(together, method=partial(ablation.extractions, siblings=0, snapshots=False)),
    "dbce-siblings": partial(together, method=partial(ablation.extractions, siblings=None, snapshots=False)),
    "dbce-snapshots": partial(together, method=partial(ablation.extractions, siblings=0, snapshots=True)),
    **{
        f"dbce-{most}": partial(together, method=partial(ablation.extractions, siblings=most, snapshots=True))
        for most in _SHOWN
    },
    "dbce-T001": partial(together, by="T001"),
    "dbce-T002": partial(together, by="T002"),
    "dbce-arrived": partial(together, method=gold_stream.arrived),
    "dbce-site-pool": partial(together, method=gold_stream.by_site_pool),
    "dbce-site-pool-late": partial(together, method=gold_stream.relabelled),
    "dbce-site-pool-primed": partial(together, method=gold_stream.primed),
    "dbce-spark": _by_spark,
    "urltree": by_url_tree,
    **{f"urltree-{name}": partial(by_url_tree, changes=changes) for name, changes in _HEURISTICS.items()},
}
"""Our extractors by name, as PEERS has the others. A new method is a line here: `partial` binds what else it takes."""

NAMES = (*JOINT, *PEERS)
