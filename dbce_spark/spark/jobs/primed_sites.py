"""The states that the sites of a stream begin with, by the last pages that a collection holds of each: the pages as
evidence, and their URLs and words, by which a repeat is known."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from dbce_spark.config import DbceConfig, unlike
from dbce_spark.errors import OutputError
from dbce_spark.model import KEY_ROWS
from dbce_spark.output.collection import Collection, Version
from dbce_spark.output.schemas import member_rows
from dbce_spark.output.schemas.codec import STRING
from dbce_spark.output.schemas.page_rows import KEY, PAGES
from dbce_spark.output.schemas.stream_rows import KEYED_PAGES, PRIMED
from dbce_spark.spark.engine.batches import each_batch, rows_of
from dbce_spark.spark.engine.groups import groups
from dbce_spark.spark.run import plan, staging
from dbce_spark.spark.run.prior_state import FIRST, prior_state
from dbce_spark.spark.stages.compare_pages.compared_pages import feature_columns
from dbce_spark.streaming.stream.streamed_site import FORMS, PrimedPage, StreamedSite, seen_as
from dbce_spark.streaming.urltree.url_keys import url_key
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

_SHOWN = ("block_words", "first_scores", "keys", "signature", "bands")
"""Columns that only evidence has."""
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
    scored = pages.where("first_scores is not null").select(
        *feature_columns(), "signature", "bands", "site", "url", "title"
    )
    keyed = scored.mapInArrow(each_batch(partial(_keyed, tree=tree)), staging.schema(KEYED_PAGES)).repartition("domain")
    sorted_pages = _kept(keyed, config, tree).sortWithinPartitions("domain", "timestamp", "capture_id")
    remembered = tree.window.max_documents

    def built(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for group in groups(batches, ["domain"]):
            state = StreamedSite(config, remembered)
            state.prime(_primed_pages(group))
            row = {"domain": [group.column("domain")[0].as_py()], "state": [state.to_bytes()]}
            yield pa.RecordBatch.from_pydict(row, schema=PRIMED)

    return sorted_pages.mapInArrow(built, staging.schema(PRIMED))


def no_states(spark: SparkSession) -> DataFrame:
    """Build no PRIMED row."""
    return spark.createDataFrame([], staging.schema(PRIMED))


def _kept(keyed: DataFrame, config: DbceConfig, tree: UrlTreeConfig) -> DataFrame:
    """Keep the last pages of each domain that a stream would remember, repeats before all others left out. Only the
    last that are no repeats are evidence; of the others the columns of it are null."""
    first_first = Window.partitionBy("domain", "words_hash").orderBy("timestamp", "capture_id")
    last_first = Window.partitionBy("domain").orderBy(F.desc("is_new"), F.desc("timestamp"), F.desc("capture_id"))
    numbered = keyed.withColumn("is_new", F.row_number().over(first_first) == 1).withColumn(
        "at", F.row_number().over(last_first)
    )
    kept = numbered.where(F.col("at") <= max(tree.window.max_documents, config.stream.pool_pages))
    is_shown = F.col("is_new") & (F.col("at") <= config.stream.pool_pages)
    return kept.withColumns({name: F.when(is_shown, F.col(name)) for name in _SHOWN}).select(*KEYED_PAGES.names)


def _keyed(batch: pa.RecordBatch, tree: UrlTreeConfig) -> pa.RecordBatch:
    """Turn the URL and the title, the last two columns, into the domain of a page and what it is known again by."""
    *columns, urls, titles = batch.columns
    stored = (np.frombuffer(one, KEY).reshape(len(KEY_ROWS), -1) for one in batch.column("keys").to_pylist())
    url_keys = [url_key(*one, tree.keys.rules) for one in zip(urls.to_pylist(), titles.to_pylist(), strict=True)]
    hashes = [[*seen_as(one, keys).values()] for one, keys in zip(url_keys, stored, strict=True)]
    signed = np.array(hashes, np.uint64).reshape(-1, len(FORMS)).view(np.int64)
    domains = pa.array([one.domain for one in url_keys], STRING)
    added = [domains, pa.array(signed[:, -1]), pa.array(signed.tolist(), KEYED_PAGES.field("seen_as").type)]
    return pa.RecordBatch.from_arrays([*columns, *added], schema=KEYED_PAGES)


def _primed_pages(group: pa.Table) -> Iterator[PrimedPage]:
    """Restore the pages of a domain from KEYED_PAGES rows."""
    shown = member_rows.evidence_from(group)
    for hashes, scores in rows_of(group, ("seen_as", "first_scores")):
        numbers = np.array(hashes, np.int64).view(np.uint64).tolist()
        yield PrimedPage(dict(zip(FORMS, numbers, strict=True)), None if scores is None else next(shown))
