"""The sites of a collection that have grown: what is asked of their captures, old and new. Ids, times and signatures
travel; the pages that are set beside others are fetched after that, and no others."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import growth
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.spark import known as collection
from dbce_spark.spark import revisits, sites, staging
from dbce_spark.spark.groups import groups
from dbce_spark.spark.known import FIRST, Known
from dbce_spark.tables import cross_rows, evidence_rows, member_rows, site_rows

NAME = "growth"
_BATCH_ROWS = 1024


def stage(spark: SparkSession, output: str, known: Known, config: DbceConfig) -> BucketSizes:
    """Stages what is asked of the sites that have grown, as ASKED rows, and the known pages that it is asked of."""
    members = collection.members(spark, known)
    small = members.join(sites.grown(spark, output).where("not is_large"), on="site", how="left_semi")
    large = members.join(sites.grown(spark, output).where("is_large"), on="site", how="left_semi")
    again = revisits.fetched_again(spark, output).withColumn("is_again", F.lit(True))
    new = sites.members(sites.grown_pages(spark, output))
    standing = small.join(again, on="capture_id", how="left").unionByName(new, allowMissingColumns=True)
    staging.write(asked(standing, config), output, staging.ASKED)
    needed = places(spark, output).where("is_needed").select("file_no", "row_no")
    fetched = needed.unionByName(large.select("file_no", "row_no"))
    staging.write(collection.neighbours(fetched, known), output, staging.NEIGHBOURS)
    row = _staged(spark, output).agg(F.max("sizes.largest"), F.sum("sizes.capped")).first()
    return BucketSizes(row[0] or 0, row[1] or 0) if row else BucketSizes()


def asked(standing: DataFrame, config: DbceConfig) -> DataFrame:
    """What `dbce.growth.asked` says of MEMBERS rows, as ASKED rows: of whole sites, each in one task. Those that were
    fetched again are marked `is_again`."""

    def of_sites(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sizes = BucketSizes()
        for site in groups(batches, ["site"]):
            said = _of_site(site, config)
            sizes += said.sizes
            for name, rows in _rows(said, site):
                for start in range(0, len(rows), _BATCH_ROWS):
                    yield site_rows.asked_batch(name, rows[start : start + _BATCH_ROWS])
        yield site_rows.asked_batch("sizes", [{"largest": sizes.largest, "capped": sizes.capped}])

    ordered = standing.repartition("site").sortWithinPartitions("site", "capture_id")
    return ordered.mapInArrow(of_sites, staging.schema(site_rows.ASKED))


def _of_site(site: pa.Table, config: DbceConfig) -> growth.Asked:
    rows = [*zip(*(site.column(name).to_pylist() for name in ("capture_id", "file_no", "is_again")), strict=True)]
    new = {capture_id for capture_id, file_no, _ in rows if file_no < FIRST}
    again = {capture_id for capture_id, _, is_again in rows if is_again}
    return growth.asked(member_rows.standing_from(site), new, again, config)


def _rows(said: growth.Asked, site: pa.Table) -> Iterator[tuple[str, Sequence[dict[str, Any]]]]:
    """What was said, as rows of the columns of ASKED."""
    yield "found", cross_rows.found_rows(said.found)
    name = site.column("site")[0].as_py()
    for kind, pools in ((evidence_rows.SIBLINGS, said.siblings), (evidence_rows.SNAPSHOTS, said.snapshots)):
        for number, (heard, wanted) in enumerate(pools):
            asking = {*wanted}
            yield (
                "seat",
                [
                    {"kind": kind, "site": name, "pool": str(number), "capture_id": one, "wanted": one in asking}
                    for one in heard
                ],
            )
    needed = said.needed
    yield (
        "known",
        [
            {
                "capture_id": capture_id,
                "file_no": file_no,
                "row_no": row_no,
                "is_affected": capture_id in said.affected,
                "is_needed": capture_id in needed,
            }
            for capture_id, file_no, row_no in zip(
                *(site.column(column).to_pylist() for column in ("capture_id", "file_no", "row_no")), strict=True
            )
            if file_no >= FIRST and (capture_id in said.affected or capture_id in needed)
        ],
    )


def affected(spark: SparkSession, output: str, known: Known) -> DataFrame:
    """The known captures of which something else may be said, with their places: capture_id, file_no, row_no."""
    grown = places(spark, output).where("is_affected").select("capture_id", "file_no", "row_no")
    large = sites.grown(spark, output).where("is_large")
    all_of_large = collection.members(spark, known).join(large, on="site", how="left_semi")
    return grown.unionByName(all_of_large.select("capture_id", "file_no", "row_no"))


def found(spark: SparkSession, output: str) -> DataFrame:
    """The crosses that are to be annotated, as FOUND rows."""
    return _staged(spark, output).where("found is not null").select("found.*")


def seats(spark: SparkSession, output: str) -> DataFrame:
    """Who is in which pool: kind, site, pool, capture_id, wanted."""
    return _staged(spark, output).where("seat is not null").select("seat.*")


def places(spark: SparkSession, output: str) -> DataFrame:
    return _staged(spark, output).where("known is not null").select("known.*")


def _staged(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, staging.ASKED, site_rows.ASKED)
