"""Properties of a gold page beside its texts, by which tables are made."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbce_spark import config as configuration
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.scoring import clusters, complexity, gold_recurrence
from dbce_spark.evaluation.scoring.complexity import PageWords
from dbce_spark.evaluation.scoring.metrics import words
from dbce_spark.files import parquet, timestamps
from dbce_spark.html.dom import parse_unrepaired
from dbce_spark.html.language import detect

TEXTS = ("dataset", "page_id", "site", "group", "lang", "page_type", "era")
"""Facts that are texts, columns of all tables with a row a page."""

COUNTS = ("siblings", "snapshots")
"""Facts that are counts, columns of the same tables."""

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in TEXTS),
        *((name, pa.int32()) for name in COUNTS),
        *((name, pa.float64()) for name in ("gold_error", "gold_recurrence", "complexity")),
        ("tags", pa.list_(pa.float64())),
    ]
)
"""Of pages.parquet. `gold_error`: E(K) of equation 3.2; `gold_recurrence`: of `gold_recurrence.of_set`; `complexity`: C
of equation 3.3, as a share; `tags`: the features of equation 3.5, in the order of `clusters.TAGS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The properties of one page. An unknown value is ""."""

    dataset: str
    page_id: str
    site: str
    group: str
    lang: str
    page_type: str
    era: str  # year of capture
    siblings: int  # other pages of its group; captures of one URL count once
    snapshots: int  # other captures of its URL
    gold_error: float
    gold_recurrence: float  # share of the gold's words that most siblings have in the same place; 0 with under two
    complexity: float
    tags: tuple[float, ...]

    @property
    def unit(self) -> str:
        """Return the name that the page is drawn and weighed with."""
        return datasets.unit_of(self.site, self.dataset, self.page_id)


def measure(pages: Sequence[GoldPage]) -> list[Facts]:
    """Measure one set's pages, in their order."""
    siblings, snapshots = datasets.siblings(pages), datasets.snapshots(pages)
    recurrence = gold_recurrence.of_set(pages)
    return [
        _of_one(page, language, siblings[page.page_id], snapshots[page.page_id], recurrence[page.page_id])
        for page, language in zip(pages, _languages(pages), strict=True)
    ]


def write(path: str, facts: Sequence[Facts]) -> None:
    """Write one row a page as one Parquet file."""
    rows = [{name: getattr(fact, name) for name in SCHEMA.names} for fact in facts]
    parquet.write(path, SCHEMA, [pa.RecordBatch.from_pylist(rows, SCHEMA)])


def features(facts: Sequence[Facts]) -> clusters.Features:
    """Stack the tag shares of all pages: (pages, 14)."""
    return np.array([fact.tags for fact in facts])


def _languages(pages: Sequence[GoldPage]) -> list[str]:
    """Return the language that the set names for each page; without one, that of its gold, detected as of texts."""
    config = configuration.default().language
    golds = [page.gold for page in pages if not page.lang]
    detected = iter(detect(golds, min_words=config.min_words, sample_chars=config.sample_chars))
    return [page.lang or next(detected).tag for page in pages]


def _of_one(page: GoldPage, language: str, siblings: int, snapshots: int, recurrence: float) -> Facts:
    root = parse_unrepaired(page.html)
    gold, found = words(page.gold), PageWords(root)
    return Facts(
        dataset=page.dataset,
        page_id=page.page_id,
        site=page.site,
        group=page.group,
        lang=language,
        page_type=page.page_type,
        era=str(timestamps.to_datetime(page.timestamp).year) if page.timestamp else "",
        siblings=siblings,
        snapshots=snapshots,
        gold_error=complexity.gold_error(gold, found),
        gold_recurrence=recurrence,
        complexity=complexity.ratio(gold, found),
        tags=clusters.shares(root),
    )
