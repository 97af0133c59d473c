"""The study as a whole: its documents, and its parts one after another as a page of Markdown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.urltree_study import study_tables
from benchmarks.urltree_study.studied_documents import StudiedDocument, by_stream, courier, of_courier, of_gold
from dbce_spark import config as configuration
from dbce_spark.config import DbceConfig
from dbce_spark.errors import InputError
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.extracting import extractors
from dbce_spark.evaluation.extracting.joint_extractors import Setting
from dbce_spark.evaluation.scoring.stream_course import LEAST
from dbce_spark.log import counted
from dbce_spark.streaming.urltree import urltree_settings

TIME_LIMIT = 30.0
"""Seconds that an extractor may take for a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A domain to be invented, or gold pages, and what to compare on them."""

    gold: Sequence[str]  # files; none: invent a daily
    documents: int  # stories of the daily
    copies: float  # share of them that appear a second time
    seed: int
    extractors: Sequence[str]  # beside URL Tree, in heuristics and kinds
    every: int  # one document of so many is scored for kinds
    folds: str  # a folder of classifiers for `dbce`, each for the sites that it has not seen; "": the configured one


def measure(study: Study, parts: Sequence[str]) -> str:
    """Measure parts of the study; return their tables.

    Raises:
        InputError: a file of gold pages cannot be read, or no domain has LEAST of them.
        ConfigError: there is no extractor of a name.
    """
    config = configuration.default()
    documents = read(study, config)
    setting = Setting(config=config, time_limit=TIME_LIMIT, workers=1, folds=study.folds, advance=lambda _: None)
    chosen = extractors.by_name(study.extractors, setting) if study.extractors else {}

    def peers(some: Sequence[StudiedDocument]) -> Mapping[str, Sequence[str]]:
        pages = [one.page for one in some]
        found = extractors.run(chosen, dict.fromkeys(chosen, pages))
        return {name: [texts[page.page_id].text for page in pages] for name, texts in found.items()}

    tables: Mapping[str, Callable[[], str]] = {
        "heuristics": lambda: study_tables.heuristics(documents, peers),
        "windows": lambda: study_tables.windows(documents),
        "similarity": lambda: study_tables.similarity(documents),
        "kinds": lambda: study_tables.kinds(documents, peers, study.every),
    }
    return "\n\n".join([*_heading(documents), *(f"## {part}\n\n{tables[part]()}" for part in parts)]) + "\n"


def read(study: Study, config: DbceConfig) -> list[StudiedDocument]:
    """Read or invent the documents, in the order of their streams; domains of few gold pages are left out.

    Raises:
        InputError: no domain has LEAST gold pages.
    """
    tree = urltree_settings.load()
    if study.gold:
        sets = datasets.read(study.gold).sets.values()
        domains = by_stream([one for pages in sets for one in of_gold(pages, config, tree)])
        if found := [one for documents in domains.values() if len(documents) >= LEAST for one in documents]:
            return found
        raise InputError(f"{study.gold[0]}: no domain has {LEAST} gold pages; give more files")
    return list(of_courier(courier(study.documents, study.copies, study.seed), study.documents, config, tree))


def _heading(documents: Sequence[StudiedDocument]) -> Iterator[str]:
    domains = by_stream(documents)
    yield f"# URL Tree on {counted(len(documents), 'document')} of {counted(len(domains), 'domain')}"
    yield study_tables.shared(domains)
