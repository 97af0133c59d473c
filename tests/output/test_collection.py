"""Collections: versions that are there whole or not at all, and the rows of theirs that count."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dbce_spark.commands.cli import main
from dbce_spark.errors import InputError, OutputError
from dbce_spark.files import parquet, storage
from dbce_spark.model import RejectReason
from dbce_spark.output.collection import FORMAT, Collection, Increment, Version, check_outside
from dbce_spark.output.current_rows import table_files
from tests.support.full_disks import full_disk
from tests.support.permissions import forbidden

EXTRACTIONS = pa.schema([("capture_id", pa.string()), ("text", pa.string())])
SUPERSEDED = pa.schema([("capture_id", pa.string())])
UNLABELLED = str(RejectReason.ORIGINAL_UNLABELLED)
REJECTS = pa.schema([("url", pa.string()), ("reason", pa.string())])


def made(number: int, *increments: int) -> Version:
    return Version(
        number=number,
        made="2026-01-01T00:00:00+00:00",
        why="extract",
        increments=tuple(
            Increment(number=one, page_files=1, captures=2, extractions=2, relabelled=0) for one in increments
        ),
        settings={"config": {}},
    )


def write(collection: Collection, number: int, table: str, schema: pa.Schema, *rows: tuple[str, ...]) -> None:
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)] or [pa.nulls(0)] * len(schema)
    batch = pa.RecordBatch.from_arrays([column.cast(pa.string()) for column in columns], schema=schema)
    parquet.write(f"{collection.increment(number)}/{table}/part-00000.parquet", schema, [batch])


def listed(collection: Collection, version: int, table: str) -> list[tuple[str, ...]]:
    rows = table_files(collection, collection.version(version), table).batches(rows=2)
    return sorted(tuple(row.values()) for batch in rows for row in batch.to_pylist())


@pytest.fixture
def grown(tmp_path: Path) -> Collection:
    """Build three increments: the second replaces rows of `a`, the third of `a` and `b`."""
    collection = Collection(str(tmp_path / "c"))
    write(collection, 1, "extractions", EXTRACTIONS, ("a", "1"), ("b", "1"))
    write(collection, 2, "extractions", EXTRACTIONS, ("a", "2"), ("c", "2"))
    write(collection, 2, "superseded", SUPERSEDED, ("a",))
    write(collection, 3, "extractions", EXTRACTIONS, ("a", "3"), ("b", "3"), ("d", "3"))
    write(collection, 3, "superseded", SUPERSEDED, ("a",), ("b",))
    for number in (1, 2, 3):
        of_revisits = (f"v{number}", "revisit_unresolved"), (f"w{number}", UNLABELLED)
        write(collection, number, "rejects", REJECTS, (f"u{number}", "no_text"), *of_revisits)
        collection.commit(made(number, *range(1, number + 1)))
    return collection


def test_the_last_increment_that_says_something_of_a_capture_counts(grown: Collection) -> None:
    """In each version, each capture has one row: that of the last increment with one."""
    assert [("a", "1"), ("b", "1")] == listed(grown, 1, "extractions")
    assert [("a", "2"), ("b", "1"), ("c", "2")] == listed(grown, 2, "extractions")
    assert [("a", "3"), ("b", "3"), ("c", "2"), ("d", "3")] == listed(grown, 3, "extractions")


def test_revisits_without_an_original_are_those_of_the_last_increment(grown: Collection) -> None:
    """Unresolved revisits are those of the last increment, which has looked them all up again; other rejects stay,
    revisits of pages that could not be labelled among them."""
    settled = [
        (f"{row}{number}", reason) for row, reason in (("u", "no_text"), ("w", UNLABELLED)) for number in (1, 2, 3)
    ]

    assert sorted([*settled, ("v3", "revisit_unresolved")]) == listed(grown, 3, "rejects")


def test_columns_are_those_requested(grown: Collection) -> None:
    """Only the requested columns are returned, also where another one selects the rows that count."""
    batches = [*table_files(grown, grown.version(3), "extractions").batches(["text"], rows=2)]

    assert {("text",)} == {tuple(batch.schema.names) for batch in batches}
    assert ["2", "3", "3", "3"] == sorted(text for batch in batches for text in batch.column("text").to_pylist())


def test_rows_are_chosen_by_an_expression(grown: Collection) -> None:
    """An expression selects among the rows that count; a replaced row is not found by its old values."""
    files = table_files(grown, grown.version(3), "extractions")
    batches = [*files.batches(["capture_id"], rows=2, where=pc.field("text").isin(["1", "3"]))]

    assert {("capture_id",)} == {tuple(batch.schema.names) for batch in batches}
    assert ["a", "b", "d"] == sorted(one for batch in batches for one in batch.column("capture_id").to_pylist())


def test_files_of_duplicates_are_those_of_remarked_captures_too(grown: Collection) -> None:
    """Rows of both count until a later increment labels or marks a capture anew, the oldest increment first."""
    write(grown, 1, "duplicates", EXTRACTIONS, ("a", "1"), ("b", "1"))
    write(grown, 2, "remarked", EXTRACTIONS, ("b", "2"))
    files = table_files(grown, grown.version(2), "duplicates")

    assert [(1, "duplicates"), (2, "remarked")] == [(one, path.split("/")[-2]) for one, path in files.files]
    assert [(2, "remarked"), (2, "superseded")] == [(one, path.split("/")[-2]) for one, path in files.replacing]
    assert [("b", "2")] == listed(grown, 2, "duplicates")


@pytest.mark.parametrize("where", [None, pc.field("text") == "1"])
def test_damaged_file_of_an_increment_is_named(where: pc.Expression | None, grown: Collection) -> None:
    """The error names the damaged file and advises a rollback."""
    ((_, path),) = grown.files(grown.version(1), "extractions")
    Path(path).write_bytes(b"PAR1")

    with pytest.raises(OutputError, match=r"part-00000\.parquet is broken: .*roll back to a version before it"):
        [*table_files(grown, grown.version(1), "extractions").batches(rows=2, where=where)]


def test_rollback_counts_again_and_loses_nothing(grown: Collection) -> None:
    """A rollback is a version of its own, after which a later version can be restored."""
    back = grown.rollback(1)

    assert (4, "rollback to 1") == (back.number, back.why)
    assert grown.current() == back
    assert listed(grown, 1, "extractions") == listed(grown, 4, "extractions")
    assert grown.rollback(3).number == 5
    assert listed(grown, 3, "extractions") == listed(grown, 5, "extractions")


def test_of_two_that_commit_one_is_reported(grown: Collection) -> None:
    """The version that is there stays."""
    with pytest.raises(OutputError, match="extended by another run meanwhile: version 3"):
        grown.commit(made(3, 1))

    assert 3 == len(grown.current().increments)
    assert [1, 2, 3] == grown.numbers()
    assert not [*Path(grown.folder, "versions").glob("_*")]


def test_vacuum_keeps_what_versions_need(grown: Collection) -> None:
    """Increments that no kept version names are removed, and listed without that; an unfinished one stays."""
    grown.rollback(1)
    write(grown, 5, "extractions", EXTRACTIONS, ("e", "5"))  # the next run's
    write(grown, 9, "extractions", EXTRACTIONS, ("x", "9"))
    there = sorted(Path(grown.folder).rglob("*"))
    would_be = grown.vacuum(1, dry_run=True)
    assert there == sorted(Path(grown.folder).rglob("*"))
    removed = grown.vacuum(1)

    assert removed == would_be
    assert [4] == grown.numbers()
    assert ["00000002", "00000003", "00000009"] == [one.split("/")[1] for one in removed if one.startswith("incr")]
    assert listed(grown, 4, "extractions") == [("a", "1"), ("b", "1")]
    assert Path(grown.increment(5)).exists()


def do_at_first_read(monkeypatch: pytest.MonkeyPatch, work: Callable[[Collection], object]) -> None:
    """Do some work when the first version of a collection is read, as another process might."""
    read = Collection.version
    begun: list[int] = []

    def version(of: Collection, number: int) -> Version:
        if not begun:
            begun.append(number)
            work(of)
        return read(of, number)

    monkeypatch.setattr(Collection, "version", version)


def test_vacuum_keeps_what_a_rollback_brings_back_meanwhile(grown: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that is made while it works keeps its increments."""
    grown.rollback(1)
    do_at_first_read(monkeypatch, lambda of: of.rollback(3))
    grown.vacuum(1)

    assert [4, 5] == grown.numbers()
    assert [("a", "3"), ("b", "3"), ("c", "2"), ("d", "3")] == listed(grown, 5, "extractions")


def test_vacuum_leaves_what_a_run_begins_meanwhile(grown: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the next version was made between its looks at the versions and at the increments."""
    read = Collection.numbers
    begun: list[int] = []

    def numbers(of: Collection) -> list[int]:
        found = read(of)
        if not begun:
            begun.extend(found)
            write(of, 4, "extractions", EXTRACTIONS, ("e", "4"))
            of.commit(made(4, 1, 2, 3, 4))
            write(of, 5, "extractions", EXTRACTIONS, ("f", "5"))
        return found

    monkeypatch.setattr(Collection, "numbers", numbers)
    grown.vacuum(1)

    assert Path(grown.increment(5)).exists()


def test_a_rollback_to_what_a_vacuum_removes_is_undone(grown: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would name increments that are gone."""
    grown.rollback(1)
    commit = Collection.commit

    def late(of: Collection, version: Version) -> None:
        of.vacuum(1)
        commit(of, version)

    monkeypatch.setattr(Collection, "commit", late)
    with pytest.raises(
        OutputError, match="version 3 was removed meanwhile by a vacuum; the collection stays as it was"
    ):
        grown.rollback(3)

    assert [4] == grown.numbers()


def test_two_vacuums_at_once_end_well(grown: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """One passes over what the other has removed."""
    grown.rollback(1)
    do_at_first_read(monkeypatch, lambda of: of.vacuum(1))
    grown.vacuum(1)

    assert [4] == grown.numbers()
    assert [("a", "1"), ("b", "1")] == listed(grown, 4, "extractions")


def test_a_version_on_a_full_disk_leaves_nothing(grown: Collection) -> None:
    """The error names the manifest, and what to do."""
    with full_disk(100), pytest.raises(OutputError, match=r"00000004\.json cannot be written: .*; make room, and give"):
        grown.rollback(1)

    assert {"00000001.json", "00000002.json", "00000003.json"} == {
        one.name for one in Path(grown.folder, "versions").iterdir()
    }


def test_a_file_that_is_gone_is_called_that(grown: Collection) -> None:
    """It is not broken: a vacuum may have removed its version."""
    files = table_files(grown, grown.version(1), "extractions")
    ((_, path),) = files.files
    Path(path).unlink()

    with pytest.raises(OutputError, match=r"part-00000\.parquet is gone; restore it, or, if a vacuum"):
        [*files.batches(rows=2)]


@pytest.mark.parametrize("name", ["versions", "versions/00000003.json", "increments/00000001/inputs.json"])
def test_what_may_not_be_read_is_not_to_be_removed(grown: Collection, name: str) -> None:
    """It is neither a collection without a version, nor damaged."""
    path = Path(grown.folder, name)
    if not path.exists():
        path.write_text("{}", encoding="utf-8")

    with forbidden(path), pytest.raises(OutputError, match="Permission denied; let this user read it") as raised:
        grown.inputs(grown.current())

    assert str(raised.value).startswith(f"{path}: ")


def test_copies_that_a_person_made_are_no_versions_and_stay(grown: Collection) -> None:
    """A manifest and an increment under names that are no numbers are neither read nor removed."""
    copies = Path(grown.folder, "versions", "00000003 (copy).json"), Path(f"{grown.increment(3)}.old")
    copies[0].write_text("{}")
    copies[1].mkdir()
    grown.rollback(1)

    assert [1, 2, 3, 4] == grown.numbers()
    assert "increments/00000003" in grown.vacuum(1)
    assert all(one.exists() for one in copies)


def test_no_collection_says_so(tmp_path: Path) -> None:
    """A folder that is not there, and one that holds something else."""
    with pytest.raises(InputError, match=r"is no collection; `dbce extract \.\.\. --collection"):
        Collection(str(tmp_path / "none")).current()
    (tmp_path / "letters").mkdir()
    with pytest.raises(OutputError, match="holds letters, and is no collection; give an empty folder"):
        Collection(str(tmp_path)).latest()
    with pytest.raises(InputError, match=r"is no collection; `dbce extract \.\.\. --collection FOLDER` begins one"):
        Collection(str(tmp_path)).current()


def test_a_file_is_no_collection(tmp_path: Path) -> None:
    """And none can be begun under its name."""
    (tmp_path / "one.warc").touch()
    with pytest.raises(OutputError, match=r"one\.warc is a file, and no collection; give a folder"):
        Collection(str(tmp_path / "one.warc")).latest()
    with pytest.raises(InputError, match=r"is no collection; `dbce extract \.\.\. --collection FOLDER` begins one"):
        Collection(str(tmp_path / "one.warc")).current()


def test_a_collection_that_is_not_begun_has_no_version(tmp_path: Path) -> None:
    """An empty folder, or one where the first run is at work."""
    assert Collection(str(tmp_path)).latest() is None
    Path(Collection(str(tmp_path)).increment(1)).mkdir(parents=True)

    assert Collection(str(tmp_path)).latest() is None


def test_a_version_that_is_not_there_is_named(grown: Collection) -> None:
    """The error lists the versions that are there."""
    with pytest.raises(InputError, match="has no version 7; it has 1, 2, 3"):
        grown.version(7)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", f'{{"format": {FORMAT}}}', f'{{"format": {FORMAT}, "increments": 3}}']
)
def test_a_manifest_that_is_none_is_an_error(grown: Collection, text: str) -> None:
    """The error names the file, and the remedy."""
    Path(grown.folder, "versions", "00000003.json").write_text(text)

    with pytest.raises(OutputError, match=r"00000003\.json is no manifest: .*; restore it, or remove it"):
        grown.current()


@pytest.mark.parametrize(
    "changed",
    [{"increments": []}, {"number": "3"}, {"number": 2}, {"settings": None}, {"settings": {}}, {"increments": [{}]}],
)
def test_a_manifest_that_names_nothing_to_read_is_an_error(grown: Collection, changed: dict[str, object]) -> None:
    """One that lacks what readers need of it, or stands under another number, is no version."""
    path = Path(grown.folder, "versions", "00000003.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))

    with pytest.raises(OutputError, match=r"00000003\.json is no manifest: .*; restore it, or remove it"):
        grown.current()


def test_a_manifest_of_lists_within_lists_without_end_is_an_error(grown: Collection) -> None:
    """It is named before Python runs out of room for it."""
    Path(grown.folder, "versions", "00000003.json").write_text("[" * 100_000)

    with pytest.raises(OutputError, match=r"00000003\.json is no manifest"):
        grown.current()


def test_a_manifest_with_counts_that_are_none_is_an_error(grown: Collection) -> None:
    """The error names the file."""
    path = Path(grown.folder, "versions", "00000003.json")
    path.write_text(path.read_text().replace('"captures": 2', '"captures": null'))

    with pytest.raises(OutputError, match=r"00000003\.json is no manifest: its increments cannot be read"):
        grown.current()


def test_another_format_is_refused(grown: Collection) -> None:
    """A collection of another program's version is not read as if it were of this one."""
    path = Path(grown.folder, "versions", "00000003.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 1}))

    with pytest.raises(OutputError, match=f"is of format 1, and this program reads format {FORMAT}"):
        grown.current()


def test_inputs_are_those_of_all_increments(grown: Collection) -> None:
    """The last that was read of a file counts."""
    for number, sizes in ((1, {"a": 1, "b": -1}), (2, {"b": 5})):
        Path(grown.increment(number), "inputs.json").write_text(json.dumps(sizes))

    assert {"a": 1, "b": 5} == grown.inputs(grown.version(2))


@pytest.mark.parametrize(
    "text", [None, "{", "7", "[]", "null", '{"a": null}', "[" * 100_000], ids=lambda text: str(text)[:9]
)
def test_a_damaged_list_of_inputs_is_named(text: str | None, grown: Collection) -> None:
    """All files would be new without that list: it is not to be guessed."""
    path = Path(grown.increment(1), "inputs.json")
    if text is not None:
        path.write_text(text)

    with pytest.raises(OutputError, match=r"inputs\.json cannot be read: .*; restore it, or roll back"):
        grown.inputs(grown.version(2))


COMMANDS = (
    ("report", "extracted"),
    ("export", "extracted", "--format", "jsonl"),
    ("corpus", "extracted", "--duplicates", "keep"),
    ("corpus", "extracted", "--duplicates", "keep", "--overwrite"),
    ("changes", "collection"),
    ("extract", "archive", "--engine", "local"),
    ("extract", "archive", "--engine", "local", "--overwrite"),
    ("stream", "archive"),
    ("collection", "register", "collection"),
)


@pytest.mark.parametrize(
    "inside", ["extracted/extractions/run", "extracted/captures", "collection/increments/00000004"]
)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_writes_in_a_collection_or_a_table(
    command: tuple[str, ...], inside: str, collected: Path, extracted: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Its files counted as rows of those, which then had more than were written, or the next crawl was refused."""
    pytest.importorskip("pyspark")
    pytest.importorskip("deltalake")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(extracted, "extracted")
    shutil.copytree(collected, "collection")
    Path("archive").symlink_to(extracted.parent / "archive")
    before = sorted(tmp_path.rglob("*"))

    assert 2 == main([*command, "--output", inside])
    assert ": lies in the " in (error := capsys.readouterr().err)
    assert "; give another --output" in error
    assert before == sorted(tmp_path.rglob("*"))


def test_a_collection_lies_in_no_other(
    collected: Path,
    extracted: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nor in a table, of which its increments would be rows."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(extracted, "extracted")

    assert 2 == main(["extract", str(collected.parent / "archive"), "--collection", "extracted/extractions/mine"])
    assert ": lies in the table " in capsys.readouterr().err


def test_outputs_lie_beside_tables_and_below_folders_of_the_same_name(tmp_path: Path, extracted: Path) -> None:
    """A folder called as a table is one where it holds rows; of a link that counts to which it leads."""
    (tmp_path / "captures").mkdir()
    (tmp_path / "captures" / "books.parquet").touch()
    (tmp_path / "link").symlink_to(extracted / "captures")
    for target in (
        f"{extracted}/report",
        f"{tmp_path}/captures/run",
        "memory://captures/run",
        "memory://b/captures/run",
    ):
        check_outside(target)

    with pytest.raises(OutputError, match=f"link/run: lies in the table {extracted}/captures; give another --output"):
        check_outside(f"{tmp_path}/link/run")


def test_a_folder_that_may_not_be_listed_is_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store may grant what is below a folder alone."""

    def denied(folder: str) -> set[str]:
        raise OutputError(f"{folder}: cannot be listed")

    monkeypatch.setattr(storage, "list_names", denied)

    check_outside("memory://b/pages/mine/out")


def test_tables_in_an_object_store_are_kept_apart_too() -> None:
    """By the names that lie there, also of the parts of a stream."""
    parquet.write("memory://kept/out/captures/part-00000.parquet", SUPERSEDED, [])
    parquet.write("memory://kept/stream/labels/batch=0/part-00000.parquet", SUPERSEDED, [])

    with pytest.raises(OutputError, match="lies in the table memory://kept/stream/labels; give another --output"):
        check_outside("memory://kept/stream/labels/run")

    with pytest.raises(OutputError, match="lies in the table memory://kept/out/captures; give another --output"):
        check_outside("memory://kept/out/captures/deep/run")
