"""Our own extractors by name: joint methods, which see all pages of a set at once."""

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, pages
from dbce_spark.dbce.classifier.classify import ARTICLE
from dbce_spark.dbce.page_lots import TOGETHER
from dbce_spark.evaluation import folds
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting import ablation, arriving_pages, gold_stream, spark_run
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.model import Extraction, Page, Reject
from dbce_spark.streaming.urltree import urltree_settings as urltree


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
    found: dict[str, Extracted] = {}
    by_classifier = folds.by_classifier(gold, setting.folds) if setting.folds else {"": gold}  # "": the configured one
    for classifier, some in by_classifier.items():
        found |= _extracted(some, _config(config, classifier=classifier), method)
    seconds = (time.process_time() - started) / max(len(gold), 1)
    setting.advance(len(gold))
    return {page.page_id: dataclasses.replace(found[page.page_id], seconds=seconds) for page in gold}


def _extracted(gold: Sequence[GoldPage], config: DbceConfig, method: Method) -> dict[str, Extracted]:
    """Return what is extracted of each page, by its id, without the time it took."""
    made = dict(zip((page.page_id for page in gold), _made(gold, config), strict=True))
    unique = pages.unique(one for one in made.values() if isinstance(one, Page))
    extractions = {found.page.capture_id: found for found in method(unique, config)}
    return {
        page_id: _of_page(extractions[one.capture_id])
        if isinstance(one, Page)
        else Extracted("", 0.0, f"{one.reason}: {one.detail}")
        for page_id, one in made.items()
    }


def _of_page(one: Extraction) -> Extracted:
    return Extracted(one.text, 0.0, "", one.confidence, one.page_type or "")


def _made(gold: Sequence[GoldPage], config: DbceConfig) -> Iterator[Page | Reject]:
    for start in range(0, len(gold), TOGETHER.pages):
        some = gold[start : start + TOGETHER.pages]
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
    "relaxed-at-domain-node-20": ("label.heuristic=relaxed-at-domain-node", "label.relaxed_above=20"),
}
"""The paper's heuristics, with the paper's numbers; and two with a number that domains of our gold reach."""

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
    "dbce-arrived": partial(together, method=arriving_pages.arrived),
    "dbce-site-pool": partial(together, method=arriving_pages.by_site_pool),
    "dbce-site-pool-late": partial(together, method=arriving_pages.relabelled),
    "dbce-site-pool-primed": partial(together, method=arriving_pages.primed),
    "dbce-spark": _by_spark,
    "urltree": by_url_tree,
    **{f"urltree-{name}": partial(by_url_tree, changes=changes) for name, changes in _HEURISTICS.items()},
}
"""Our extractors by name, as PEERS has the others. A new method is a line here: `partial` binds what else it takes."""


def is_ours(extractor: str) -> bool:
    """Test whether an extractor is a method of this program."""
    return extractor in JOINT
