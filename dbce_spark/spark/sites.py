"""The sites that one worker can hold are looked at whole, each in one place.

Most sites are such. All that their pages say of each other then takes one shuffle, where buckets of larger ones take
several (`crosses`, `evidence`, `annotations`); the rows are the same. No text travels, and no HTML.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import sites
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.model import Annotation, Codes, Found
from dbce_spark.spark import known as collection
from dbce_spark.spark import revisits, staging
from dbce_spark.spark.groups import groups
from dbce_spark.spark.known import Known
from dbce_spark.spark.pages import PLACE, kept
from dbce_spark.tables import annotation_rows, evidence_rows, member_rows, site_rows

NAME = "sites"
_LARGE = "large"
_SITE_ROW = pa.schema([("site", pa.string())])
_GROWN_ROW = pa.schema([("site", pa.string()), ("is_large", pa.bool_())])
_STANDING_BYTES = 1500
"""What a worker holds of a capture of a site that has grown: ids, signature and bands."""
_BATCH_ROWS = 256

_Place = tuple[int, int]


def stage(spark: SparkSession, output: str, known: Known, config: DbceConfig) -> BucketSizes:
    """Stages which sites are larger than `bucket.whole_site_bytes`, which known ones have grown, and all that the pages
    of every other say of each other, as TOLD rows. Returns how large the buckets of these are."""
    whole = config.bucket.whole_site_bytes
    sizes = kept(spark, output).groupBy("site").agg(F.sum("carried").alias("bytes"), F.count("*").alias("captures"))
    if known:
        staging.write(_growing(spark, output, sizes, known, whole), output, staging.GROWN)
    large = sizes.where(F.col("bytes") > whole).join(grown(spark, output), on="site", how="left_anti")
    staging.write(large.select("site"), output, _LARGE)
    others = kept(spark, output).join(_one_by_one(spark, output), on="site", how="left_anti")
    staging.write(told(others, config), output, NAME)
    row = staged(spark, output).agg(F.max("sizes.largest"), F.sum("sizes.capped")).first()
    return BucketSizes(row[0] or 0, row[1] or 0) if row else BucketSizes()


def _growing(spark: SparkSession, output: str, sizes: DataFrame, known: Known, whole: int) -> DataFrame:
    """The known sites that pages come into, or of which pages were fetched again: site, is_large."""
    members = collection.members(spark, known)
    again = members.join(revisits.fetched_again(spark, output), on="capture_id", how="left_semi")
    come = sizes.select("site", "captures").unionByName(again.select("site", F.lit(0).alias("captures")))
    before = members.groupBy("site").agg(F.count("*").alias("known"))
    captures = come.groupBy("site").agg(F.sum("captures").alias("captures")).join(before, on="site")
    is_large = (F.col("captures") + F.col("known")) * _STANDING_BYTES > whole
    return captures.select("site", is_large.alias("is_large"))


def has_large(spark: SparkSession, output: str) -> bool:
    """Whether any site is too large for one worker."""
    return not _all_large(spark, output).isEmpty()


def has_grown(spark: SparkSession, output: str) -> bool:
    """Whether any known site has grown."""
    return not grown(spark, output).isEmpty()


def large(spark: SparkSession, output: str) -> DataFrame:
    """The pages of sites that are too large for one worker, as NEIGHBOURS rows: those that go on, and known ones."""
    return met(spark, output).join(_all_large(spark, output), on="site", how="left_semi")


def grown(spark: SparkSession, output: str) -> DataFrame:
    """The sites that are known already, and have pages that go on or were fetched again: site, is_large."""
    return staging.read(spark, output, staging.GROWN, _GROWN_ROW)


def grown_pages(spark: SparkSession, output: str) -> DataFrame:
    """The pages that go on of sites that are known already, and not too large."""
    return kept(spark, output).join(grown(spark, output).where("not is_large"), on="site", how="left_semi")


def met(spark: SparkSession, output: str) -> DataFrame:
    """The pages that are set beside others one by one, as NEIGHBOURS rows: of all sites that are not looked at whole,
    those that go on, and those known ones that are asked for."""
    new = kept(spark, output).join(_one_by_one(spark, output), on="site", how="left_semi")
    known = staging.read(spark, output, staging.NEIGHBOURS, member_rows.NEIGHBOURS)
    return new.select(*member_rows.NEIGHBOURS.names).unionByName(known)


def members(pages: DataFrame) -> DataFrame:
    """PAGES rows as MEMBERS rows."""
    known = {"timestamp": F.unix_micros("timestamp"), "is_witness": F.col("verdicts").isNotNull()}
    return pages.select(*(known.get(name, F.col(name)).alias(name) for name in member_rows.MEMBERS.names))


def _all_large(spark: SparkSession, output: str) -> DataFrame:
    of_known = grown(spark, output).where("is_large").select("site")
    return staging.read(spark, output, _LARGE, _SITE_ROW).unionByName(of_known)


def _one_by_one(spark: SparkSession, output: str) -> DataFrame:
    """The sites that are not looked at whole."""
    known = grown(spark, output).select("site")
    return staging.read(spark, output, _LARGE, _SITE_ROW).unionByName(known)


def told(pages: DataFrame, config: DbceConfig) -> DataFrame:
    """What `dbce.sites.told` says of PAGES rows, as TOLD rows: of whole sites, each in one task."""

    def in_sites(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows, sizes = _Rows(), BucketSizes()
        for site in groups(batches, ["site"]):
            if site.num_rows == 1:  # there is nobody to say anything
                continue
            said = sites.told(member_rows.neighbours_from(site), config)
            rows.add(said, site)
            sizes += said.sizes
            if len(rows) >= _BATCH_ROWS:
                yield from rows.batches()
                rows = _Rows()
        yield from rows.batches()
        yield site_rows.told_batch([(None, None)], sizes=site_rows.sizes_batch([sizes]))

    carried = pages.select("site", *PLACE, *neighbours())
    ordered = carried.repartition("site").sortWithinPartitions("site", "capture_id")
    return ordered.mapInArrow(in_sites, staging.schema(site_rows.TOLD))


def neighbours() -> list[Column]:
    """What `member_rows.neighbours_from` reads of PAGES rows, but the site. Who is in no bucket is in no diff."""
    tokens = F.when(F.col("signature").isNotNull(), F.col("tokens")).alias("tokens")
    return [*witnesses(), F.col("signature"), F.col("bands"), tokens]


def witnesses() -> list[Column]:
    """What `member_rows.witnesses_from` reads of PAGES rows. Words and link words are the later half of the packed
    numbers."""
    half = "length(block_numbers) div 2"
    return [
        F.col("capture_id"),
        F.col("url_key"),
        F.unix_micros("timestamp").alias("timestamp"),
        F.when(F.col("verdicts").isNotNull(), F.expr(f"substring(block_numbers, 1 + {half}, {half})")).alias("numbers"),
        F.col("verdicts"),
        F.col("keys"),
    ]


@dataclass(slots=True)
class _Rows:
    """What was said of some captures, with the places where these are staged."""

    annotations: list[tuple[_Place, Found, Annotation]] = field(default_factory=list)
    evidence: list[tuple[_Place, tuple[str, int, Codes]]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.annotations) + len(self.evidence)

    def add(self, said: sites.Told, site: pa.Table) -> None:
        ids, *place = (site.column(name).to_pylist() for name in ("capture_id", *PLACE))
        of = dict(zip(ids, zip(*place, strict=True), strict=True))
        for found, annotation in zip(said.found, said.annotations, strict=True):
            self.annotations.append((of[found.cross.cur], found, annotation))
        for kind, heard in (
            (evidence_rows.SIBLINGS, said.heard.by_siblings),
            (evidence_rows.SNAPSHOTS, said.heard.by_snapshots),
        ):
            self.evidence += [(of[capture_id], (capture_id, kind, codes)) for capture_id, codes in heard.items()]

    def batches(self) -> Iterator[pa.RecordBatch]:
        if self.annotations:
            batch = annotation_rows.annotations_batch(
                [(found, annotation) for _, found, annotation in self.annotations]
            )
            yield site_rows.told_batch([place for place, *_ in self.annotations], annotation=batch)
        if self.evidence:
            batch = evidence_rows.evidence_batch([row for _, row in self.evidence])
            yield site_rows.told_batch([place for place, _ in self.evidence], evidence=batch)


def staged(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, NAME, site_rows.TOLD)
