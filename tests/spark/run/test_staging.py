"""Files that are kept of an unfinished run, and files that are not. No Spark is started."""

import errno
from collections import Counter
from functools import partial
from pathlib import Path
from unittest.mock import MagicMock

import pyarrow as pa
import pytest

from dbce_spark.errors import OutputError
from dbce_spark.files import parquet, storage
from dbce_spark.spark.run import checkpoints, run_lock, staging
from tests.support.nfs import keep_open_files
from tests.support.permissions import forbidden


def staged(output: Path) -> list[str]:
    """All files of the staging folder."""
    root = Path(staging.path(str(output), ""))
    return sorted(str(one.relative_to(root)) for one in root.rglob("*") if one.is_file())


def write(output: Path, *names: str) -> None:
    for name in names:
        path = Path(staging.path(str(output), name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


READ = [
    *("done/pages/00000000.json", "done/selection.json"),
    *("pages/00000000.parquet", "places/part-0.parquet", "plan.json", "rejects/00000000-index.parquet"),
    *("rejects/00000000.parquet", "selected/00000000.parquet"),
]
MADE = ["crosses/part-0.parquet", "done/crosses.json", "done/extractions/00000.json", "done/pages.json"]
OTHER = ["done/pages/00000001.json", "pages/00000001.parquet", "rejects/00000001.parquet", "revisits/00000001.parquet"]
ORIGINAL = ["done/originals/00000002.json", "outcomes/00000002.parquet", "pages/00000002.parquet"]


@pytest.mark.parametrize(
    ("broken", "left"),
    [
        ("pages/00000001.parquet", READ),
        ("revisits/00000001.parquet", READ),
        ("crosses/part-0.parquet", [*READ, *OTHER]),
        ("pages/00000002.parquet", [*READ, *OTHER]),
        ("selected/00000000.parquet", ["plan.json"]),
        ("rejects/00000000-index.parquet", ["plan.json"]),
    ],
)
def test_what_a_broken_file_leaves(tmp_path: Path, broken: str, left: list[str]) -> None:
    """A broken file is forgotten with all that may have been made of it; what other sources gave stays."""
    write(tmp_path, *READ, *MADE, *OTHER, *ORIGINAL)
    staging.forget(str(tmp_path), staging.path(str(tmp_path), broken))

    assert sorted(left) == staged(tmp_path)


def test_the_selection_is_kept_with_the_places_that_it_found(tmp_path: Path) -> None:
    """Its checkpoint, and that of no other stage that has ended."""
    kept, other = (staging.done(str(tmp_path), name) for name in (staging.SELECTION, "crosses"))
    for path in (kept, other):
        checkpoints.write(path, {})
    staging.forget(str(tmp_path), staging.path(str(tmp_path), "crosses/part-0.parquet"))

    assert [str(Path(kept).relative_to(staging.path(str(tmp_path), "")))] == staged(tmp_path)


def test_all_that_is_staged_is_removed_but_the_lock(tmp_path: Path) -> None:
    """If a run was begun there, and if none was; without the folder there is nothing to do."""
    staging.clear(str(tmp_path))
    for names in (["lock", "pages/00000000.parquet"], [*READ, *MADE]):
        write(tmp_path, *names)
        staging.clear(str(tmp_path))

        assert ["lock"] == staged(tmp_path)


def test_what_was_staged_goes_though_nfs_keeps_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that a process has open gets another name there when it is removed, and keeps its folder: that is no
    error, as the run has ended well."""
    keep_open_files(monkeypatch)
    with run_lock.hold(str(tmp_path)):
        write(tmp_path, *READ)
        staging.remove(str(tmp_path))

    assert [".nfs0001"] == staged(tmp_path)


def test_of_what_was_staged_nothing_stays(tmp_path: Path) -> None:
    """Neither the lock nor the folder, where the file system is an ordinary one."""
    with run_lock.hold(str(tmp_path)):
        write(tmp_path, *READ)
        staging.remove(str(tmp_path))

    assert [] == [*tmp_path.iterdir()]


def test_sources_that_were_read_are_known_by_their_number(tmp_path: Path) -> None:
    """Of the reading stage alone, and not what came of all of it."""
    for number in (12, 3):
        checkpoints.write(staging.done(str(tmp_path), "pages", number), {})
    checkpoints.write(staging.done(str(tmp_path), "pages"), [])
    checkpoints.write(staging.done(str(tmp_path), "originals", 7), {})

    assert [3, 12] == staging.read_sources(str(tmp_path))


def test_staged_rows_are_counted_without_spark(tmp_path: Path) -> None:
    """All of them, and by the values of a column, those without a value too; of a table without files there are
    none."""
    schema = pa.schema([("filter", pa.string())])
    for number, filters in enumerate((["limit", None, "limit"], ["duplicate", None], [])):
        rows = pa.RecordBatch.from_pydict({"filter": filters}, schema=schema)
        parquet.write(staging.staged_file(str(tmp_path), "shared", number), schema, [rows])

    assert 5 == staging.count_rows(str(tmp_path), "shared")
    assert {"limit": 2, "duplicate": 1, None: 2} == staging.count_by(str(tmp_path), "shared", "filter")
    assert (0, Counter()) == (staging.count_rows(str(tmp_path), "none"), staging.count_by(str(tmp_path), "none", "a"))


def test_a_staged_file_that_is_broken_is_named(tmp_path: Path) -> None:
    """By its whole path, by which the job finds it, and removes what was made of it."""
    write(tmp_path, "shared/part-0.parquet")
    for count in (staging.count_rows, partial(staging.count_by, column="filter")):
        with pytest.raises(OutputError, match=r"/_staging/shared/part-0\.parquet is broken: "):
            count(str(tmp_path), "shared")


def test_what_spark_has_staged_is_on_the_disk_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark waits for no disk: its files are waited for, and only then the folder has its mark."""
    target, steps = tmp_path / "_staging/crosses", []

    def written(path: str) -> None:
        Path(path).mkdir(parents=True)
        Path(path, "part-0.parquet").touch()

    def synced(folder: Path) -> None:
        steps.append(sorted(one.name for one in folder.iterdir()))

    rows = MagicMock()
    rows.write.mode.return_value.option.return_value.parquet = written
    monkeypatch.setattr(storage, "sync_folder", synced)
    staging.write(rows, str(tmp_path), "crosses")
    staging.write(rows, str(tmp_path), "crosses")

    assert [["part-0.parquet"]] == steps
    assert ["_WHOLE", "part-0.parquet"] == sorted(one.name for one in target.iterdir())


def test_a_staged_file_that_may_not_be_read_is_not_broken(tmp_path: Path) -> None:
    """Nothing is wrong with it, and what was made of it stays: the error says what to do."""
    file = tmp_path / "00000000.parquet"
    parquet.write(str(file), pa.schema([("a", pa.int64())]), [])

    def read() -> None:
        with staging.opened(str(file)):
            pass

    with forbidden(file), pytest.raises(OutputError, match=f"^{file}: Permission denied; let this user read it"):
        read()


@pytest.mark.parametrize(("number", "is_broken"), [(errno.EMFILE, False), (errno.EIO, True)])
def test_only_what_a_disk_does_to_a_file_breaks_it(tmp_path: Path, number: int, is_broken: bool) -> None:
    """Too many open files are no damage of the one that could not be opened."""
    file = str(tmp_path / "00000000.parquet")
    parquet.write(file, pa.schema([("a", pa.int64())]), [])

    def read() -> None:
        with staging.opened(file):
            raise OSError(number, "why")

    with pytest.raises(OutputError if is_broken else OSError, match="is broken" if is_broken else "why"):
        read()
