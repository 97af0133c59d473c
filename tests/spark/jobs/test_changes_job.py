"""The history of a whole collection as tables: what the pure functions say of its pages, however these are spread."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from dbce_spark.archive.index.urls import url_key
from dbce_spark.errors import JobError, OutputError
from dbce_spark.files import parquet
from dbce_spark.log import Log
from dbce_spark.output.collection import Collection, Increment, Version
from dbce_spark.output.history import page_history, url_history
from dbce_spark.output.history.page_history import PageRedesign
from dbce_spark.output.output_reader import Output, list_increments
from dbce_spark.output.schemas import capture_rows, extraction_rows, history_rows, increment_rows, member_rows
from dbce_spark.spark.jobs import changes_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

URLS = [f"http://www.example.org/{name}" for name in "abc"]
ALONE, ELSEWHERE = "http://www.example.org/alone", "http://www.example.net/"
SETTINGS = {"config": {"lsh": {"threshold": 0.6, "permutations": 4, "seed": 1, "threshold_by_site": {}}}}
TEXTS = [f"On day {day} the council of the town has met and decided to build new schools." for day in range(4)]


def capture(url: str, day: int, extraction_id: str = "") -> dict[str, Any]:
    """A capture of that day; without an id it has an extraction of its own."""
    capture_id = f"{url_key(url)}@{day:02}"
    return {
        "capture_id": capture_id,
        "extraction_id": extraction_id or capture_id,
        "url": url,
        "url_key": url_key(url),
        "site": url.removeprefix("http://www.").split("/")[0],
        "timestamp": datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=day, microseconds=1),
    }


def extraction(of: dict[str, Any], *texts: str, label: str = "content") -> dict[str, Any]:
    segments, start = [], 0
    for block, text in enumerate(texts):
        span = {"block": block, "start": start, "end": start + len(text), "xpath": f"/p[{block + 1}]"}
        segments.append({**span, "label": label if block else "boilerplate"})
        start += len(text) + 1
    return of | {"template_id": of["template"], "page_text": "\n".join(texts), "segments": segments}


def held(of: dict[str, Any], day: int) -> list[str]:
    """Make the page of a day: a menu, entries that come and go, one that is corrected."""
    entries = [f"Entry {(day + at) % 5} of {of['url']}" for at in range(day % 4)]
    return ["Menu" if day < 5 else "Home", *entries, TEXTS[day % 3], "Foot", "Foot"]


def write(folder: str, table: str, schema: pa.Schema, rows: list[dict[str, Any]]) -> None:
    known = [{name: row[name] for name in schema.names if name in row} for row in rows]
    parquet.write(f"{folder}/{table}/part-00000.parquet", schema, [pa.RecordBatch.from_pylist(known, schema=schema)])


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Two increments: ten days of three pages with revisits, one of which shares what another page held; one page that
    was fetched once; revisits without an original, and one that is as it was long before; labels that the second
    increment has changed; another template from day 5 on."""
    of = Collection(str(tmp_path_factory.mktemp("c")))
    fetched = [
        capture(url, day, extraction_id=capture(url, day - 1)["capture_id"] if day % 4 == 3 else "")
        for url in URLS
        for day in range(10)
        if day % 4 != 2 or url != URLS[2]
    ]
    fetched.append(capture(URLS[0], 10, extraction_id=fetched[1]["capture_id"]))
    fetched += [capture(ALONE, 1), capture(ELSEWHERE, 2, fetched[0]["capture_id"]), capture(ELSEWHERE, 4)]
    for one in fetched:
        day = int(one["capture_id"][-2:])
        one |= {"day": day, "template": "t1" if day < 5 else "t2"}
        one["signature"] = np.full(4, day // 5, "<u4").tobytes()
    own = [one for one in fetched if one["capture_id"] == one["extraction_id"]]
    increments: list[Increment] = []
    for number, is_second in ((1, False), (2, True)):
        new = [one for one in fetched if (one["day"] >= 6) == is_second]
        again = [one for one in own if one["day"] == 5] if is_second else []
        folder = of.increment(number)
        rows = [extraction(one, *held(one, one["day"])) for one in own if one in new]
        rows += [extraction(one, *held(one, one["day"]), label="boilerplate") for one in again]
        write(folder, "extractions/site_part=0", extraction_rows.EXTRACTIONS, rows)
        write(folder, "captures", capture_rows.CAPTURES, new)
        write(folder, "members", member_rows.MEMBERS, [{**one, "timestamp": 0} for one in own if one in new])
        if again:
            write(folder, "superseded", increment_rows.SUPERSEDED, again)
        counts = {"captures": len(new), "extractions": len(rows) - len(again), "relabelled": len(again)}
        increments.append(Increment(number=number, page_files=0, **counts))
        of.commit(Version(number=number, made="", why="extract", increments=tuple(increments), settings=SETTINGS))
    return of


def plain(of: Collection) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of all tables by the pure functions alone, URL by URL."""
    compared: list[page_history.HistoryStep] = []
    for url in [*URLS, ELSEWHERE]:
        tables = Output(root=of.folder, run={}, runs=list_increments(of, of.current()))
        line = url_history.moments(tables, url)
        ongoing = page_history.Lives(line[0])
        for step in page_history.steps(line):
            yield "steps", history_rows.steps_batch(step, is_redesigned=step.is_redesigned(0.6))
            yield "changes", history_rows.changes_batch(step)
            yield "lives", history_rows.lives_batch(step.before, ongoing.advance(step))
            compared += [step] if step.similarity is not None and step.after.site == "example.org" else []
        yield "lives", history_rows.lives_batch(line[-1], ongoing.remaining())
    changed = [
        PageRedesign(
            url=step.after.url,
            before=step.before.timestamp,
            after=step.after.timestamp,
            template_from=step.before.template_id,
            template_to=step.after.template_id,
        )
        for step in compared
        if step.is_redesigned(0.6)
    ]
    times = (np.sort([getattr(step, side).timestamp for step in compared]) for side in ("before", "after"))
    yield "redesigns", history_rows.redesigns_batch("example.org", page_history.redesigns(changed, *times))


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(str, rows))


@pytest.mark.parametrize("captures_per_file", [1000, 10])
def test_the_tables_are_what_the_pure_functions_say(
    spark: "SparkSession",
    collection: Collection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    captures_per_file: int,
) -> None:
    """In one part as in three; of one URL in one file, in order of time."""
    output = tmp_path / "history"
    monkeypatch.setattr(changes_job, "CAPTURES_PER_FILE", captures_per_file)
    account = changes_job.write(spark, collection, collection.current(), str(output), Log())
    expected: dict[str, list[dict[str, Any]]] = {}
    for name, batch in plain(collection):
        expected.setdefault(name, []).extend(batch.to_pylist())
    written = {name: ds.dataset(output / name).to_table().to_pylist() for name in expected}

    assert {name: in_order(rows) for name, rows in expected.items()} == {
        name: in_order(rows) for name, rows in written.items()
    }
    assert [("example.org", 3)] == [(row["site"], row["pages"]) for row in written["redesigns"]]
    assert sum(account.changes.values()) == len(written["changes"])
    assert (4, len(written["steps"])) == (account.urls, account.steps)
    for path in (output / "steps").iterdir():
        rows = ds.dataset(path).to_table().to_pylist()
        assert rows == sorted(rows, key=lambda row: (row["url_key"], row["timestamp"]))


def test_of_what_goes_wrong_nothing_is_left(spark: "SparkSession", collection: Collection, tmp_path: Path) -> None:
    """A folder that holds something is refused; a broken file is named."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").touch()
    with pytest.raises(OutputError, match="is not empty"):
        changes_job.write(spark, collection, collection.current(), str(tmp_path / "full"), Log())
    _, path = collection.files(collection.current(), "extractions")[0]
    stored = Path(path).read_bytes()
    Path(path).write_bytes(stored[: len(stored) // 2])
    try:
        with pytest.raises(JobError, match=r"part-00000\.parquet is broken"):
            changes_job.write(spark, collection, collection.current(), str(tmp_path / "history"), Log())
    finally:
        Path(path).write_bytes(stored)

    assert ["full"] == [one.name for one in tmp_path.iterdir()]


@pytest.mark.parametrize("table", ["captures", "members"])
def test_a_copy_without_some_captures_is_refused(
    spark: "SparkSession", collection: Collection, tmp_path: Path, table: str
) -> None:
    """A URL would have changed at another time, or not at all."""
    copy = Collection(str(shutil.copytree(collection.folder, tmp_path / "c")))
    shutil.rmtree(Path(copy.increment(1), table))

    missing = rf"{copy.increment(1)}/{table} has 0 rows, and \d+ were written: a part is missing; restore it"

    with pytest.raises(OutputError, match=missing):
        changes_job.write(spark, copy, copy.current(), str(tmp_path / "history"), Log())
    assert ["c"] == [one.name for one in tmp_path.iterdir()]
