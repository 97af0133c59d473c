"""The strategy for few captures (`spark.dbce.fewCaptures`), all of which one worker can hold with what a collection
has: each task reads them, and compares those of its share of the sites, whole and grown ones. Nothing is shuffled.

Spark takes tenths of a second for each job, and up to twenty to bring each page to those that it is compared with.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.dbce.growth_effects import AffectedCaptures, compare_affected
from dbce_spark.model import Neighbour
from dbce_spark.output.collection import DIGESTS, MEMBERS
from dbce_spark.output.schemas import capture_rows, comparison_rows, increment_rows, member_rows
from dbce_spark.output.schemas.codec import PLACE
from dbce_spark.spark.engine.batches import batch_of, rows_of
from dbce_spark.spark.engine.groups import groups
from dbce_spark.spark.engine.merge_tasks import ROWS_PER_GROUP
from dbce_spark.spark.engine.numbered_tasks import one_task_each, task_numbers
from dbce_spark.spark.run import collection_state, staging
from dbce_spark.spark.run.collection_state import pages_at
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.prior_state import FIRST, PriorState
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.stage_counts import ComparedSites
from dbce_spark.spark.run.task_results import task_results
from dbce_spark.spark.run.task_tables import TaskTables
from dbce_spark.spark.stages import read_few
from dbce_spark.spark.stages.compare_pages import compared_pages, grown_sites, whole_sites

_SCHEMAS = {**whole_sites.SCHEMAS, staging.RELABEL: comparison_rows.RELABEL}
_PAGE = [*PLACE, *member_rows.NEIGHBOURS.names]
_CAPTURES_PER_TASK = 64
"""Fewer take less time than their task."""
_IN_ORDER = [("site", "ascending"), ("capture_id", "ascending")]


def compare(run: Run, account: RunAccount) -> ComparedSites:
    """Stage annotations and evidence of the new pages, and of the prior captures that these affect; and these captures,
    for the writing of extractions."""
    work, prior, config = run.work, run.prior, run.config
    tasks = min(run.spark.sparkContext.defaultParallelism, max(1, account.records.captures // _CAPTURES_PER_TASK))

    def of_share(batches: Iterator[pa.RecordBatch]) -> BucketSizes:
        (at,) = task_numbers(batches)
        with TaskTables(work, _SCHEMAS) as tables:
            return _compare(_Captures.of(work, prior).share(at, tasks), tables, config)

    staging.renew(work, *_SCHEMAS)
    sizes = sum(task_results(one_task_each(run.spark, tasks), of_share, BucketSizes), BucketSizes())
    staging.mark_whole(work, staging.RELABEL)
    return ComparedSites(sizes)


@dataclass(frozen=True, slots=True)
class _Captures:
    """The captures of an increment and of its collection: the new pages that go on as `neighbours_from` reads them, the
    index of all, and the ids of prior ones that were fetched again."""

    prior: PriorState
    pages: pa.Table
    index: pa.Table

    @classmethod
    def of(cls, work: str, prior: PriorState) -> "_Captures":
        """Read the captures that are staged, and those of the prior state."""
        pages = read_few.kept(work, _PAGE)
        shared = read_few.staged(work, staging.SHARED, capture_rows.CAPTURES, ["extraction_id"])
        before = collection_state.table(prior, member_rows.MEMBERS, grown_sites.INDEX, MEMBERS)
        index = pa.concat_tables([before, compared_pages.held_members(pages, grown_sites.INDEX)])
        is_again = pc.is_in(index.column("capture_id"), shared.column("extraction_id").combine_chunks())
        return cls(prior, compared_pages.held_neighbours(pages), index.append_column("is_again", is_again))

    def share(self, at: int, of: int) -> "_Captures":
        """Return the captures of every nth site."""
        sites = sorted(pc.unique(self.index.column("site")).to_pylist())[at::of]
        mine = pa.array(sites, pa.string())
        tables = (table.filter(pc.is_in(table.column("site"), mine)) for table in (self.pages, self.index))
        return _Captures(self.prior, *tables)

    def grown(self) -> pa.Array:
        """Return the prior sites that pages come into, or of which pages were fetched again."""
        is_prior = pc.greater_equal(self.index.column("file_no"), FIRST)
        touched = self.index.filter(pc.or_(pc.invert(is_prior), self.index.column("is_again")))
        before = self.index.filter(is_prior).column("site")
        return pc.unique(before.filter(pc.is_in(before, touched.column("site"))))

    def neighbours(self, needed: pa.Table) -> list[Neighbour]:
        """Restore the pages of some rows of the index."""
        is_new = pc.is_in(self.pages.column("capture_id"), needed.column("capture_id").combine_chunks())
        found = [self.pages.filter(is_new).drop_columns(PLACE)]
        by_group = defaultdict(list)
        for file_no, row_no in rows_of(needed, PLACE):
            if file_no >= FIRST:
                by_group[file_no, row_no // ROWS_PER_GROUP].append(row_no)
        for (file_no, _), rows in by_group.items():
            batches = pages_at(self.prior.page_file(file_no), rows)
            found.append(compared_pages.held_neighbours(pa.Table.from_batches(batches, member_rows.NEIGHBOURS)))
        return member_rows.neighbours_from(pa.concat_tables(found))


def _compare(captures: _Captures, tables: TaskTables, config: DbceConfig) -> BucketSizes:
    """Compare new sites whole, and of grown ones what is new and what that affects; return the sizes of all buckets."""
    grown = captures.grown()
    whole = captures.pages.filter(pc.invert(pc.is_in(captures.pages.column("site"), grown)))
    sizes = whole_sites.compare_sites(_by_site(whole), tables, config)
    digests = _digests(captures.prior)
    for site in _by_site(captures.index.filter(pc.is_in(captures.index.column("site"), grown))):
        affected = grown_sites.affected_of_site(site, config)
        needed = site.filter(pc.is_in(site.column("capture_id"), pa.array(affected.needed, pa.string())))
        rows = whole_sites.ComparedRows()
        rows.add(compare_affected(affected, captures.neighbours(needed), config), site)
        rows.write(tables)
        tables.write(staging.RELABEL, _relabel(affected, site, digests))
        sizes += affected.sizes
    return sizes


def _relabel(affected: AffectedCaptures, site: pa.Table, digests: Mapping[str, str]) -> pa.RecordBatch:
    """Make RELABEL rows of the prior captures of a site that are affected."""
    rows = [
        (one, file_no, row_no // ROWS_PER_GROUP, row_no, "" if is_again else digests.get(one, ""))
        for one, file_no, row_no, is_again in rows_of(site, ("capture_id", *PLACE, "is_again"))
        if file_no >= FIRST and one in affected.affected
    ]
    return batch_of(rows, comparison_rows.RELABEL)


def _digests(prior: PriorState) -> dict[str, str]:
    """Read the digest of the evidence by which each capture was labelled last."""
    rows = collection_state.table(prior, increment_rows.DIGESTS, increment_rows.DIGESTS.names, DIGESTS)
    return dict(rows_of(rows, ("capture_id", "digest")))


def _by_site(rows: pa.Table) -> Iterator[pa.Table]:
    """Iterate over the sites of some rows, each in order of captures."""
    yield from groups(iter(rows.sort_by(_IN_ORDER).combine_chunks().to_batches()), ["site"])
