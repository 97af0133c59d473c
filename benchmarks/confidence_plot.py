"""The plot of F1 over confidence, as an SVG that stands by itself, from results of `dbce evaluate`."""

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.standing_plot import standing
from dbce_spark.errors import InputError
from dbce_spark.evaluation.datasets import unit_of
from dbce_spark.evaluation.reporting import score_plots
from dbce_spark.evaluation.scoring import reliability
from dbce_spark.evaluation.scoring.scores import MAIN_METRIC

_COLUMNS = ("dataset", "page_id", "site", "extractor", "f1", "confidence")
_SIZE = (540, 380)
"""Pixels across and down."""


def draw(folder: str, extractor: str) -> str:
    """Draw the F1 that the pages of one extractor reach, over their confidence.

    Raises:
        InputError: the folder holds no results, or the extractor gives no confidence there.
    """
    path = Path(folder) / "scores.parquet"
    try:
        rows = pq.read_table(path, columns=[*_COLUMNS], filters=[("metric", "=", MAIN_METRIC)])
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no file of scores that `dbce evaluate` wrote: {error}") from error
    rows = rows.filter(pc.and_(pc.equal(rows["extractor"], extractor), pc.is_valid(rows["confidence"])))
    if not rows.num_rows:
        raise InputError(f"{path}: {extractor} has no confidence on any page; run `dbce evaluate --extractors dbce`")
    keys = zip(*(rows[name].to_pylist() for name in ("site", "dataset", "page_id")), strict=True)
    units = [unit_of(*key) for key in keys]
    steps = reliability.measure_steps(rows["confidence"].to_numpy(), rows["f1"].to_numpy(), units)
    return standing(_SIZE, [score_plots.reliability_plot(steps)])
