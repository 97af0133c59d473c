"""Pages by the strategy that their site is compared by.

A site that one worker can hold is compared whole. One of a collection that has grown is compared as an increment: only
what is new, and what that affects. One too large for a worker is compared bucket by bucket.
"""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dbce_spark.files import parquet
from dbce_spark.output.collection import PAGES
from dbce_spark.output.schemas import comparison_rows, member_rows, page_rows
from dbce_spark.spark.engine.batches import rows_of
from dbce_spark.spark.run import collection_state, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.stages import match_revisits, read_few, read_pages
from dbce_spark.spark.stages.read_pages import kept

_LARGE = "large"
_COMPARED = {*member_rows.NEIGHBOURS.names}
_INDEXED_CAPTURE_BYTES = 1500
"""Columns that a worker holds of a capture of a site that has grown: ids, signature and bands."""


def fit_one_worker(run: Run, account: RunAccount) -> bool:
    """Return whether captures are few, and one worker may hold what is compared of all, the collection's too."""
    if not read_few.are_few(run, account):
        return False
    new = [staging.staged_file(run.work, read_pages.NAME, at) for at in range(len(account.page_files))]
    try:
        carried = sum(map(_compared_bytes, [*new, *collection_state.paths(run.prior, PAGES)]))
    except (pa.ArrowException, OSError):  # the task that reads it will name it
        return False
    return carried <= run.config.bucket.whole_site_bytes


def _compared_bytes(path: str) -> int:
    """Sum up, by the end of a file of pages, the bytes of the columns that are compared."""
    with parquet.reader(path) as file:
        row_groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
    columns = [group.column(at) for group in row_groups for at in range(group.num_columns)]
    return sum(one.total_uncompressed_size for one in columns if one.path_in_schema.split(".")[0] in _COMPARED)


def stage_sites(run: Run) -> None:
    """Stage which sites are larger than `bucket.whole_site_bytes`, and which of the prior state have grown."""
    whole = run.config.bucket.whole_site_bytes
    sizes = kept(run).groupBy("site").agg(F.sum("carried").alias("bytes"), F.count("*").alias("captures"))
    if run.prior:
        run.stage_rows(_growing(run, sizes), staging.GROWN)
    large = sizes.where(F.col("bytes") > whole).select("site")
    run.stage_rows(large.join(grown(run), on="site", how="left_anti") if run.prior else large, _LARGE)


def _growing(run: Run, sizes: DataFrame) -> DataFrame:
    """Find the prior sites that pages come into, or of which pages were fetched again: site, is_large."""
    prior = collection_state.members(run.spark, run.prior)
    again = prior.join(match_revisits.fetched_again(run), on="capture_id", how="left_semi")
    come = sizes.select("site", "captures").unionByName(again.select("site", F.lit(0).alias("captures")))
    before = prior.groupBy("site").agg(F.count("*").alias("before"))
    captures = come.groupBy("site").agg(F.sum("captures").alias("captures")).join(before, on="site", how="inner")
    size = (F.col("captures") + F.col("before")) * _INDEXED_CAPTURE_BYTES
    return captures.select("site", (size > run.config.bucket.whole_site_bytes).alias("is_large"))


def has_large(run: Run) -> bool:
    """Return whether any site is too large for one worker."""
    return not run.is_empty(_LARGE) or run.count_by(staging.GROWN, "is_large")[True] > 0


def has_grown(run: Run) -> bool:
    """Return whether any site of the prior state has grown."""
    return not run.is_empty(staging.GROWN)


def grown(run: Run) -> DataFrame:
    """Read the sites of the prior state with pages that go on or were fetched again: site, is_large."""
    return run.staged(staging.GROWN, comparison_rows.GROWN_SITES)


def of_whole_sites(run: Run) -> DataFrame:
    """Read the pages that go on of the sites that are compared whole, as PAGES rows."""
    pages = kept(run)
    if run.is_empty(_LARGE) and not has_grown(run):
        return pages
    return pages.join(_not_whole(run), on="site", how="left_anti")


def of_grown_sites(run: Run) -> DataFrame:
    """Read the pages that go on of the sites that are compared as increments, as PAGES rows."""
    return kept(run).join(grown(run).where("not is_large"), on="site", how="left_semi")


def of_large_sites(run: Run) -> DataFrame:
    """Read the pages of the sites that are compared bucket by bucket, as NEIGHBOURS rows: those that go on, and those
    of the prior state."""
    return not_in_place(run).join(_all_large(run), on="site", how="left_semi")


def not_in_place(run: Run) -> DataFrame:
    """Read the pages of all sites that are not compared whole, as NEIGHBOURS rows: those that go on, and those of the
    prior state that they are compared with."""
    new = kept(run).join(_not_whole(run), on="site", how="left_semi")
    return new.select(*member_rows.NEIGHBOURS.names).unionByName(run.staged(staging.NEIGHBOURS, member_rows.NEIGHBOURS))


def members(pages: DataFrame) -> DataFrame:
    """Make MEMBERS rows of PAGES rows."""
    made = {"timestamp": F.unix_micros("timestamp"), "has_features": F.col("first_scores").isNotNull()}
    return pages.select(*(made.get(name, F.col(name)).alias(name) for name in member_rows.MEMBERS.names))


def held_members(pages: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Make some columns of MEMBERS rows of PAGES rows that one process holds, as `members` does."""
    made = pages.append_column("has_features", pc.is_valid(pages.column("first_scores")))
    return made.select(columns).cast(pa.schema([member_rows.MEMBERS.field(name) for name in columns]))


def neighbour_columns() -> list[Column]:
    """Return what `member_rows.neighbours_from` reads of PAGES rows, but the site.

    Pages in no bucket are in no diff.
    """
    tokens = F.when(F.col("signature").isNotNull(), F.col("tokens")).alias("tokens")
    return [*feature_columns(), F.col("signature"), F.col("bands"), tokens]


def feature_columns() -> list[Column]:
    """Return what `member_rows.page_features_from` reads of PAGES rows."""
    return [
        F.col("capture_id"),
        F.col("url_key"),
        F.unix_micros("timestamp").alias("timestamp"),
        F.when(F.col("first_scores").isNotNull(), F.expr(page_rows.CUT_WORDS)).alias("block_words"),
        F.col("first_scores"),
        F.col("keys"),
    ]


def held_neighbours(pages: pa.Table) -> pa.Table:
    """Make of NEIGHBOURS rows that one process holds what `neighbour_columns` makes. Tokens that nothing reads stay:
    they do not travel."""
    packs = rows_of(pages, ("block_numbers", "first_scores"))
    words = [None if scores is None else page_rows.cut_words(pack) for pack, scores in packs]
    at = pages.schema.get_field_index("timestamp")
    in_micros = pages.set_column(at, "timestamp", pages.column("timestamp").cast(pa.int64()))
    return in_micros.append_column("block_words", pa.array(words, pa.binary())).drop_columns("block_numbers")


def _all_large(run: Run) -> DataFrame:
    of_prior = grown(run).where("is_large").select("site")
    return run.staged(_LARGE, comparison_rows.LARGE_SITES).unionByName(of_prior)


def _not_whole(run: Run) -> DataFrame:
    """Read the sites that are not compared whole."""
    return run.staged(_LARGE, comparison_rows.LARGE_SITES).unionByName(grown(run).select("site"))
