"""The stage `extractions`: merge each capture's annotations and evidence, and write its extraction.

The texts do not travel: each task reads the staged pages it is to merge by itself. What was found for them is on its
`work_list`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import NoneType

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from dbce_spark.config import DbceConfig, DuplicatesConfig
from dbce_spark.files import parquet
from dbce_spark.model import Reject
from dbce_spark.output import stored_rows
from dbce_spark.output.collection import DIGESTS, EXTRACTIONS, REJECTS, SUPERSEDED
from dbce_spark.output.schemas import duplicate_rows, increment_rows, page_rows, reject_rows
from dbce_spark.spark.engine import merge_tasks, small_run_settings
from dbce_spark.spark.engine.merge_tasks import BATCH_CAPTURES, MergeTasks
from dbce_spark.spark.run import checkpoints, extraction_files, merged_pages, single_files, staging
from dbce_spark.spark.run.compared_captures import Compared
from dbce_spark.spark.run.extraction_files import ExtractionFiles
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.job_stage import Stage
from dbce_spark.spark.run.merged_pages import MergedPages
from dbce_spark.spark.run.prior_state import FIRST, PriorState
from dbce_spark.spark.run.progress import Steps
from dbce_spark.spark.run.run_account import (
    ORIGINAL_LOST,
    RELABELLED,
    UNLABELLED,
    RunAccount,
    count_unlabelled,
    labelled,
)
from dbce_spark.spark.run.task_results import task_results
from dbce_spark.spark.stages import match_revisits, read_few, read_pages, work_list
from dbce_spark.spark.stages.work_list import RowGroup

NAME = EXTRACTIONS
_TEXTS_PER_GROUP = 8192
"""Some 350 bytes each."""


def write(run: Run, account: RunAccount) -> Counter[str]:
    """Write `extractions` and `rejects`, with a file of no rows where there are none: readers find their columns.

    Of an increment also the digest of each capture's evidence, and the prior captures that it relabels. Tasks that an
    earlier run has ended are not done again. Returns how many extractions there are, by status, by format and by flag,
    and how many of them are of prior captures, by RELABELLED.
    """
    merging = Merging(run.work, run.output, run.prior, run.config, run.request.with_html, run.request.is_increment)
    counted = run.progress.counted
    are_few = read_few.are_few(run, account)
    is_in_place = not (account.compared.has_grown or account.compared.has_large)
    list_work = work_list.of_few if are_few and is_in_place else work_list.of_many
    rows, tasks = list_work(run, _cut(run, account))

    def merge_all(batches: Iterator[pa.RecordBatch]) -> Counter[str]:
        statuses: Counter[str] = Counter()
        for task, of_task in tasks(batches):
            once = partial(merging.run, task, of_task)
            of_part = checkpoints.once(staging.done(merging.work, NAME, task), Counter[str], once)
            counted.add(of_part + Counter(parts=1))
            statuses += of_part
        return statuses

    counts = sum(task_results(rows, merge_all, Counter[str]), Counter[str]())
    if counts[UNLABELLED]:
        counts[ORIGINAL_LOST] = match_revisits.lost_originals(run, unlabelled(run)).count()
    if are_few and not counts[UNLABELLED] and small_run_settings.are_few(run.spark, account.rejects.total()):
        single_files.write_rejects(run.output, read_few.rejects(run.work))
    else:
        _write_rejects(run, has_unlabelled=counts[UNLABELLED] > 0)
    if not labelled(counts):
        extraction_files.write_none(run.output)
        if run.request.is_increment:
            parquet.write(single_files.path(run.output, DIGESTS), increment_rows.DIGESTS, [])
    return counts


def unlabelled(run: Run) -> DataFrame:
    """Read the pages that could not be labelled, as UNLABELLED rows: rejects, with their capture ids."""
    return run.staged(staging.UNLABELLED, reject_rows.UNLABELLED)


def unlabelled_ids(run: Run) -> pa.ChunkedArray:
    """Read the capture ids of these pages in this process."""
    return read_few.staged(run.work, staging.UNLABELLED, reject_rows.UNLABELLED, ["capture_id"]).column("capture_id")


def _cut(run: Run, account: RunAccount) -> MergeTasks:
    return merge_tasks.cut([one.captures for one in account.page_files], run.config.output.rows_per_file)


def _steps(run: Run, account: RunAccount) -> Steps:
    is_last = not run.config.duplicates.find
    return Steps("parts", "parts", _cut(run, account).count, pages=("crossed", "single"), is_last=is_last)


def _count(_run: Run, account: RunAccount, statuses: Counter[str]) -> None:
    account.statuses = statuses


STAGE = Stage(name=NAME, work=write, steps=_steps, count=_count)


class _Unlabelled:
    """The pages of one task that could not be labelled: a staged file that is there only if there are some."""

    def __init__(self, work: str, task: int):
        self._path = staging.staged_file(work, staging.UNLABELLED, task)
        self._rejects: dict[str, Reject] = {}

    def add(self, rejects: Mapping[str, Reject]) -> None:
        """Take rejects, by capture id."""
        self._rejects |= rejects

    def close(self) -> None:
        """Stage them, or remove what another attempt has staged."""
        Path(self._path).unlink(missing_ok=True)
        if self._rejects:
            rows = reject_rows.rejects_batch([*self._rejects.values()])
            ids = pa.array(self._rejects, pa.string())
            parquet.write(self._path, reject_rows.UNLABELLED, [rows.append_column("capture_id", ids)])


class _Texts:
    """The texts of one task, as they are compared: in the order of its files."""

    def __init__(self, work: str, task: int, open_files: ExitStack, config: DuplicatesConfig):
        path = staging.staged_file(work, staging.TEXTS, task)
        file = parquet.writer(path, duplicate_rows.TEXTS, dictionary=["url_key"], rows_per_group=_TEXTS_PER_GROUP)
        self._file = open_files.enter_context(file)
        self._task, self._rows, self._config = task, 0, config

    def add(self, merged: pa.RecordBatch) -> None:
        """Stage the texts of some EXTRACTIONS rows."""
        texts = duplicate_rows.texts_batch(merged, self._config, task=self._task, first_row=self._rows)
        self._file.write(texts)
        self._rows += texts.num_rows


@dataclass(frozen=True, slots=True)
class _Tables:
    """All that one task writes."""

    files: ExtractionFiles
    texts: _Texts | None
    unlabelled: _Unlabelled


@dataclass(frozen=True, slots=True)
class Merging:
    """The merging of row groups by tasks. A second attempt at one writes the same bytes under the same names."""

    work: str
    output: str
    prior: PriorState
    config: DbceConfig
    with_html: bool
    is_increment: bool

    def run(self, task: int, of_task: Iterator[RowGroup]) -> Counter[str]:
        """Do one task; return how many rows it wrote, by status, and how many of them are of prior captures."""
        statuses: Counter[str] = Counter()
        with ExitStack() as open_files:
            files = ExtractionFiles(self.output, task, open_files)
            has_texts = self.config.duplicates.find
            texts = _Texts(self.work, task, open_files, self.config.duplicates) if has_texts else None
            unlabelled = open_files.enter_context(closing(_Unlabelled(self.work, task)))
            tables = _Tables(files, texts, unlabelled)
            for group in of_task:
                statuses += self._group(group, tables)
        return statuses

    def _group(self, group: RowGroup, tables: _Tables) -> Counter[str]:
        """Merge and write one row group of a file of pages."""
        if group.file_no < FIRST:
            file = staging.opened(staging.staged_file(self.work, read_pages.NAME, group.file_no))
            kept = _without(read_pages.merging_batches(file, group.number), group.dropped)
            return self._write(kept, group.compared, tables)
        changed = [row["row_no"] for row in group.relabel if group.compared.digest(row["capture_id"]) != row["before"]]
        if not changed:
            return Counter()
        file = stored_rows.opened(self.prior.page_file(group.file_no))
        again = _only(read_pages.merging_batches(file, group.number), changed)
        statuses = self._write(again, group.compared, tables, is_prior=True)
        return statuses + Counter({RELABELLED: labelled(statuses)})

    def _write(
        self, kept: Iterable[pa.RecordBatch], compared: Compared, tables: _Tables, *, is_prior: bool = False
    ) -> Counter[str]:
        """Merge and write some pages, and stage their texts.

        A prior page that cannot be labelled again keeps the row that it has.
        """
        statuses: Counter[str] = Counter()
        files = tables.files
        for merged in merge(kept, compared, self.config, self.with_html):
            rows = merged.rows
            if is_prior:
                files.write(SUPERSEDED, rows.select(["capture_id"]).cast(increment_rows.SUPERSEDED))
            elif merged.unlabelled:
                statuses += count_unlabelled(merged.unlabelled.values())
                tables.unlabelled.add(merged.unlabelled)
            if not rows.num_rows:
                continue
            statuses += merged.counts()
            if tables.texts is not None:
                tables.texts.add(rows)
            files.write_merged(rows)
            if self.is_increment:
                ids = rows.column("capture_id")
                digests = pa.array([compared.digest(one) for one in ids.to_pylist()], pa.string())
                files.write(DIGESTS, pa.RecordBatch.from_arrays([ids, digests], schema=increment_rows.DIGESTS))
        return statuses


def _without(batches: Iterator[pa.RecordBatch], dropped: Sequence[int]) -> Iterator[pa.RecordBatch]:
    rows = pa.array(dropped, pa.int32())
    for batch in batches:
        yield batch.filter(pc.invert(pc.is_in(batch.column("row_no"), rows)))


def _only(batches: Iterator[pa.RecordBatch], wanted: Sequence[int]) -> Iterator[pa.RecordBatch]:
    rows = pa.array(wanted, pa.int32())
    for batch in batches:
        chosen = batch.filter(pc.is_in(batch.column("row_no"), rows))
        if chosen.num_rows:
            yield chosen


def merge(
    batches: Iterable[pa.RecordBatch], compared: Compared, config: DbceConfig, with_html: bool
) -> Iterator[MergedPages]:
    """Make EXTRACTIONS rows of the staged pages of a row group, some at a time, with annotated HTML if it is asked for.

    The lots follow from the rows and their numbers alone, so that a run without Spark has the same.
    """
    staged = (
        (row_no // BATCH_CAPTURES, (page, html))
        for batch in batches
        for page, html, row_no in zip(
            page_rows.pages_from(batch), *(batch.column(name).to_pylist() for name in ("html", "row_no")), strict=True
        )
    )
    for _, window in groupby(staged, key=itemgetter(0)):
        for lot in merged_pages.lots(one for _, one in window):
            seen = compared.fetch_times(page for page, _ in lot)
            yield merged_pages.merge(lot, compared.gather, seen, config, with_html)


def _write_rejects(run: Run, *, has_unlabelled: bool) -> None:
    """Write all rejects, in order of file and offset."""
    rejects = read_pages.rejects(run).unionByName(match_revisits.rejects(run))
    if has_unlabelled:
        late = unlabelled(run)
        rejects = rejects.unionByName(late.drop("capture_id")).unionByName(match_revisits.lost_originals(run, late))
    path = single_files.path(run.output, REJECTS)

    def write_part(batches: Iterator[pa.RecordBatch]) -> None:
        parquet.write(path, reject_rows.REJECTS, batches)

    ordered = rejects.repartition(1).sortWithinPartitions(*single_files.REJECTS_ORDER)
    if not task_results(ordered, write_part, NoneType):
        parquet.write(path, reject_rows.REJECTS, [])
