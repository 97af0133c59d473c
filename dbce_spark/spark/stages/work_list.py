"""The work list of the stage `extractions`: the row groups of staged pages that are to be merged, each with all that
was found for it. Texts are not in it: each task reads the pages of its row groups by itself.

Annotations and evidence are brought to the tasks by Spark. Of few captures each task finds its own.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dbce_spark.output.schemas import comparison_rows, page_rows
from dbce_spark.spark.engine.groups import groups
from dbce_spark.spark.engine.merge_tasks import ROWS_PER_GROUP, MergeTasks, row_group
from dbce_spark.spark.engine.numbered_tasks import one_task_each, task_numbers
from dbce_spark.spark.run import collection_state, staging
from dbce_spark.spark.run.compared_captures import Compared, Rows
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.stages import match_revisits, read_few, read_pages
from dbce_spark.spark.stages.compare_pages import compare, grown_sites

_Place = tuple[int, int]
"""A file of pages, and the number of a row group in it."""
_DROPPED, _RELABEL, _ANNOTATION, _EVIDENCE, _SEEN, _MERGE = range(6)


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A row group of a file of pages: the rows that are dropped, and of prior pages the RELABEL rows of those that may
    be labelled again."""

    file_no: int
    number: int
    compared: Compared
    dropped: Sequence[int] = ()
    relabel: Sequence[dict[str, Any]] = ()


class WorkList(NamedTuple):
    """The input of the tasks, and how they read it: the number of each task, and its row groups.

    The row groups of a task follow from the staged rows alone, so that the same input gives the same files.
    """

    rows: DataFrame
    tasks: Callable[[Iterator[pa.RecordBatch]], Iterator[tuple[int, Iterator[RowGroup]]]]


def of_many(run: Run, cut: MergeTasks) -> WorkList:
    """Bring all that is to be merged to its task, a partition.

    A row group of a file of pages has rows for the pages that are dropped, or for prior pages that may be relabelled;
    for annotations, evidence and revisits of its pages; and last a row that says: all is there, merge it."""
    relabel = _staged_relabel(run) if run.prior else None
    places = relabel.select("file_no", "row_group").distinct().collect() if relabel is not None else []
    by_task = cut.by_task((one["file_no"], one["row_group"]) for one in places)
    of_task = run.spark.createDataFrame(
        [(*one, task) for task, some in enumerate(by_task) for one in some], "file_no int, row_group int, task int"
    )
    marks = of_task.select("file_no", "row_group", F.lit(_MERGE).alias("step"))
    drops = read_pages.dropped(run).select("file_no", row_group(), F.lit(_DROPPED).alias("step"), "row_no")
    rows = [marks, drops, *_with_steps(*compare.read_by_place(run))]
    places_of = read_pages.kept(run).select("capture_id", "file_no", row_group())
    if relabel is not None:
        rows.append(relabel.withColumn("step", F.lit(_RELABEL)))
        places_of = places_of.unionByName(relabel.select("capture_id", "file_no", "row_group"))
    seen = match_revisits.seen(run).select("capture_id", F.lit(_SEEN).alias("step"), "seen")
    of_captures = _united([*_with_steps(*compare.read_by_capture(run)), seen])
    rows.append(of_captures.join(places_of, on="capture_id", how="inner").drop("capture_id"))
    placed = _united(rows).join(F.broadcast(of_task), on=["file_no", "row_group"], how="inner")
    parted = placed.repartition(max(1, len(by_task)), "task")
    return WorkList(parted.sortWithinPartitions("task", "file_no", "row_group", "step"), _brought_tasks)


def _with_steps(annotations: DataFrame, evidence: DataFrame) -> tuple[DataFrame, DataFrame]:
    return annotations.withColumn("step", F.lit(_ANNOTATION)), evidence.withColumn("step", F.lit(_EVIDENCE))


def _united(rows: Sequence[DataFrame]) -> DataFrame:
    """Put rows of several kinds below each other; columns that a kind lacks are null."""
    return reduce(lambda above, below: above.unionByName(below, allowMissingColumns=True), rows)


def _staged_relabel(run: Run) -> DataFrame:
    """Read the prior captures whose evidence may have changed, as RELABEL rows, and stage them unless they are."""
    if staging.is_whole(run.work, staging.RELABEL):
        return run.staged(staging.RELABEL, comparison_rows.RELABEL)
    affected = grown_sites.affected_captures(run)
    digests = affected.join(collection_state.digests(run.spark, run.prior), on="capture_id", how="left")
    refetched = match_revisits.fetched_again(run).withColumn("is_refetched", F.lit(True))
    before = F.when(F.col("is_refetched").isNull(), F.col("digest"))
    rows = digests.join(refetched, on="capture_id", how="left").select(
        "capture_id", "file_no", row_group(), "row_no", F.coalesce(before, F.lit("")).alias("before")
    )
    return run.staged_from(rows, staging.RELABEL, comparison_rows.RELABEL)


def _brought_tasks(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Iterator[RowGroup]]]:
    of_groups = groups(batches, ["task", "file_no", "row_group"])
    for task, of_task in groupby(of_groups, lambda group: group.column("task")[0].as_py()):
        yield task, map(_row_group, of_task)


def _row_group(rows: pa.Table) -> RowGroup:
    """Make a row group of what was brought for it."""
    file_no, number = (rows.column(name)[0].as_py() for name in ("file_no", "row_group"))
    by_step = {step: rows.filter(pc.equal(rows.column("step"), step)) for step in range(_MERGE)}
    compared = Compared(
        _by_capture(by_step[_ANNOTATION].column("annotation").to_pylist(), "cur"),
        _by_capture(by_step[_EVIDENCE].column("evidence").to_pylist(), "capture_id"),
        {row["capture_id"]: row for row in by_step[_SEEN].column("seen").to_pylist()},
    )
    dropped, relabel = by_step[_DROPPED].column("row_no").to_pylist(), by_step[_RELABEL].to_pylist()
    return RowGroup(file_no, number, compared, dropped, relabel)


def _by_capture(rows: Sequence[dict[str, Any]], name: str) -> Rows:
    """Group rows by the capture id in the column `name`."""
    by_capture: Rows = defaultdict(list)
    for row in rows:
        by_capture[row[name]].append(row)
    return by_capture


def of_few(run: Run, cut: MergeTasks) -> WorkList:
    """List what is to be merged where all of it has a place: nothing is brought but what the driver holds of few
    captures."""
    relabel = _by_place(read_few.staged(run.work, staging.RELABEL, comparison_rows.RELABEL))
    dropped = read_few.staged(run.work, read_pages.DROPPED, page_rows.DROPPED)
    by_task = cut.by_task(relabel)
    found = _FewFound(run.work, by_task, _by_place(dropped), relabel, read_few.seen(run))
    return WorkList(one_task_each(run.spark, max(1, len(by_task))), found.tasks)


@dataclass(frozen=True, slots=True)
class _FewFound:
    """All that was found for the row groups of few captures, but for annotations and evidence, which are larger: each
    task reads those that are staged."""

    work: str
    by_task: Sequence[Sequence[_Place]]
    dropped: dict[_Place, list[dict[str, Any]]]
    relabel: dict[_Place, list[dict[str, Any]]]
    seen: dict[str, dict[str, Any]]

    def tasks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Iterator[RowGroup]]]:
        for task in task_numbers(batches):
            if task < len(self.by_task):
                yield task, self._row_groups(self.by_task[task])

    def _row_groups(self, places: Sequence[_Place]) -> Iterator[RowGroup]:
        files = pa.array([file_no for file_no, _ in places], pa.int32())
        tables = (
            read_few.staged(self.work, staging.PAGE_ANNOTATIONS, comparison_rows.PAGE_ANNOTATIONS),
            read_few.staged(self.work, staging.PAGE_EVIDENCE, comparison_rows.PAGE_EVIDENCE),
        )
        annotations, evidence = (_by_place(table.filter(pc.is_in(table.column("file_no"), files))) for table in tables)
        for place in places:
            compared = Compared(
                _by_capture(annotations.get(place, []), "cur"),
                _by_capture(evidence.get(place, []), "capture_id"),
                self.seen,
            )
            dropped = [row["row_no"] for row in self.dropped.get(place, [])]
            yield RowGroup(*place, compared, dropped, self.relabel.get(place, []))


def _by_place(rows: pa.Table) -> dict[_Place, list[dict[str, Any]]]:
    """Group rows with a place, file_no and row_no, by the row group that this is in."""
    by_place: dict[_Place, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.to_pylist():
        by_place[row["file_no"], row["row_no"] // ROWS_PER_GROUP].append(row)
    return by_place
