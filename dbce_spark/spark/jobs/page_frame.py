"""The main content of pages that are rows of a DataFrame: the same method, in other people's pipelines.

HTML travels here, as it is in rows already. The pages of a site meet in one task, up to so many.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Unpack

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from dbce_spark import config
from dbce_spark.archive import warc
from dbce_spark.archive.index.urls import url_key
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.extraction.extract_options import TableOptions, with_options
from dbce_spark.dbce.extraction.extracted_page import Parse, extract_parsed
from dbce_spark.dbce.extraction.page_table import (
    Named,
    added_columns,
    check_columns,
    page_inputs,
    texts,
    with_extracted,
)
from dbce_spark.dbce.pages import parse_fetches
from dbce_spark.model import Page, Reject
from dbce_spark.spark.engine import sandbox
from dbce_spark.spark.engine.batches import each_batch
from dbce_spark.spark.run import staging

SITE_PAGES = 2_000
"""Pages of a site that one task compares: 300 MB of HTML at 150 KB a page, which a worker holds."""

_SITE, _KEY, _PART = "_dbce_site", "_dbce_key", "_dbce_part"


def extract(
    pages: DataFrame, *, html: str = "html", url: str = "url", date: str | None = None, **options: Unpack[TableOptions]
) -> DataFrame:
    """Extract the main content of pages, each compared with the others of its site; return the rows with more columns.

    `html`, `url` and `date` name columns: `html` of text or bytes, `url` of text, and `date` of timestamps, days or
    text such as ISO 8601. A date that cannot be read counts as none. Rows come back in no order; results do not depend
    on the partitions. Sites with more than SITE_PAGES pages are compared in parts that keep the captures of a URL
    together. `pages` is computed twice: cache it if that costs much.

    The columns `text`, `title`, `language`, `page_text`, `page_type`, `confidence` and `blocks` are added, with the
    values that pages have, and the column `error`: null in rows with a page; in others the reason, and all other added
    columns are null. `formats`, such as `["markdown", "html", "about"]`, adds `markdown`, `kept_html` and `about`. The
    other options are those of `dbce_spark.extract`.

    Raises:
        InputError: there is no such column, format or option, or a column of another type or of a name that is added.
    """
    added, settings = added_columns(options.pop("formats", ())), with_options(options)
    named, schema = (html, url, date), pages.schema
    check_columns(_arrow(schema), named, added)
    sites = staging.schema(pa.schema([(_SITE, pa.string()), (_KEY, pa.string())])).fields
    place = partial(_placed, url=url, kind=config.default().input.site)
    placed = pages.mapInArrow(each_batch(place), _with(schema, sites))
    key = F.coalesce(F.col(_KEY), F.sha1(F.col(html).cast("binary")), F.lit(""))
    parts = placed.groupBy(_SITE).agg(F.ceil(F.count("*") / SITE_PAGES).alias("_dbce_parts"))
    parted = placed.join(parts, on=_SITE, how="inner").withColumn(_PART, F.pmod(F.xxhash64(key), "_dbce_parts"))
    chosen = parted.select(*pages.columns, _SITE, _PART).groupBy(_SITE, _PART)
    return chosen.applyInArrow(
        _extracting(named, added, settings, _arrow(schema)), _with(schema, staging.schema(added).fields)
    )


def _arrow(schema: StructType) -> pa.Schema:
    """Return the Arrow schema in which rows go back to Spark, whatever the zone of the session: in UTC."""
    return to_arrow_schema(schema, timezone="UTC")


def _with(schema: StructType, fields: Sequence[StructField]) -> StructType:
    """Return a schema with more fields."""
    return StructType([*schema.fields, *fields])


def _placed(batch: pa.RecordBatch, url: str, kind: str) -> pa.RecordBatch:
    """Add the site of each page, and the key of its URL: "" and null without a URL."""
    urls = texts(batch.column(url))
    sites = [warc.site_of(one, kind) if one else "" for one in urls]
    keys = [url_key(one) if one else None for one in urls]
    with_site = batch.append_column(_SITE, pa.array(sites, pa.string()))
    return with_site.append_column(_KEY, pa.array(keys, pa.string()))


def _extracting(
    named: Named, added: pa.Schema, settings: DbceConfig, schema: pa.Schema
) -> Callable[[pa.Table], pa.Table]:
    """Return the map over the pages that are compared with each other, which adds columns to their rows."""

    def run(pages: pa.Table) -> pa.Table:
        inputs = page_inputs(pages, named)
        # In one order, as undated captures of a URL are snapshots in the order in which they come.
        order = sorted(range(len(inputs)), key=lambda at: [str(value) for value in reversed(inputs[at])])
        with _parsing(settings) as parse:
            found = extract_parsed([inputs[at] for at in order], parse, settings)
        kept = pages.drop_columns([_SITE, _PART]).take(pa.array(order, pa.int64()))
        return with_extracted(kept.cast(schema), found, added)

    return run


@contextmanager
def _parsing(settings: DbceConfig) -> Iterator[Parse]:
    """Yield what parses pages in this task: in place under a timer, at a second attempt each page in a process that can
    be spared."""
    task = TaskContext.get()
    if task is not None and task.attemptNumber() > 0:
        with sandbox.parser(settings) as parser:
            yield lambda lot: sandbox.pages_apart(parser, lot)
        return

    def timed(lot: Sequence[warc.Fetch]) -> list[Page | Reject]:
        with sandbox.timer(settings.page.max_seconds):
            return parse_fetches(lot, settings)

    yield timed
