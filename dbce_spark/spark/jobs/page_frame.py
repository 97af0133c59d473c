"""The main content of pages that are rows of a DataFrame: the same method, in other people's pipelines.

HTML travels here, as it is in rows already. The pages of a site meet in one task, up to so many.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Unpack

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from dbce_spark import config
from dbce_spark.archive import warc
from dbce_spark.archive.index.urls import url_key
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.extraction.extract_options import TableOptions, with_options
from dbce_spark.dbce.extraction.page_extraction import Parse, extract_parsed
from dbce_spark.dbce.extraction.page_input import Date, Html
from dbce_spark.dbce.extraction.page_table import (
    Named,
    added_columns,
    check_columns,
    page_inputs,
    texts,
    with_extracted,
)
from dbce_spark.dbce.pages import parse_fetches
from dbce_spark.errors import InputError
from dbce_spark.model import Page, Reject
from dbce_spark.spark.engine import sandbox
from dbce_spark.spark.engine.batches import each_batch
from dbce_spark.spark.run import staging

SITE_PAGES = 2_000
"""Pages of a site that one task compares: 300 MB of HTML at 150 KB a page, which a worker holds."""

_LARGE = "spark.sql.execution.arrow.useLargeVarTypes"
_SITE, _KEY, _PART = "_dbce_site", "_dbce_key", "_dbce_part"


def extract(
    pages: DataFrame,
    *,
    html: str = "html",
    url: str | None = "url",
    date: str | None = None,
    **options: Unpack[TableOptions],
) -> DataFrame:
    """Extract the main content of pages, each compared with the others of its site; return the rows with more columns.

    `html`, `url` and `date` name columns: `html` of text or bytes, `url` of text (None: pages have no URL), and `date`
    of timestamps, days or text such as ISO 8601. A date that cannot be read counts as none. Rows come back in no order;
    results do not depend on the partitions. Sites with more than SITE_PAGES pages are compared in parts that keep the
    captures of a URL together. `pages` is computed twice: cache it if that costs much.

    The columns `text`, `title`, `language`, `page_text`, `page_type`, `confidence` and `blocks` are added, with the
    values that pages have, and the column `error`: null in rows with a page; in others the reason, and all other added
    columns are null. `formats`, such as `["markdown", "html", "about"]`, adds `markdown`, `kept_html` and `about`. The
    other options are those of `dbce_spark.extract`.

    Raises:
        InputError: there is no such column, format or option, or a column of another type or of a name that is added;
            or `pages` is no DataFrame of Spark, or a stream.
    """
    _check_frame(pages)
    added, settings = added_columns(options.pop("formats", ())), with_options(options)
    large = pages.sparkSession.conf.get(_LARGE, "false") == "true"
    check_columns(_arrow(pages.schema, large), (html, url, date), added)
    _check_case(pages, added)
    # Spark reads dots, quotes and stars in names, and takes some that differ for the same: inside, columns are numbers.
    inside = [f"_dbce_{at}" for at in range(len(pages.columns))]
    numbered, named = pages.toDF(*inside), _numbered((html, url, date), pages.columns, inside)
    with_site = _with(numbered.schema, pa.schema([(_SITE, pa.string()), (_KEY, pa.string())]))
    place = partial(_placed, url=named[1], kind=config.default().input.site, schema=_arrow(with_site, large))
    placed = numbered.mapInArrow(each_batch(place), with_site)
    key = F.coalesce(F.col(_KEY), F.sha1(F.col(named[0]).cast("binary")), F.lit(""))
    parts = placed.groupBy(_SITE).agg(F.ceil(F.count("*") / SITE_PAGES).alias("_dbce_parts"))
    parted = placed.join(parts, on=_SITE, how="inner").withColumn(_PART, F.pmod(F.xxhash64(key), "_dbce_parts"))
    chosen = parted.select(*inside, _SITE, _PART).groupBy(_SITE, _PART)
    with_text = _with(numbered.schema, added)
    extracted = chosen.applyInArrow(_extracting(named, added, settings, _arrow(with_text, large)), with_text)
    return extracted.toDF(*pages.columns, *added.names)


def _check_frame(pages: object) -> None:
    """Check that pages are rows of Spark.

    Raises:
        InputError: they are not, or they are a stream.
    """
    if not isinstance(getattr(pages, "schema", None), StructType):
        kind = type(pages).__name__
        raise InputError(f"pages are a DataFrame of Spark, not {kind}; dbce_spark.extract_table takes other tables")
    if getattr(pages, "isStreaming", False):
        raise InputError("pages are rows that are there, and this DataFrame is a stream; extract in its foreachBatch")


def _check_case(pages: DataFrame, added: pa.Schema) -> None:
    """Check that no added column has the name of another, as Spark compares them.

    Raises:
        InputError: one has.
    """
    if pages.sparkSession.conf.get("spark.sql.caseSensitive") == "true":
        return
    if taken := [name for name in pages.columns if name.lower() in added.names]:
        raise InputError(f"there is a column {taken[0]} already; rename it, as Spark takes {taken[0].lower()} for it")


def _numbered(named: Named, columns: Sequence[str], inside: Sequence[str]) -> Named:
    """Return the names inside of the columns that were named."""
    html, *others = named
    url, date = (None if name is None else inside[columns.index(name)] for name in others)
    return inside[columns.index(html)], url, date


def _arrow(schema: StructType, large: bool) -> pa.Schema:
    """Return the Arrow schema in which rows go back to Spark, whatever the zone of the session: in UTC.

    large: whether texts have offsets of 64 bits, as the session may have it.

    Raises:
        InputError: a column is of a type that Arrow has not.
    """
    for field in schema:
        try:
            to_arrow_schema(StructType([field]), timezone="UTC")
        except PySparkTypeError as error:
            kind = field.dataType.simpleString()
            raise InputError(f"the column {field.name} is of {kind}, which Arrow has not; cast or drop it") from error
    return to_arrow_schema(schema, timezone="UTC", prefers_large_types=large)


def _with(schema: StructType, added: pa.Schema) -> StructType:
    """Return a schema with more fields."""
    return StructType([*schema.fields, *staging.schema(added).fields])


def _placed(batch: pa.RecordBatch, url: str | None, kind: str, schema: pa.Schema) -> pa.RecordBatch:
    """Add the site of each page, and the key of its URL: "" and null without a URL."""
    urls = texts(batch.column(url)) if url else [None] * len(batch)
    sites = [warc.site_of(one, kind) if one else "" for one in urls]
    keys = [url_key(one) if one else None for one in urls]
    with_site = batch.append_column(_SITE, pa.array(sites, pa.string()))
    return with_site.append_column(_KEY, pa.array(keys, pa.string())).cast(schema)


def _extracting(
    named: Named, added: pa.Schema, settings: DbceConfig, schema: pa.Schema
) -> Callable[[pa.Table], pa.Table]:
    """Return the map over the pages that are compared with each other, which adds columns to their rows."""

    def run(pages: pa.Table) -> pa.Table:
        inputs = page_inputs(pages, named)
        order = in_order(inputs)
        with _parsing(settings) as parse:
            found = extract_parsed([inputs[at] for at in order], parse, settings)
        kept = pages.drop_columns([_SITE, _PART]).take(pa.array(order, pa.int64()))
        return with_extracted(kept, found, added).cast(schema)

    return run


def in_order(pages: Sequence[tuple[Html, str | None, Date]]) -> list[int]:
    """Number pages in one order, as undated captures of a URL are snapshots in the order in which they come.

    HTML is compared as it is: as a text, bytes would take up to four times as much memory.
    """

    def key(at: int) -> tuple[str, str, bool, Html]:
        html, url, date = pages[at]
        return str(date), str(url), isinstance(html, str), html

    return sorted(range(len(pages)), key=key)


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
