"""The inventory of a collection, for a person."""

from pathlib import Path

import pyarrow as pa
import pytest

from dbce_spark.errors import OutputError
from dbce_spark.files import parquet
from dbce_spark.output import inventory
from dbce_spark.output.collection import RUNS, Collection, Increment, Version

IDS = pa.schema([("capture_id", pa.string())])
LABEL = {"by": "classifier", "favor": "balanced"}


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    """Make an increment of two extractions, and one that replaces one of them."""
    made = Collection(str(tmp_path / "c"))
    for number, table, ids in ((1, "extractions", ["a", "b"]), (2, "extractions", ["a"]), (2, "superseded", ["a"])):
        rows = pa.RecordBatch.from_arrays([pa.array(ids)], schema=IDS)
        parquet.write(f"{made.increment(number)}/{table}/part-00000.parquet", IDS, [rows])
    increments = tuple(
        Increment(number=number, page_files=1, captures=2, extractions=1, relabelled=number - 1) for number in (1, 2)
    )
    made.commit(
        Version(number=1, made="2026", why="extract", increments=increments, settings={"config": {"label": LABEL}})
    )
    return made


def test_rows_that_were_replaced_do_not_count(collection: Collection) -> None:
    """They stand in a line of their own."""
    lines = [line.split() for line in inventory.show(collection, collection.current()).splitlines()]

    assert ["extractions", "2"] in lines
    assert ["replaced", "1", "rows", "of", "extractions,", "by", "later", "increments"] in lines


def test_a_compacted_increment_has_the_crawls_that_it_stands_for(collection: Collection) -> None:
    """One increment after three runs is three crawls."""
    runs = Path(collection.increment(2), RUNS)
    runs.mkdir()
    for number in (2, 3, 4):
        (runs / f"{number:08}.json").touch()

    assert (
        "1  2026  4  4  2  1  extract".split()
        == inventory.log(collection, [collection.version(1)]).splitlines()[1].split()
    )


def test_marks_of_duplicates_are_listed_and_weighed(collection: Collection) -> None:
    """Files of both tables of marks are among those of the version, and their bytes among those of tables."""
    before = _table_bytes(collection)
    for table in ("duplicates", "remarked"):
        rows = pa.RecordBatch.from_arrays([pa.array(["a"])], schema=IDS)
        parquet.write(f"{collection.increment(2)}/{table}/part-00000.parquet", IDS, [rows])
    listed = inventory.files(collection, collection.current()).splitlines()

    assert ["duplicates", "extractions", "extractions", "remarked", "superseded"] == sorted(
        Path(path).parent.name for path in listed
    )
    assert sum(Path(path).stat().st_size for path in listed) == _table_bytes(collection) > before


def _table_bytes(collection: Collection) -> int:
    lines = inventory.show(collection, collection.current()).splitlines()
    return next(int(line.split()[1].replace(",", "")) for line in lines if line.endswith("of tables"))


def test_a_damaged_file_is_named(collection: Collection) -> None:
    """With what to do; not as a fault of the program."""
    Path(collection.increment(2), "extractions", "part-00000.parquet").write_bytes(b"PAR1")

    with pytest.raises(OutputError, match=r"part-00000\.parquet is broken: .*; restore it, or roll back"):
        inventory.show(collection, collection.current())
