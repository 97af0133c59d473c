"""A collection of the three crawls of the sample archive, as `dbce extract --collection` makes it, made without Spark:
each increment has those rows of a run over all crawls so far that no increment before has."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.samples import write_archive
from dbce_spark import __version__, config
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local
from dbce_spark.files import parquet, sources
from dbce_spark.model import RejectReason
from dbce_spark.output import collection
from dbce_spark.output.collection import INPUTS, Collection, Increment, Version
from dbce_spark.output.schemas import duplicate_rows, increment_rows, member_rows, reject_rows
from dbce_spark.spark.run.extraction_files import SCHEMA
from tests.support import plain_tables
from tests.support.builders import archive, marked_batch
from tests.support.sample_output import HARD

PARAMETERS = config.load(settings=["language.detect=false", "output.site_parts=3", "duplicates.threshold=0.7"])
TABLES = EXTRACTIONS, CAPTURES, REJECTS, DUPLICATES = "extractions", "captures", "rejects", "duplicates"
Rows = list[dict[str, Any]]


def make(folder: Path, *, pages: int = 24) -> Path:
    """The collection of three crawls, with a table of duplicates, in `folder`/collection; the archive beside it.

    The crawl between the others comes last: so revisits of the last one have no original at first.
    """
    write_archive(folder / "archive", pages=pages, seed=3)
    archive(folder / "archive" / "hard.warc.gz", *HARD)
    return grow(folder / "collection", crawls(folder))


def crawls(folder: Path) -> list[list[str]]:
    """The files of the crawls of `make`, as they came."""
    first, second, third, hard = sources.expand([str(folder / "archive")], PARAMETERS.input.patterns)
    return [[first, hard], [third], [second]]


def grow(folder: Path, came: Sequence[Sequence[str]], parameters: DbceConfig = PARAMETERS) -> Path:
    """A collection of some crawls, each of some files, which came one after the other."""
    to, known, before = Collection(str(folder)), Known(), local.extract([], parameters)
    for number in range(1, len(came) + 1):
        result = _extracted([path for crawl in came[:number] for path in crawl], parameters)
        increment = _write(to, number, known, (before, result), parameters)
        sizes = {path: Path(path).stat().st_size for path in came[number - 1]}
        Path(to.increment(number), INPUTS).write_text(json.dumps(sizes))
        before, latest = result, to.latest()
        increments = (*(latest.increments if latest else ()), increment)
        all_of_them = parameters.as_dict()
        settings = {"config": {"output": {"site_parts": parameters.output.site_parts}}}
        settings["config"] |= {name: all_of_them[name] for name in ("lsh", "label")}
        made = f"2026-01-0{number}T00:00:00+00:00"
        to.commit(Version(number=number, made=made, why="extract", increments=increments, settings=settings))
    return folder


def _extracted(paths: Sequence[str], parameters: DbceConfig) -> local.Result:
    """One run over some files. Those of late are not done again while their files are as they were."""
    key = (repr(parameters), *((path, Path(path).stat().st_mtime_ns) for path in paths))
    if key not in _LATE:
        _LATE[key] = local.extract(paths, parameters)
    if len(_LATE) > 8:
        del _LATE[next(iter(_LATE))]
    return _LATE[key]


_LATE: dict[object, local.Result] = {}


class Known:
    """The rows of each table that increments have so far, as text by the row's key."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, str]] = {name: {} for name in TABLES}

    def fresh(self, table: str, rows: pa.RecordBatch, key: Sequence[str]) -> tuple[pa.RecordBatch, list[str]]:
        """The rows that say something else than before, and the keys of those that stand for others."""
        found, replaced = [], []
        for at, row in enumerate(rows.to_pylist()):
            name, text = "|".join(str(row[one]) for one in key), str(row)
            if self.rows[table].get(name) != text:
                found.append(at)
                replaced += [name] if name in self.rows[table] else []
                self.rows[table][name] = text
        return rows.take(pa.array(found, pa.int64())), replaced


def _write(
    to: Collection, number: int, known: Known, runs: tuple[local.Result, local.Result], parameters: DbceConfig
) -> Increment:
    """Write what the second of two runs has and the first has not."""
    before, result = runs
    folder = to.increment(number)
    rows, replaced = known.fresh(EXTRACTIONS, plain_tables.extractions(result, parameters), ["capture_id"])
    _write_extractions(folder, rows, result)
    if replaced:
        superseded = pa.RecordBatch.from_pydict({"capture_id": replaced}, increment_rows.SUPERSEDED)
        _write_table(folder, collection.SUPERSEDED, superseded)
    (captures,) = plain_tables.captures(result).combine_chunks().to_batches()
    fetched, _ = known.fresh(CAPTURES, captures, ["capture_id"])
    _write_table(folder, CAPTURES, fetched)
    rejects = [
        one for one in result.rejects if one not in before.rejects or one.reason is RejectReason.REVISIT_UNRESOLVED
    ]
    _write_table(folder, REJECTS, reject_rows.rejects_batch(rejects))
    _write_members(folder, result, {*rows.column("capture_id").to_pylist()} - {*replaced})
    counts = {"captures": len(fetched), "extractions": len(rows) - len(replaced), "relabelled": len(replaced)}
    run = _run(runs, parameters) | counts | {"rejects": Counter(str(one.reason) for one in rejects)}
    Path(folder, "run.json").write_text(json.dumps(run | {"plan": f"plan {number}", "run_id": f"run {number}"}))
    return Increment(number=number, page_files=run["files"], **counts)


def _write_table(folder: str, table: str, rows: pa.RecordBatch) -> None:
    parquet.write(f"{folder}/{table}/part-00000.parquet", rows.schema, [rows])


def _write_extractions(folder: str, rows: pa.RecordBatch, result: local.Result) -> None:
    """Write two files for each site part, and their duplicates beside them; of no rows two empty ones."""
    marks = {one.text.capture_id: at for at, one in enumerate(result.duplicates)}
    marked = marked_batch(result.duplicates)
    for part, of_part in [*plain_tables.by_part(rows)] or [(0, rows.select(SCHEMA.names))]:
        for at in range(2):
            some = of_part.take(pa.array(range(at, len(of_part), 2), pa.int64()))
            name = f"site_part={part}/part-{at:05}.parquet"
            parquet.write(f"{folder}/{EXTRACTIONS}/{name}", SCHEMA, [some])
            with_text = [marks[one] for one in some.column("capture_id").to_pylist() if one in marks]
            if with_text:
                beside = marked.take(pa.array(with_text))
                parquet.write(f"{folder}/{DUPLICATES}/{name}", duplicate_rows.DUPLICATES, [beside])


def _run(runs: tuple[local.Result, local.Result], parameters: DbceConfig) -> dict[str, Any]:
    """Make what run.json says of an increment, but for the counts of what was written."""
    before, result = runs
    files = result.failed_files["of"] - before.failed_files["of"]
    return {
        "records_read": result.records_read - before.records_read,
        "revisits": len(result.revisits) - len(before.revisits),
        "skipped": result.skipped - before.skipped,
        "page_files": files,
        "seconds": {"start": 1.5, "pages": 2.0},
        "pages_per_second_per_core": 3.5,
        "largest_bucket": 7,
        "capped_buckets": 0,
        "files": files,
        "failed_files": {"count": 0, "of": files, "first": {}},
        "config": parameters.as_dict(),
        "versions": {"dbce_spark": __version__},
    }


def _write_members(folder: str, result: local.Result, ids: set[str]) -> None:
    """Write the new captures, with their signatures, as an increment's members."""
    rows = [
        {
            "capture_id": one.page.capture_id,
            "site": one.page.capture.site,
            "url_key": one.page.capture.url_key,
            "signature": None if one.page.signature is None else one.page.signature.astype("<u4").tobytes(),
        }
        for one in result.extractions
        if one.page.capture_id in ids
    ]
    (batch,) = pa.Table.from_pylist(rows, member_rows.MEMBERS).combine_chunks().to_batches() or [None]
    batches = [] if batch is None else [batch]
    parquet.write(f"{folder}/{collection.MEMBERS}/part-00000.parquet", member_rows.MEMBERS, batches)


def whole(folder: Path, count: int = 3) -> local.Result:
    """One run over the first crawls that came to the collection of `make`."""
    return _extracted([path for crawl in crawls(folder.parent)[:count] for path in crawl], PARAMETERS)


def texts(result: local.Result) -> Mapping[str, str]:
    """The main texts of a run by capture."""
    return {one.page.capture_id: one.text for one in result.extractions}
