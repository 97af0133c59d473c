"""The scores of every page, extractor and metric: as arrays for the analysis, as rows in a file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.scoring import facts, metrics, node_scores
from dbce_spark.evaluation.scoring.facts import Facts
from dbce_spark.evaluation.scoring.metrics import Score
from dbce_spark.evaluation.scoring.node_scores import Confusion
from dbce_spark.files import parquet

Values = npt.NDArray[np.float64]

MAIN_METRIC = "rouge_l"
"""The one that tables show where there is room for one: the study's, and the only one of its five that minds order
without punishing each word that is too much twice."""

NODE_METRICS = ("node_accuracy", "node_content", "node_boilerplate")
"""Of a page's text nodes (`node_scores`), as metrics of the page."""

NAMES = (*metrics.NAMES, *NODE_METRICS)
"""Of all metrics, in the order of every table."""

PARTS = ("precision", "recall", "f1")

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in facts.TEXTS),
        *((name, pa.string()) for name in ("extractor", "metric")),
        *((name, pa.float64()) for name in PARTS),
        *((name, pa.int32()) for name in facts.COUNTS),
        *((name, pa.float64()) for name in ("seconds", "confidence")),
        *((name, pa.string()) for name in ("read_type", "error")),
    ]
)
"""`era`: year of capture; `siblings`: other pages of its group; `snapshots`: other captures of its URL; `seconds`: CPU
of its extraction; `confidence`, `read_type`: the F1 that its text is expected to reach and its page type, where the
extractor estimates them; `error`: why it is a miss. An unknown value is "" or null."""


@dataclass(frozen=True, slots=True)
class ScorePart:
    """The scores of one extractor on the pages of one set."""

    extractor: str
    pages: Sequence[Facts]
    values: Mapping[str, Values]  # by metric: (3, pages), in the order of PARTS
    seconds: Values  # (pages)
    confidences: Values  # (pages), NaN where there is none
    read_types: tuple[str, ...]
    errors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of all extractors on all pages."""

    extractors: tuple[str, ...]
    pages: tuple[Facts, ...]
    values: Mapping[str, Values]  # by metric: (extractors, 3, pages)
    seconds: Values  # (extractors, pages)
    confidences: Values  # (extractors, pages): F1 that texts are expected to reach, NaN where none is estimated
    read_types: tuple[tuple[str, ...], ...]  # [extractor][page], "" where the extractor reads none
    errors: tuple[tuple[str, ...], ...]  # [extractor][page]

    @property
    def f1(self) -> Values:
        """Return F1 by the main metric: (extractors, pages)."""
        return self.f1_by(MAIN_METRIC)

    def f1_by(self, metric: str) -> Values:
        """Return F1 by a metric: (extractors, pages)."""
        return self.values[metric][:, PARTS.index("f1")]


def score(
    pages: Sequence[GoldPage],
    of_pages: Sequence[Facts],
    texts: Mapping[str, Mapping[str, Extracted]],
    advance: Callable[[int], object],
) -> tuple[list[ScorePart], list[node_scores.NodeScoreRow]]:
    """Measure extractors on one set by all metrics, pages in their order; count their text nodes.

    `of_pages` are their facts, `texts` by extractor and page id; `advance` gets the number of texts just scored.
    """
    scores: dict[str, list[dict[str, Score]]] = {name: [] for name in texts}
    totals = dict.fromkeys(texts, Confusion())
    for page in pages:
        of_page = {name: extracted[page.page_id] for name, extracted in texts.items()}
        for name, counted in node_scores.of_page(page, of_page).items():
            scores[name].append(metrics.scores(page.gold, of_page[name].text) | _by_nodes(counted))
            totals[name] += counted
        advance(len(of_page))
    parts = [
        _part(name, of_pages, scored, [texts[name][page.page_id] for page in pages]) for name, scored in scores.items()
    ]
    return parts, [node_scores.NodeScoreRow(pages[0].dataset, name, counted) for name, counted in totals.items()]


def _part(
    extractor: str, pages: Sequence[Facts], scored: Sequence[Mapping[str, Score]], extracted: Sequence[Extracted]
) -> ScorePart:
    return ScorePart(
        extractor,
        pages,
        {metric: array([of_page[metric] for of_page in scored]) for metric in NAMES},
        np.array([one.seconds for one in extracted]),
        np.array([np.nan if one.confidence is None else one.confidence for one in extracted]),
        tuple(one.page_type for one in extracted),
        tuple(one.error for one in extracted),
    )


def _by_nodes(counted: Confusion) -> dict[str, Score]:
    parts = (metrics.of_value(counted.accuracy), counted.content, counted.boilerplate)
    return dict(zip(NODE_METRICS, parts, strict=True))


def array(scores: Sequence[Score]) -> Values:
    """Stack scores as (3, pages)."""
    return np.array([[getattr(one, part) for one in scores] for part in PARTS])


def join(parts: Sequence[ScorePart], extractors: Sequence[str]) -> Scores:
    """Join the scores of all sets, extractors in the order given. Each must have run on each set."""
    rows = [[part for part in parts if part.extractor == extractor] for extractor in extractors]
    return Scores(
        extractors=tuple(extractors),
        pages=tuple(page for part in rows[0] for page in part.pages),
        values={
            metric: np.stack([np.concatenate([part.values[metric] for part in row], axis=1) for row in rows])
            for metric in NAMES
        },
        seconds=np.stack([np.concatenate([part.seconds for part in row]) for row in rows]),
        confidences=np.stack([np.concatenate([part.confidences for part in row]) for row in rows]),
        read_types=tuple(tuple(read for part in row for read in part.read_types) for row in rows),
        errors=tuple(tuple(error for part in row for error in part.errors) for row in rows),
    )


def write(path: str, scores: Scores) -> None:
    """Write a row a page, extractor and metric as one Parquet file."""
    of_page = {
        name: pa.array([getattr(page, name) for page in scores.pages], SCHEMA.field(name).type)
        for name in (*facts.TEXTS, *facts.COUNTS)
    }
    parquet.write(
        path,
        SCHEMA,
        (_batch(scores, of_page, at, metric) for at in range(len(scores.extractors)) for metric in NAMES),
    )


def _batch(scores: Scores, of_page: Mapping[str, pa.Array], at: int, metric: str) -> pa.RecordBatch:
    count = len(scores.pages)
    columns = {
        **of_page,
        **{part: pa.array(scores.values[metric][at, place]) for place, part in enumerate(PARTS)},
        "extractor": pa.repeat(scores.extractors[at], count),
        "metric": pa.repeat(metric, count),
        "seconds": pa.array(scores.seconds[at]),
        "confidence": pa.array(scores.confidences[at], from_pandas=True),
        "read_type": pa.array(scores.read_types[at], pa.string()),
        "error": pa.array(scores.errors[at], pa.string()),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in SCHEMA.names], schema=SCHEMA)
