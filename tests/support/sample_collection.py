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
from dbce_spark.dbce.kept_formats import Formats
from dbce_spark.files import sources, storage
from dbce_spark.model import RejectReason, Seen
from dbce_spark.output import collection
from dbce_spark.output.collection import Collection, Increment, Version
from dbce_spark.output.schemas import (
    capture_rows,
    duplicate_rows,
    extraction_rows,
    increment_rows,
    member_rows,
    reject_rows,
)
from tests.support.builders import archive, marked_batch
from tests.support.sample_output import HARD

PARAMETERS = config.load(settings=["language.detect=false", "output.site_parts=3", "duplicates.threshold=0.7"])
TABLES = EXTRACTIONS, CAPTURES, REJECTS, DUPLICATES = "extractions", "captures", "rejects", "duplicates"
Rows = list[dict[str, Any]]
_EXTRACTIONS = extraction_rows.EXTRACTIONS.remove(extraction_rows.EXTRACTIONS.get_field_index("site_part"))


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
        result = local.extract([path for crawl in came[:number] for path in crawl], parameters)
        increment = _write(to, number, known, result, before, parameters, len(came[number - 1]))
        before, latest = result, to.latest()
        increments = (*(latest.increments if latest else ()), increment)
        all_of_them = parameters.as_dict()
        settings = {"config": {"output": {"site_parts": parameters.output.site_parts}}}
        settings["config"] |= {name: all_of_them[name] for name in ("lsh", "label")}
        made = f"2026-01-0{number}T00:00:00+00:00"
        to.commit(Version(number=number, made=made, why="extract", increments=increments, settings=settings))
    return folder


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
    to: Collection,
    number: int,
    known: Known,
    result: local.Result,
    before: local.Result,
    parameters: DbceConfig,
    files: int,
) -> Increment:
    folder = to.increment(number)
    extracted = extractions(result, parameters)
    rows, replaced = known.fresh(EXTRACTIONS, extracted, ["capture_id"])
    marks = {one.text.capture_id: at for at, one in enumerate(result.duplicates)}
    marked = marked_batch(result.duplicates)
    for part in sorted({*rows.column("site_part").to_pylist()} or {0}):
        of_part = rows.filter(pa.compute.equal(rows.column("site_part"), part)).select(_EXTRACTIONS.names)
        for at in range(2):
            some = of_part.take(pa.array(range(at, len(of_part), 2), pa.int64()))
            name = f"site_part={part}/part-{at:05}.parquet"
            storage.write_parquet(f"{folder}/{EXTRACTIONS}/{name}", _EXTRACTIONS, [some])
            with_text = [marks[one] for one in some.column("capture_id").to_pylist() if one in marks]
            if with_text:
                beside = marked.take(pa.array(with_text))
                storage.write_parquet(f"{folder}/{DUPLICATES}/{name}", duplicate_rows.DUPLICATES, [beside])
    if replaced:
        batch = pa.RecordBatch.from_pydict({"capture_id": replaced}, increment_rows.SUPERSEDED)
        storage.write_parquet(
            f"{folder}/{collection.SUPERSEDED}/part-00000.parquet", increment_rows.SUPERSEDED, [batch]
        )
    fetched, _ = known.fresh(CAPTURES, captures(result), ["capture_id"])
    storage.write_parquet(f"{folder}/{CAPTURES}/part-00000.parquet", capture_rows.CAPTURES, [fetched])
    written = [
        one for one in result.rejects if one not in before.rejects or one.reason is RejectReason.REVISIT_UNRESOLVED
    ]
    storage.write_parquet(
        f"{folder}/{REJECTS}/part-00000.parquet", reject_rows.REJECTS, [reject_rows.rejects_batch(written)]
    )
    _members(folder, result, {*rows.column("capture_id").to_pylist()} - {*replaced})
    new = len(rows) - len(replaced)
    run = {
        "records_read": result.records_read - before.records_read,
        "captures": len(fetched),
        "extractions": new,
        "revisits": len(result.revisits) - len(before.revisits),
        "rejects": Counter(str(one.reason) for one in written),
        "skipped": result.skipped - before.skipped,
        "relabelled": len(replaced),
        "page_files": files,
        "seconds": {"start": 1.5, "pages": 2.0},
        "pages_per_second_per_core": 3.5,
        "largest_bucket": 7,
        "capped_buckets": 0,
        "files": files,
        "failed_files": {"count": 0, "of": files, "first": {}},
        "plan": f"plan {number}",
        "config": parameters.as_dict(),
        "versions": {"dbce_spark": __version__},
    }
    Path(folder, "run.json").write_text(json.dumps(run))
    return Increment(number=number, page_files=files, captures=len(fetched), extractions=new, relabelled=len(replaced))


def _members(folder: str, result: local.Result, ids: set[str]) -> None:
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
    storage.write_parquet(f"{folder}/{collection.MEMBERS}/part-00000.parquet", member_rows.MEMBERS, batches)


def extractions(result: local.Result, parameters: DbceConfig) -> pa.RecordBatch:
    """The extractions of a run, as EXTRACTIONS rows."""
    languages = local.detect_languages(result.extractions, parameters.language)
    htmls = [Formats()] * len(result.extractions)
    times: dict[str, list[int]] = {}
    for one in result.revisits:
        times.setdefault(one.original_id, []).append(one.revisit.timestamp)
    seen = {}
    for capture in (one.page.capture for one in result.extractions):
        if later := times.get(capture.capture_id):
            fetched = [capture.timestamp, *later]
            seen[capture.capture_id] = Seen(first=min(fetched), last=max(fetched), revisits=len(later))
    return extraction_rows.extractions_batch(result.extractions, languages, htmls, parameters.output.site_parts, seen)


def captures(result: local.Result) -> pa.RecordBatch:
    own = capture_rows.captures_batch([one.page.capture for one in result.extractions])
    both = pa.Table.from_batches([own, capture_rows.revisited_batch(result.revisits)])
    (found,) = both.combine_chunks().to_batches()
    return found


def whole(folder: Path, count: int = 3) -> local.Result:
    """One run over the first crawls that came to the collection of `make`."""
    return local.extract([path for crawl in crawls(folder.parent)[:count] for path in crawl], PARAMETERS)


def texts(result: local.Result) -> Mapping[str, str]:
    """The main texts of a run by capture."""
    return {one.page.capture_id: one.text for one in result.extractions}
