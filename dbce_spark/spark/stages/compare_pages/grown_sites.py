"""The strategy for sites of a collection that have grown: find what the new captures affect, and compare only that.

Ids, times and signatures travel; the prior pages that are compared are fetched after that, and no others.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import growth_effects
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.output.schemas import comparison_rows, cross_rows, evidence_rows, member_rows
from dbce_spark.output.schemas.codec import PLACE
from dbce_spark.spark.engine.batches import lots, rows_of
from dbce_spark.spark.run import collection_state, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.prior_state import FIRST
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.stage_counts import ComparedSites
from dbce_spark.spark.run.task_tables import TaskTables
from dbce_spark.spark.stages import match_revisits
from dbce_spark.spark.stages.compare_pages import compared_pages, site_tasks

NAME = "growth"
INDEX = ["capture_id", "site", "url_key", "timestamp", "signature", "bands", "has_features", *PLACE]
"""Columns of MEMBERS by which it is found what new captures affect."""
_SCHEMAS = {
    staging.GROWN_CROSSES: cross_rows.BUCKET_CROSSES,
    staging.POOL_MEMBERS: comparison_rows.POOL_MEMBERS,
    staging.AFFECTED: comparison_rows.AFFECTED,
}
_BATCH_ROWS = 1024


def find_affected(run: Run, _account: RunAccount) -> ComparedSites:
    """Stage the crosses and the pools of grown sites, the prior captures that they affect, and the prior pages that
    are compared."""
    members = collection_state.members(run.spark, run.prior)
    grown = compared_pages.grown(run)
    small = members.join(grown.where("not is_large"), on="site", how="left_semi")
    large = members.join(grown.where("is_large"), on="site", how="left_semi")
    again = match_revisits.fetched_again(run).withColumn("is_again", F.lit(True))
    new = compared_pages.members(compared_pages.of_grown_sites(run))
    indexed = small.join(again, on="capture_id", how="left").unionByName(new, allowMissingColumns=True)
    sizes = site_tasks.by_site(run, indexed.select(*INDEX, "is_again"), _SCHEMAS, _compare_sites)
    needed = _affected(run).where("is_needed").select(*PLACE).unionByName(large.select(*PLACE))
    run.stage_rows(collection_state.neighbours(needed, run.prior), staging.NEIGHBOURS)
    return ComparedSites(sizes)


def _compare_sites(sites: Iterator[pa.Table], tables: TaskTables, config: DbceConfig) -> BucketSizes:
    """Stage the results of `growth_effects.affected_captures` for the sites of one task; return their bucket sizes.

    Rows have INDEX, and `is_again` where they were fetched again.
    """
    sizes = BucketSizes()
    for site in sites:
        affected = affected_of_site(site, config)
        sizes += affected.sizes
        tables.write(staging.GROWN_CROSSES, cross_rows.bucket_crosses_batch(affected.crosses))
        _write(tables, staging.POOL_MEMBERS, _pool_members(affected, site))
        _write(tables, staging.AFFECTED, _affected_rows(affected, site))
    return sizes


def affected_of_site(site: pa.Table, config: DbceConfig) -> growth_effects.AffectedCaptures:
    """Find what is to be compared in one site: rows with INDEX, and `is_again` where they were fetched again."""
    rows = [*rows_of(site, ("capture_id", "file_no", "is_again"))]
    new = {capture_id for capture_id, file_no, _ in rows if file_no < FIRST}
    again = {capture_id for capture_id, _, is_again in rows if is_again}
    return growth_effects.affected_captures(member_rows.indexed_captures_from(site), new, again, config)


def _write(tables: TaskTables, name: str, rows: Iterator[dict[str, Any]]) -> None:
    for lot in lots(rows, _BATCH_ROWS):
        tables.write(name, pa.RecordBatch.from_pylist(lot, schema=_SCHEMAS[name]))


def _pool_members(affected: growth_effects.AffectedCaptures, site: pa.Table) -> Iterator[dict[str, Any]]:
    name = site.column("site")[0].as_py()
    by_kind = {evidence_rows.SIBLINGS: affected.siblings, evidence_rows.SNAPSHOTS: affected.snapshots}
    for kind, pools in by_kind.items():
        for number, (members, wanted) in enumerate(pools):
            scored = {*wanted}
            for one in members:
                row = {"kind": kind, "site": name, "pool": str(number), "capture_id": one}
                yield row | {"wanted": one in scored}


def _affected_rows(affected: growth_effects.AffectedCaptures, site: pa.Table) -> Iterator[dict[str, Any]]:
    needed = affected.needed
    for capture_id, file_no, row_no in rows_of(site, ("capture_id", *PLACE)):
        marks = {"is_affected": capture_id in affected.affected, "is_needed": capture_id in needed}
        if file_no >= FIRST and any(marks.values()):
            yield {"capture_id": capture_id, "file_no": file_no, "row_no": row_no} | marks


def affected_captures(run: Run) -> DataFrame:
    """Read the prior captures whose evidence may have changed, with their places: capture_id, file_no, row_no."""
    of_grown = _affected(run).where("is_affected").select("capture_id", *PLACE)
    large = compared_pages.grown(run).where("is_large")
    all_of_large = collection_state.members(run.spark, run.prior).join(large, on="site", how="left_semi")
    return of_grown.unionByName(all_of_large.select("capture_id", *PLACE))


def crosses(run: Run) -> DataFrame:
    """Read the crosses that are to be annotated, as BUCKET_CROSSES rows."""
    return run.staged(staging.GROWN_CROSSES, cross_rows.BUCKET_CROSSES)


def pool_members(run: Run) -> DataFrame:
    """Read the members of the pools, as POOL_MEMBERS rows."""
    return run.staged(staging.POOL_MEMBERS, comparison_rows.POOL_MEMBERS)


def _affected(run: Run) -> DataFrame:
    return run.staged(staging.AFFECTED, comparison_rows.AFFECTED)
