"""What is measured, under one signature: pages in, the text of each out. Joint methods see all pages of a set."""

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, pages
from dbce_spark.errors import ConfigError
from dbce_spark.evaluation.child import Child, Extracted, Load
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.peers import PEERS
from dbce_spark.model import Page

Extractor = Callable[[Sequence[GoldPage]], dict[str, Extracted]]
"""The extracted texts by page id: one for each page, whatever happened."""

JOINT = {"dbce": "", "dbce-T001": "T001", "dbce-T002": "T002"}
"""Names of the joint method and the `label.undecided` each sets; "" leaves it as configured."""

NAMES = (*JOINT, *PEERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How extractors are run. `advance` is told how many more pages are done."""

    config: DbceConfig
    time_limit: float  # seconds a page, for those in a process of their own
    workers: int
    advance: Callable[[int], object]


def by_name(names: Sequence[str], setting: Setting) -> Mapping[str, Extractor]:
    """The extractors of these names, in this order.

    Raises:
        ConfigError: a name that is not known.
        PlatformError: the package of one is not installed.
    """
    if not names:
        raise ConfigError(f"--extractors names none; known are {', '.join(NAMES)}")
    for name in names:
        if name not in NAMES:
            raise ConfigError(f"--extractors {name}: not known; known are {', '.join(NAMES)}")
        if name in PEERS:
            PEERS[name].check()
    return {
        name: partial(one_by_one, PEERS[name].load, setting=setting)
        if name in PEERS
        else partial(together, setting=dataclasses.replace(setting, config=_config(setting.config, JOINT[name])))
        for name in dict.fromkeys(names)
    }


def one_by_one(load: Load, of: Sequence[GoldPage], setting: Setting) -> dict[str, Extracted]:
    """Each page by itself, in as many child processes as `setting.workers`."""

    def share(worker: int) -> dict[str, Extracted]:
        child = Child(load, time_limit=setting.time_limit)
        done: dict[str, Extracted] = {}
        try:
            for page in of[worker :: setting.workers]:
                done[page.page_id] = child.extract(page.html, page.lang)
                setting.advance(1)
        finally:
            child.close()
        return done

    with ThreadPoolExecutor(setting.workers) as threads:
        return {page_id: one for done in threads.map(share, range(setting.workers)) for page_id, one in done.items()}


def together(of: Sequence[GoldPage], setting: Setting) -> dict[str, Extracted]:
    """All pages by diffs between them. Each is told the same share of the time."""
    started = time.process_time()
    made = {page.page_id: pages.page_of(page.fetch(at), setting.config) for at, page in enumerate(of)}
    unique = pages.unique(one for one in made.values() if isinstance(one, Page))
    texts = {found.page.capture_id: found.text for found in local.extractions(unique, setting.config)}
    seconds = (time.process_time() - started) / max(len(of), 1)
    setting.advance(len(of))
    return {
        page_id: Extracted(texts[one.capture_id], seconds, "")
        if isinstance(one, Page)
        else Extracted("", seconds, f"{one.reason}: {one.detail}")
        for page_id, one in made.items()
    }


def _config(config: DbceConfig, undecided: str) -> DbceConfig:
    if not undecided:
        return config
    return dataclasses.replace(config, label=dataclasses.replace(config.label, undecided=undecided))
