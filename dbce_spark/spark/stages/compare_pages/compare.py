"""The stages that compare every page with its siblings and its snapshots, by the strategy of its site.

Strategies in order: whole sites, each in one task (`whole_sites`); grown sites of a collection, where only what is new
and what that affects is compared (`grown_sites`); sites too large for one task, bucket by bucket (`bucket_crosses`).
The latter two find crosses and pools, which are then annotated and scored in common. Each has its own checkpoint and
its own time in run.json, and all give the same rows. Few captures are compared without any of that (`few_captures`).
"""

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dbce_spark.output.schemas import annotation_rows, comparison_rows, evidence_rows
from dbce_spark.spark.engine.merge_tasks import row_group
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.job_stage import Stage
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.stage_counts import ComparedSites
from dbce_spark.spark.stages.compare_pages import (
    bucket_crosses,
    compared_pages,
    cross_annotations,
    few_captures,
    grown_sites,
    pool_evidence,
    whole_sites,
)


def _count(run: Run, account: RunAccount, compared: ComparedSites) -> None:
    """Add the sizes of buckets to those of the strategies before."""
    first = account.compared
    account.compared = replace(
        compared,
        sizes=first.sizes + compared.sizes,
        has_grown=first.has_grown or compared.has_grown,
        has_large=first.has_large or compared.has_large,
    )
    sizes = account.compared.sizes
    run.progress.set_counts({"largest_bucket": sizes.largest, "capped_buckets": sizes.capped})


def _has_apart(_run: Run, account: RunAccount) -> bool:
    """Return whether any site is not compared whole."""
    return account.compared.has_large or account.compared.has_grown


def _compare_whole(run: Run, account: RunAccount) -> ComparedSites:
    """Compare the pages of whole sites; where captures are few those of all."""
    if compared_pages.fit_one_worker(run, account):
        return few_captures.compare(run, account)
    compared_pages.stage_sites(run)
    return whole_sites.compare(run)


STAGES = (
    Stage(name=whole_sites.NAME, work=_compare_whole, kept_as=ComparedSites, count=_count),
    Stage(
        name=grown_sites.NAME,
        applies=lambda run, account: account.compared.has_grown,
        work=grown_sites.find_affected,
        kept_as=ComparedSites,
        count=_count,
    ),
    Stage(
        name=bucket_crosses.NAME,
        applies=lambda run, account: account.compared.has_large,
        work=bucket_crosses.find_crosses,
        kept_as=ComparedSites,
        count=_count,
    ),
    Stage(name=pool_evidence.NAME, applies=_has_apart, work=pool_evidence.stage_evidence),
    Stage(name=cross_annotations.NAME, applies=_has_apart, work=cross_annotations.stage_annotations),
)


def read_by_place(run: Run) -> tuple[DataFrame, DataFrame]:
    """Read annotations and evidence of whole sites, with the place of their pages: file_no, row_group, and `annotation`
    or `evidence`."""
    annotations = run.staged(staging.PAGE_ANNOTATIONS, comparison_rows.PAGE_ANNOTATIONS)
    evidence = run.staged(staging.PAGE_EVIDENCE, comparison_rows.PAGE_EVIDENCE)
    place = ("file_no", row_group())
    return (
        annotations.select(*place, F.struct(*annotation_rows.ANNOTATIONS.names).alias("annotation")),
        evidence.select(*place, F.struct(*evidence_rows.EVIDENCE.names).alias("evidence")),
    )


def read_by_capture(run: Run) -> tuple[DataFrame, DataFrame]:
    """Read annotations and evidence of all other sites: capture_id, and `annotation` or `evidence`."""
    annotations, evidence = cross_annotations.staged(run), pool_evidence.staged(run)
    return (
        annotations.select(
            F.col("cur").alias("capture_id"), F.struct(*annotation_rows.ANNOTATIONS.names).alias("annotation")
        ),
        evidence.select("capture_id", F.struct(*evidence_rows.EVIDENCE.names).alias("evidence")),
    )
