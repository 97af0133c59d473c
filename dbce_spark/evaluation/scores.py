"""The table of scores: one row a page, extractor and metric."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dbce_spark import store
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.child import Extracted
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.metrics import METRICS, Score, words

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("dataset", "page_id", "site", "group", "lang", "page_type")),
        *((name, pa.string()) for name in ("extractor", "metric")),
        *((name, pa.float64()) for name in ("precision", "recall", "f1")),
        ("siblings", pa.int32()),
        ("seconds", pa.float64()),
        ("error", pa.string()),
    ]
)
"""`siblings`: other pages of its group; `seconds`: CPU of its extraction; `error`: why it is a miss, or ""."""

_BATCH = 4096


@dataclass(frozen=True, slots=True)
class Row:
    """One score, and of what."""

    page: GoldPage
    siblings: int
    extractor: str
    metric: str
    score: Score
    extracted: Extracted


def rows(pages: Sequence[GoldPage], extractor: str, extracted: Mapping[str, Extracted]) -> Iterator[Row]:
    """All metrics of one extractor on one set, in the order of its pages."""
    siblings = datasets.siblings(pages)
    for page in pages:
        one = extracted[page.page_id]
        target, prediction = words(page.gold), words(one.text)
        for name, metric in METRICS.items():
            yield Row(page, siblings[page.page_id], extractor, name, metric(target, prediction), one)


def write(path: str, all_rows: Sequence[Row]) -> None:
    """Writes the rows as one Parquet file."""
    parts = (all_rows[start : start + _BATCH] for start in range(0, len(all_rows), _BATCH))
    store.write_parquet(path, SCHEMA, (pa.RecordBatch.from_pylist(_plain(part), SCHEMA) for part in parts))


def _plain(some: Sequence[Row]) -> list[dict[str, object]]:
    return [
        {
            "dataset": row.page.dataset,
            "page_id": row.page.page_id,
            "site": row.page.site,
            "group": row.page.group,
            "lang": row.page.lang,
            "page_type": row.page.page_type,
            "extractor": row.extractor,
            "metric": row.metric,
            "precision": row.score.precision,
            "recall": row.score.recall,
            "f1": row.score.f1,
            "siblings": row.siblings,
            "seconds": row.extracted.seconds,
            "error": row.extracted.error,
        }
        for row in some
    ]
