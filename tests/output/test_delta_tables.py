"""A version of a collection as Delta tables, read by a reader of Delta that knows nothing of collections."""

import json
import os
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbce_spark.commands.cli import main
from dbce_spark.output.collection import Collection, Increment, Version
from dbce_spark.output.current_rows import table_files
from tests.support.full_disks import full_disk

deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed")


def version(number: int, *increments: int) -> Version:
    counts = {"page_files": 0, "captures": 0, "extractions": 0, "relabelled": 0}
    made = tuple(Increment(number=one, **counts) for one in increments)
    when = "2026-11-22T00:00:00+00:00"
    return Version(number=number, made=when, why="extract", increments=made, settings={"config": {}})


@pytest.fixture
def grown(extracted: Path, tmp_path: Path) -> Collection:
    """Make the sample a first increment, and a second that replaces two captures of one file, which holds more."""
    collection = Collection(str(tmp_path / "news"))
    first, second = (Path(collection.increment(number)) for number in (1, 2))
    for name in ("extractions", "captures"):
        shutil.copytree(extracted / name, first / name)
    source = next(
        path for path in sorted((first / "extractions").rglob("*.parquet")) if pq.read_metadata(path).num_rows > 2
    )
    rows = pq.ParquetFile(source).read().slice(0, 2)
    others = rows.set_column(rows.schema.get_field_index("text"), "text", pa.array(["one", "two"]))
    target = second / source.relative_to(first)
    target.parent.mkdir(parents=True)
    pq.write_table(others.cast(rows.schema), target)
    (second / "superseded").mkdir()
    pq.write_table(rows.select(["capture_id"]), second / "superseded" / "part-00000.parquet")
    begin(collection, "run-1")
    collection.commit(version(2, 1, 2))
    return collection


def begin(collection: Collection, run_id: str) -> None:
    """Make the first increment, which the run wrote, the first version."""
    Path(collection.increment(1), "run.json").write_text(json.dumps({"run_id": run_id}))
    collection.commit(version(1, 1))


def counting(collection: Collection, number: int, table: str) -> list[dict[str, Any]]:
    """List the rows of a version, as the collection gives them."""
    batches = table_files(collection, collection.version(number), table).batches(rows=50)
    return sorted((row for batch in batches for row in batch.to_pylist()), key=lambda row: str(row["capture_id"]))


def read(folder: Path, table: str, number: int | None = None) -> list[dict[str, Any]]:
    """Read the rows of a Delta table, without its partitions."""
    found = deltalake.DeltaTable(folder / table, version=number).to_pyarrow_table()
    columns = [name for name in found.column_names if name != "site_part"]
    return sorted(found.select(columns).to_pylist(), key=lambda row: str(row["capture_id"]))


def test_a_table_has_the_rows_that_count(grown: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each version of the table has all columns of the rows that count, also when it is read by its number later."""
    tables = tmp_path / "tables"
    for number in (1, 2):
        assert 0 == main(["collection", "register", grown.folder, "--output", str(tables), "--version", str(number)])
    first, second = counting(grown, 1, "extractions"), counting(grown, 2, "extractions")
    printed = capsys.readouterr().out

    assert first != second
    assert second == read(tables, "extractions")
    assert first == read(tables, "extractions", 0)
    assert counting(grown, 2, "captures") == read(tables, "captures")
    assert f"{tables}/extractions: version 1, {len(second)} rows; " in printed
    assert printed.count(" 1 written again") == 1


def test_files_are_linked_unless_rows_of_theirs_were_replaced(grown: Collection, tmp_path: Path) -> None:
    """Only one file is new; the collection has its bytes as before."""
    main(["collection", "register", grown.folder, "--output", str(tmp_path / "tables")])
    files = [*(tmp_path / "tables").rglob("*.parquet")]

    assert 1 == sum(one.stat().st_nlink == 1 for one in files)
    assert len(files) > 2


def test_files_that_cannot_be_linked_count_as_copied(
    grown: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They take space: on another file system, or where the kernel links no file of another user."""
    monkeypatch.setattr(os, "link", Mock(side_effect=PermissionError("not yours")))
    main(["collection", "register", grown.folder, "--output", str(tmp_path / "tables")])
    files = [*(tmp_path / "tables" / "captures").rglob("*.parquet")]

    assert f"; 0 files linked, {len(files)} copied, 0 written again" in capsys.readouterr().out


def test_no_commit_removes_a_file_that_it_adds(grown: Collection, tmp_path: Path) -> None:
    """Readers of Delta may apply the actions of a commit in any order: a file of both is lost to some, such as a file
    that stays from version to version."""
    for number in ("1", "2", "2"):
        main(["collection", "register", grown.folder, "--output", str(tmp_path / "tables"), "--version", number])
    logs = sorted((tmp_path / "tables" / "extractions" / "_delta_log").glob("*.json"))
    added, removed = ([paths(log, kind) for log in logs] for kind in ("add", "remove"))

    assert 3 == len(logs)
    assert all(added)
    assert not [both for both in map(set.intersection, added, removed) if both]
    assert counting(grown, 2, "extractions") == read(tmp_path / "tables", "extractions")


def paths(log: Path, kind: str) -> set[str]:
    """List the files that a commit adds, or removes."""
    return {action[kind]["path"] for action in map(json.loads, log.read_text().splitlines()) if kind in action}


def test_what_delta_sweeps_away_the_collection_keeps(grown: Collection, tmp_path: Path) -> None:
    """A vacuum of the tables removes links to files of earlier versions, and no file of the collection."""
    for number in ("1", "2"):
        main(["collection", "register", grown.folder, "--output", str(tmp_path / "tables"), "--version", number])
    before = counting(grown, 1, "extractions")
    table = deltalake.DeltaTable(tmp_path / "tables" / "extractions")
    swept = table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)

    assert swept
    assert before == counting(grown, 1, "extractions")
    assert counting(grown, 2, "extractions") == read(tmp_path / "tables", "extractions")


def test_a_damaged_file_is_named(grown: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line, with what to do."""
    _, path = grown.files(grown.current(), "captures")[0]
    Path(path).unlink()  # it may be a link to what other tests read
    Path(path).write_bytes(b"PAR1")
    status = main(["collection", "register", grown.folder, "--output", str(tmp_path / "delta")])

    assert 2 == status
    assert f"dbce: {path} is broken: " in capsys.readouterr().err


def test_partitions_are_as_they_are_named(grown: Collection, tmp_path: Path) -> None:
    """A reader that asks for one part of the sites gets its rows."""
    main(["collection", "register", grown.folder, "--output", str(tmp_path / "tables")])
    table = deltalake.DeltaTable(tmp_path / "tables" / "extractions").to_pyarrow_table()
    pairs = {(row["site_part"], row["site"]) for row in table.select(["site_part", "site"]).to_pylist()}

    assert len(pairs) == len({site for _, site in pairs})
    assert len({part for part, _ in pairs}) > 1


def test_what_is_no_table_is_left_alone(grown: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in the place of a folder is an error of one line."""
    (tmp_path / "tables").write_text("letters")

    assert 2 == main(["collection", "register", grown.folder, "--output", str(tmp_path / "tables")])
    assert "tables is a file; give a folder for the output" in capsys.readouterr().err
    assert "letters" == (tmp_path / "tables").read_text()


@pytest.mark.parametrize("inside", ["", "increments/00000001"])
def test_tables_are_not_made_in_the_collection(
    grown: Collection, capsys: pytest.CaptureFixture[str], inside: str
) -> None:
    """In the folder of an increment each link counted as a file of it, and all rows came twice."""
    before = counting(grown, 2, "extractions")

    assert 2 == main(["collection", "register", grown.folder, "--output", str(Path(grown.folder, inside))])
    assert "lies in the collection" in capsys.readouterr().err
    assert before == counting(grown, 2, "extractions")


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        (("run.json", "extractions", "captures"), " holds run.json, which this command has not made"),
        (("extractions",), "and is no Delta table"),
        ((), " holds mine.txt, which this command has not made"),
    ],
)
def test_what_the_command_has_not_made_is_left_alone(
    kept: tuple[str, ...], why: str, grown: Collection, extracted: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """An output that was named by mistake had each row twice afterwards."""
    target = tmp_path / "tables"
    target.mkdir()
    for name in kept:
        (shutil.copytree if (extracted / name).is_dir() else shutil.copy)(extracted / name, target / name)
    if not kept:
        (target / "mine.txt").touch()
    before = sorted(target.rglob("*"))

    assert 2 == main(["collection", "register", grown.folder, "--output", str(target)])
    assert why in (error := capsys.readouterr().err)
    assert "; give another --output" in error
    assert before == sorted(target.rglob("*"))


def test_a_mount_is_free(grown: Collection, tmp_path: Path) -> None:
    """Its file system has a folder of its own there."""
    (tmp_path / "mount" / "lost+found").mkdir(parents=True)

    assert 0 == main(["collection", "register", grown.folder, "--output", str(tmp_path / "mount")])


def test_a_delta_table_of_another_program_is_left_alone(
    grown: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its rows would be those of an earlier version, which a vacuum removes."""
    deltalake.write_deltalake(tmp_path / "tables" / "captures", pa.table({"mine": [1]}))

    assert 2 == main(["collection", "register", grown.folder, "--output", str(tmp_path / "tables")])
    assert "captures is no table of this collection; give another --output" in capsys.readouterr().err
    assert ["captures"] == [one.name for one in (tmp_path / "tables").iterdir()]


def test_a_collection_that_was_moved_is_the_same(
    grown: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However its path is written, and whatever version its tables are of."""
    tables = tmp_path / "tables"
    main(["collection", "register", grown.folder, "--output", str(tables), "--version", "1"])
    moved = Path(grown.folder).rename(tmp_path / "moved")
    monkeypatch.chdir(moved)

    assert 0 == main(["collection", "register", ".", "--output", "../tables"])
    assert counting(Collection(str(moved)), 2, "extractions") == read(tables, "extractions")


def test_another_collection_does_not_take_the_place_of_the_first(
    grown: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where no file of the two has the same name."""
    other = Collection(str(tmp_path / "other"))
    for name in ("extractions", "captures"):
        for source in sorted(Path(grown.increment(1), name).rglob("*.parquet")):
            target = Path(other.increment(1), source.relative_to(grown.increment(1)).with_name(f"of-{source.name}"))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    begin(other, "run-2")
    tables = tmp_path / "tables"
    main(["collection", "register", grown.folder, "--output", str(tables)])

    assert 2 == main(["collection", "register", other.folder, "--output", str(tables)])
    assert "extractions is no table of this collection; give another --output" in capsys.readouterr().err
    assert 0 == deltalake.DeltaTable(tables / "extractions").version()
    assert counting(grown, 2, "extractions") == read(tables, "extractions")


def test_files_of_another_collection_are_left_alone(
    grown: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files of two collections have the same names: tables of which the first was stopped before its commit had its
    rows, as those of the second."""
    other = Collection(str(tmp_path / "other"))
    source = next(Path(grown.increment(2), "extractions").rglob("*.parquet"))
    for name in ("extractions", "captures"):
        shutil.copytree(Path(grown.increment(1), name), Path(other.increment(1), name))
    of_same_name = next(Path(other.increment(1), "extractions").rglob(source.name))
    of_same_name.unlink()
    shutil.copy(source, of_same_name)
    begin(other, "run-2")
    tables = str(tmp_path / "tables")
    main(["collection", "register", grown.folder, "--output", tables, "--version", "1"])
    for log in Path(tables).rglob("_delta_log"):
        shutil.rmtree(log)
    linked = next(Path(tables).rglob(f"*{source.name}")).read_bytes()

    assert 2 == main(["collection", "register", other.folder, "--output", tables])
    assert "is a file of another collection; give another --output" in capsys.readouterr().err
    assert linked == next(Path(tables).rglob(f"*{source.name}")).read_bytes()
    assert 0 == main(["collection", "register", grown.folder, "--output", tables])


def test_a_full_disk_says_what_to_do(grown: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is written again has no room; with more, the same command makes the tables."""
    command = ["collection", "register", grown.folder, "--output", str(tmp_path / "tables")]
    with full_disk(1000):
        assert 2 == main(command)
    assert "no Delta tables can be written there: " in (error := capsys.readouterr().err)
    assert "; make room, and give the same command again" in error
    assert 0 == main(command)

    assert counting(grown, 2, "extractions") == read(tmp_path / "tables", "extractions")
