"""The stage `duplicates`: mark the texts that are like earlier ones. Digests and signatures travel; no text.

The marks of a text are brought to the task that staged it, which writes its rows beside those of its extractions.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame

from dbce_spark.output.collection import DUPLICATES, REMARKED, files
from dbce_spark.output.schemas import duplicate_rows
from dbce_spark.output.stored_rows import count_rows
from dbce_spark.spark.engine.groups import groups
from dbce_spark.spark.run import checkpoints, duplicate_files, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.job_stage import Stage
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.stage_counts import DuplicateCounts
from dbce_spark.spark.run.task_results import task_results
from dbce_spark.spark.stages.mark_duplicates import few_texts, many_texts, prior_duplicates

NAME = DUPLICATES
_ALL_MARKS = "marks"
FEW = 20_000
"""Texts that one process compares in less time than Spark takes to share them out: 7 MB, and some 2 s."""


def write(run: Run, _account: RunAccount) -> DuplicateCounts:
    """Write `duplicates`: a file beside each of `extractions`, with the rows of those that have a text in the same
    order. Of a collection also the new marks of prior texts that are like one that has changed."""
    counts = few_texts.write(run) if _are_few(run) else _write_many(run)
    return replace(counts, remarked=sum(map(count_rows, files(run.output, REMARKED))))


def _write_many(run: Run) -> DuplicateCounts:
    work, target = run.work, f"{run.output}/{DUPLICATES}"

    def write_all(batches: Iterator[pa.RecordBatch]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for group in groups(batches, ["task"]):
            task = group.column("task")[0].as_py()
            once = partial(write_task, work, target, task, group)
            counts += checkpoints.once(staging.done(work, NAME, task), Counter[str], once)
        return counts

    tasks = max(1, len([*Path(staging.path(work, staging.TEXTS)).glob("*.parquet")]))
    placed = _marks(run).where("task is not null").drop("capture_id")
    ordered = placed.repartition(tasks, "task").sortWithinPartitions("task", "row_no")
    counts = sum(task_results(ordered, write_all, Counter[str]), Counter[str]())
    if not counts:
        duplicate_files.write_none(target)
    return DuplicateCounts(**counts)


def _count(_run: Run, account: RunAccount, counts: DuplicateCounts) -> None:
    account.duplicates = counts


STAGE = Stage(name=NAME, applies=lambda run, account: run.config.duplicates.find, work=write, count=_count)


def _marks(run: Run) -> DataFrame:
    """Make MARKS rows of the staged texts, and of prior ones that are marked again."""
    texts = run.staged(staging.TEXTS, duplicate_rows.TEXTS)
    if not run.prior:
        return many_texts.marks(run, texts)
    before = prior_duplicates.prior_marks(run.spark, run.prior)
    again = prior_duplicates.relabelled(run.spark, run.output)
    extended = many_texts.extended_marks(run, before, again, texts)
    marks = run.staged_from(extended, _ALL_MARKS, duplicate_rows.MARKS)
    prior_duplicates.write(marks, before, run.output)
    return marks


def _are_few(run: Run) -> bool:
    return run.count_rows(staging.TEXTS) + prior_duplicates.count(run.prior) <= FEW


def write_task(work: str, target: str, task: int, marks: pa.Table) -> Counter[str]:
    """Write the rows of one task, from its staged texts and their MARKS rows. A second attempt writes the same.

    Raises:
        OutputError: the staged file is broken.
    """
    path = staging.staged_file(work, staging.TEXTS, task)
    with staging.opened(path) as file:
        (staged,) = file.read().combine_chunks().to_batches()
    (of_task,) = marks.combine_chunks().to_batches()
    return duplicate_files.write(target, task, staged, of_task)
