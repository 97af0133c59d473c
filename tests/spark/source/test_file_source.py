"""A stream's files by step, whatever comes between; no Spark runs."""

import gc
import json
import tracemalloc
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles

from dbce_spark.errors import OutputError
from dbce_spark.spark.source import file_source
from dbce_spark.spark.source.file_source import Arrivals, ArrivalsReader, Ledger, TakenNames, next_batch

LIMIT = ReadMaxFiles(2)


def reader(folder: Path, **given: Any) -> ArrivalsReader:
    """Make the reader that Spark makes in a process: of the folder `in`, two files a batch."""
    options = {"inputs": json.dumps([str(folder / "in")]), "patterns": json.dumps(["*.warc"])}
    options |= {"ledger": str(folder / "ledger"), "files": "2", "bytes": "1000000"}
    return Arrivals(options | {name: str(value) for name, value in given.items()}).streamReader(None)


def put(folder: Path, *names: str, size: int = 1) -> None:
    (folder / "in").mkdir(exist_ok=True)
    for name in names:
        (folder / "in" / name).write_bytes(b"x" * size)


def step(of: ArrivalsReader, start: dict[str, int]) -> tuple[list[str], dict[str, int]]:
    """The names of the files of the next batch, and where it ends."""
    end = of.latestOffset(start, LIMIT)
    rows = [row for one in of.partitions(start, end) for batch in of.read(one) for row in batch.to_pylist()]
    assert [*range(start["files"], end["files"])] == [row["file_no"] for row in rows]
    return [Path(row["path"]).name for row in rows], end


def steps(of: ArrivalsReader, start: dict[str, int]) -> list[list[str]]:
    """All batches until nothing is left."""
    found: list[list[str]] = []
    while True:
        names, end = step(of, start)
        if not names:
            assert end == start
            return found
        found.append(names)
        start = end


def test_files_are_taken_by_name_and_so_many_at_a_time(tmp_path: Path) -> None:
    """Five archives make batches of two, two and one; what is no archive is left."""
    put(tmp_path, "c.warc", "a.warc", "e.warc", "b.warc", "d.warc", "notes.txt")

    assert [["a.warc", "b.warc"], ["c.warc", "d.warc"], ["e.warc"]] == steps(reader(tmp_path), {"files": 0})


def test_a_batch_has_no_more_than_so_many_bytes(tmp_path: Path) -> None:
    """It has one file if two are more than a batch may have; also if that one alone is more."""
    put(tmp_path, "a.warc", "b.warc", size=600)
    put(tmp_path, "c.warc", size=3000)

    assert [["a.warc"], ["b.warc"], ["c.warc"]] == steps(reader(tmp_path, bytes=1000), {"files": 0})


def test_what_comes_later_is_taken_later(tmp_path: Path) -> None:
    """A file that appears is in the next batch, whatever its name; one that stays is not read again."""
    put(tmp_path, "b.warc")
    of = reader(tmp_path)
    first, end = step(of, of.initialOffset())
    put(tmp_path, "a.warc", "b.warc")
    second, _ = step(of, end)

    assert (["b.warc"], ["a.warc"]) == (first, second)


def test_a_folder_that_is_not_there_yet_holds_nothing(tmp_path: Path) -> None:
    """A stream may begin before anybody has written."""
    of = reader(tmp_path)
    before = steps(of, of.initialOffset())
    put(tmp_path, "a.warc")

    assert [] == before
    assert [["a.warc"]] == steps(of, of.initialOffset())


def test_another_process_gives_the_same_steps(tmp_path: Path) -> None:
    """After a kill the batches that were planned are as they were, though other files lie there and one is gone."""
    put(tmp_path, "b.warc", "c.warc", "d.warc")
    before = steps(reader(tmp_path), {"files": 0})
    put(tmp_path, "a.warc")
    (tmp_path / "in" / "c.warc").unlink()
    after = steps(reader(tmp_path), {"files": 0})

    assert [["b.warc", "c.warc"], ["d.warc"]] == before
    assert [*before, ["a.warc"]] == after


def test_a_run_over_what_is_there_takes_nothing_that_comes_meanwhile(tmp_path: Path) -> None:
    """With the trigger "available now" a file that appears behind the beginning waits for the next run."""
    put(tmp_path, "a.warc", "b.warc", "c.warc")
    of = reader(tmp_path)
    of.prepareForTriggerAvailableNow()
    put(tmp_path, "0.warc", "d.warc")

    assert [["a.warc", "b.warc"], ["c.warc"]] == steps(of, {"files": 0})
    assert [["0.warc", "d.warc"]] == steps(reader(tmp_path), {"files": 3})


def test_without_a_limit_all_is_one_step(tmp_path: Path) -> None:
    """The limits do not count when Spark asks for all there is."""
    put(tmp_path, "a.warc", "b.warc", "c.warc")

    assert {"files": 3} == reader(tmp_path).latestOffset({"files": 0}, ReadAllAvailable())


def test_a_ledger_that_lacks_a_step_is_refused(tmp_path: Path) -> None:
    """It would number all files behind it anew."""
    ledger = Ledger(str(tmp_path))
    ledger.take(["a"])
    ledger.take(["b"])
    (tmp_path / "00000000.json").unlink()

    with pytest.raises(OutputError, match=r"00000000\.json is missing"):
        Ledger(str(tmp_path))


def test_a_ledger_holds_no_names(tmp_path: Path) -> None:
    """Of 200,000 long ones a digest each, and what waits to be sorted in; those of a step are read where needed."""
    names = [f"{number:09}/{'x' * 200}" for number in range(200_000)]
    tracemalloc.start()
    try:
        ledger = Ledger(str(tmp_path))
        for start in range(0, len(names), 20_000):
            ledger.take(names[start : start + 20_000])
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held < 100 * len(names)
    assert names[19_999:20_001] == Ledger(str(tmp_path)).paths(19_999, 20_001)
    assert ["new", "last"] == ledger.not_taken(["new", *names[:3], *names[-3:], "last"])


@given(st.lists(st.lists(st.text(max_size=3), max_size=9), max_size=9), st.lists(st.text(max_size=3)))
def test_names_are_taken_or_not(lots: list[list[str]], others: list[str]) -> None:
    """As a set has it, also when digests are sorted in after each few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_source, "_MOST_ADDED", 4)
        taken = TakenNames()
        for lot in lots:
            taken.add(lot)
    before = {name for lot in lots for name in lot}

    assert [name for name in others if name not in before] == taken.without(others)
    assert [] == taken.without(before)


def test_files_have_their_numbers(tmp_path: Path) -> None:
    """From one number to another, whatever the steps between are."""
    ledger = Ledger(str(tmp_path))
    for step in ("ab", "c", "def"):
        ledger.take([*step])
    numbers = range(len(ledger) + 1)

    assert ["abcdef"[start:end] for start in numbers for end in numbers[start:]] == [
        "".join(ledger.paths(start, end)) for start in numbers for end in numbers[start:]
    ]


@pytest.mark.parametrize("content", ['["a', "{}", '{"a": 1}', "[]", "null", "3", '"ab"', "[1]"])
def test_a_step_that_cannot_be_read_is_refused(tmp_path: Path, content: str) -> None:
    """The error names the file and says what to do. Each letter of a text counted as a file, and those that it had
    named were read once more."""
    (tmp_path / "00000000.json").write_text(content, encoding="utf-8")

    with pytest.raises(OutputError, match=r"00000000\.json: .*; put back a copy of it"):
        Ledger(str(tmp_path))


def test_a_checkpoint_of_another_stream_is_refused(tmp_path: Path) -> None:
    """Its files are not in the ledger: neither a step is planned, nor one begun again after a kill."""
    put(tmp_path, "a.warc")
    one = reader(tmp_path)
    for ask in (lambda: one.latestOffset({"files": 7}, LIMIT), lambda: one.partitions({"files": 0}, {"files": 7})):
        with pytest.raises(OutputError, match="they belong to different streams"):
            ask()


@given(st.lists(st.integers(0, 100), max_size=20), st.integers(1, 5), st.integers(1, 200))
def test_a_lot_is_the_first_files_and_within_both_limits(sizes: list[int], files: int, most: int) -> None:
    """Never empty where there is something, never more files, never more bytes unless it is one file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dbce_spark.files.sources.size", lambda path: sizes[int(path)])
        paths = [str(number) for number in range(len(sizes))]
        taken = next_batch(paths, files, most)

    assert paths[: len(taken)] == taken
    assert len(taken) <= files
    assert bool(taken) == bool(paths)
    assert len(taken) <= 1 or sum(sizes[: len(taken)]) <= most


def test_objects_of_a_bucket_arrive_too(bucket_folder: str, tmp_path: Path) -> None:
    """Names come with their scheme, and objects that are put later are seen."""
    import fsspec

    store = fsspec.filesystem("s3", skip_instance_cache=True)
    of = reader(tmp_path, inputs=json.dumps([bucket_folder]))
    before = steps(of, {"files": 0})
    store.pipe(f"{bucket_folder}/a.warc", b"x")

    assert [] == before
    assert {"files": 1} == of.latestOffset({"files": 0}, LIMIT)
    assert [f"{bucket_folder}/a.warc"] == Ledger(str(tmp_path / "ledger")).paths(0, 1)
