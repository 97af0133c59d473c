"""Annotations of large and grown sites: the crosses of each group meet the hashed tokens of their captures."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dbce_spark.dbce.occurrence_bits import annotate
from dbce_spark.model import ARMS
from dbce_spark.output.schemas import annotation_rows, cross_rows
from dbce_spark.output.schemas.page_rows import HASH
from dbce_spark.spark.engine.batches import rows_of
from dbce_spark.spark.engine.groups import groups
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.stages.compare_pages import bucket_crosses, compared_pages, grown_sites

NAME = staging.ANNOTATIONS


def stage_annotations(run: Run, _account: RunAccount) -> None:
    """Stage one ANNOTATIONS row for each staged cross."""
    crosses = bucket_crosses.staged(run).unionByName(grown_sites.crosses(run))
    texts = compared_pages.not_in_place(run).select("capture_id", "tokens")
    run.stage_rows(annotations(crosses, texts, run.config.diff.exact_limit), NAME)


def annotations(crosses: DataFrame, texts: DataFrame, exact_limit: int) -> DataFrame:
    """Make ANNOTATIONS rows of BUCKET_CROSSES rows and (capture_id, tokens).

    Each group gets the tokens of each capture in it once, before its crosses; that is what the sort by `is_cross` is
    for.
    """

    def in_groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for group in groups(batches, ["group"]):
            yield _in_group(group, exact_limit)

    needed = crosses.select("group", F.explode(F.array(*ARMS)).alias("capture_id")).where("capture_id <> ''").distinct()
    carried = needed.join(texts, on="capture_id", how="inner").select(
        "group", F.lit(False).alias("is_cross"), "capture_id", "tokens"
    )
    cross = F.struct(*cross_rows.BUCKET_CROSSES.names).alias("cross")
    rows = carried.unionByName(crosses.select("group", F.lit(True).alias("is_cross"), cross), allowMissingColumns=True)
    ordered = rows.repartition("group").sortWithinPartitions("group", "is_cross")
    return ordered.mapInArrow(in_groups, staging.schema(annotation_rows.ANNOTATIONS))


def _in_group(group: pa.Table, exact_limit: int) -> pa.RecordBatch:
    """Annotate one group: its captures' tokens come first, then its crosses."""
    is_cross = group.column("is_cross").to_pylist()
    captures = is_cross.index(True)
    texts = rows_of(group.slice(0, captures), ("capture_id", "tokens"))
    by_id = {capture_id: np.frombuffer(stored, HASH) for capture_id, stored in texts}
    crosses = [cross_rows.bucket_cross_from(row) for row in group.column("cross").slice(captures).to_pylist()]
    annotated = annotate([cross.cross for cross in crosses], by_id, exact_limit=exact_limit)
    return annotation_rows.annotations_batch(list(zip(crosses, annotated, strict=True)))


def staged(run: Run) -> DataFrame:
    """Read the annotations of large and grown sites, as ANNOTATIONS rows."""
    return run.staged(NAME, annotation_rows.ANNOTATIONS)
