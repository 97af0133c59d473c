"""The states that the sites of a stream begin with: of each the last pages that a collection holds of it."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from dbce_spark.archive.index.urls import domain_of, host_of
from dbce_spark.config import DbceConfig, unlike
from dbce_spark.errors import OutputError
from dbce_spark.output.collection import Collection, Version
from dbce_spark.output.schemas import member_rows, stream_rows
from dbce_spark.output.schemas.codec import BINARY, LONG, STRING, fields
from dbce_spark.output.schemas.page_rows import PAGES
from dbce_spark.spark.engine.batches import each_batch
from dbce_spark.spark.engine.groups import groups
from dbce_spark.spark.run import plan, staging
from dbce_spark.spark.run.prior_state import FIRST, prior_state
from dbce_spark.spark.stages.compare_pages.compared_pages import feature_columns
from dbce_spark.streaming.stream.streamed_site import StreamedSite
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

_KEYED = pa.schema(
    [
        *fields(capture_id=STRING, url_key=STRING, timestamp=LONG, numbers=BINARY, first_scores=BINARY, keys=BINARY),
        *fields(signature=BINARY, bands=pa.list_(LONG), site=STRING, domain=STRING),
    ]
)
"""Columns that `member_rows.evidence_from` reads of a page, and the domain that its site is in."""
_ALIKE = ("page", "template", "lsh")
"""Sections of the configuration that the evidence of pages follows from, with the classifier."""


def check_alike(collection: Collection, version: Version, config: DbceConfig) -> None:
    """Check that the pages of a collection are there, and were read as the stream reads its own.

    Raises:
        OutputError: they are not, or were not.
    """
    of_collection = {name: version.settings["config"][name] for name in _ALIKE}
    own = {name: values for name, values in config.as_dict().items() if name in _ALIKE}
    before = of_collection | {"classifier": version.settings["classifier"]}
    now = own | {"classifier": plan.classifier_digest(config.label)}
    if differing := [*unlike(before, now)]:
        raise OutputError(
            f"--prime {collection.folder}: its pages were read with other settings: {'; '.join(differing[:5])}. Give"
            " the stream the same settings, or prime it from another collection"
        )
    page_files(collection, version)


def page_files(collection: Collection, version: Version) -> list[str]:
    """List the files of the pages of a collection.

    Raises:
        OutputError: one is missing.
    """
    prior = prior_state(collection, version)
    files = [prior.page_file(number) for number in range(FIRST, prior.next_file)]
    if gone := next((file for file in files if not Path(file).exists()), ""):
        raise OutputError(
            f"--prime {collection.folder}: {gone} is missing; restore it, or prime from another collection"
        )
    return files


def primed_states(
    spark: SparkSession, collection: Collection, version: Version, config: DbceConfig, tree: UrlTreeConfig
) -> DataFrame:
    """Build the PRIMED rows of all domains of a collection."""
    files = page_files(collection, version)
    pages = staging.read_parquet(spark, PAGES, files).dropDuplicates(["capture_id"])
    evidence = pages.where("first_scores is not null").select(
        *feature_columns(), "signature", "bands", "site", F.col("url").alias("domain")
    )
    keyed = evidence.mapInArrow(each_batch(_with_domain), staging.schema(_KEYED))
    last = Window.partitionBy("domain").orderBy(F.desc("timestamp"), F.desc("capture_id"))
    kept = keyed.withColumn("at", F.row_number().over(last)).where(F.col("at") <= config.stream.pool_pages).drop("at")
    sorted_pages = kept.repartition("domain").sortWithinPartitions("domain", "timestamp", "capture_id")
    remembered = tree.window.max_documents

    def built(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for group in groups(batches, ["domain"]):
            state = StreamedSite(config, remembered)
            state.prime(member_rows.evidence_from(group))
            row = {"domain": [group.column("domain")[0].as_py()], "state": [state.to_bytes()]}
            yield pa.RecordBatch.from_pydict(row, schema=stream_rows.PRIMED)

    return sorted_pages.mapInArrow(built, staging.schema(stream_rows.PRIMED))


def no_states(spark: SparkSession) -> DataFrame:
    """Build no PRIMED row."""
    return spark.createDataFrame([], staging.schema(stream_rows.PRIMED))


def _with_domain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Turn the URL in the last column into its domain."""
    *columns, urls = batch.columns
    domains = [domain_of(host_of(url)) for url in urls.to_pylist()]
    return pa.RecordBatch.from_arrays([*columns, pa.array(domains, STRING)], schema=_KEYED)
