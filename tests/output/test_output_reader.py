"""An output is opened by its path, and read a few columns and rows at a time."""

import errno
import json
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import fsspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.errors import InputError, OutputError
from dbce_spark.files import parquet
from dbce_spark.output import output_reader, stored_rows
from dbce_spark.output.collection import CAPTURES, DUPLICATES, EXTRACTIONS, REJECTS, Collection, Increment
from tests.support import sample_collection as grown
from tests.support.permissions import forbidden
from tests.support.sample_output import rows


def ids(found: output_reader.Output, table: str = EXTRACTIONS) -> list[str]:
    return [one for batch in found.batches(table, ["capture_id"], rows=7) for one in batch.column(0).to_pylist()]


def test_tables_have_all_rows_of_an_output(extracted: Path) -> None:
    """Each row of each table is read once, whatever the files are."""
    opened = output_reader.open_output(str(extracted))
    for table in (EXTRACTIONS, CAPTURES):
        assert sorted(row["capture_id"] for row in rows(extracted, table, ["capture_id"])) == sorted(ids(opened, table))


def test_a_site_is_in_one_part(extracted: Path) -> None:
    """The parts share out the files of the extractions, and no site is in two."""
    opened = output_reader.open_output(str(extracted))
    sites = [
        {site for batch in part.batches(["site"], rows=99) for site in batch.column("site").to_pylist()}
        for part in opened.parts()
    ]

    assert len(sites) > 3
    assert sum(map(len, sites)) == len(set().union(*sites))
    assert sorted(opened.tables[EXTRACTIONS]) == sorted(one.path for part in opened.parts() for one in part.files())


def test_parts_are_in_order_of_their_numbers() -> None:
    """Ten comes after two, and files without a part are in the first."""
    parts = ("site_part=10/", "site_part=2/", "")
    files = {f"{part}p.parquet": f"s3://b/extractions/{part}p.parquet" for part in parts}
    written = output_reader.Written("", 0, {EXTRACTIONS: files, DUPLICATES: {}, "superseded": {}})
    made = output_reader.Output(root="", run={}, runs=(written,))

    assert [0, 2, 10] == [part.number for part in made.parts()]


def test_an_output_in_a_store_is_read_alike(extracted: Path) -> None:
    """A URL gives the rows that the folder gives, by URLs of its files."""
    fsspec.filesystem("memory").put(str(extracted), "/reading/out", recursive=True)
    opened = output_reader.open_output("memory://reading/out/")

    assert ids(output_reader.open_output(str(extracted))) == ids(opened)
    assert all(path.startswith("memory://") for path in opened.tables[CAPTURES])


def test_files_that_are_being_written_are_not_read(extracted: Path, tmp_path: Path) -> None:
    """A file whose name begins with "_" or "." belongs to no table yet."""
    shutil.copytree(extracted, tmp_path / "out")
    for name in ("_half.parquet", ".half.parquet", "notes.txt"):
        (tmp_path / "out" / "extractions" / name).write_bytes(b"half")

    assert ids(output_reader.open_output(str(extracted))) == ids(output_reader.open_output(str(tmp_path / "out")))


@pytest.mark.parametrize(
    "name", ["run.json", "extractions", "extractions/site_part=0", "extractions/site_part=0/part-00000.parquet"]
)
def test_what_may_not_be_read_is_not_damaged(extracted: Path, tmp_path: Path, name: str) -> None:
    """The error names it and what it lacks, and does not say to make the output again."""
    shutil.copytree(extracted, tmp_path / "out")
    with forbidden(tmp_path / "out" / name), pytest.raises(OutputError, match="Permission denied; let") as raised:
        output_reader.open_output(str(tmp_path / "out")).check()

    assert str(raised.value).startswith(f"{tmp_path}/out/{name}: ")


def test_duplicates_of_which_a_part_is_missing_are_refused(tmp_path: Path) -> None:
    """Copies would count as texts of their own; an output that was copied without duplicates is none of these."""
    for part in ("a", "b"):
        marks = pa.Table.from_pydict({"capture_id": [part]}, pa.schema([("capture_id", pa.string())]))
        parquet.write(str(tmp_path / f"duplicates/{part}.parquet"), marks.schema, marks.to_batches())
    (tmp_path / "run.json").write_text(
        '{"extractions": 0, "duplicates": {"texts": 2, "remarked": 0}}', encoding="utf-8"
    )
    output_reader.open_output(str(tmp_path)).check()
    (tmp_path / "duplicates/a.parquet").unlink()
    with pytest.raises(OutputError, match="duplicates has 1 rows, and 2 were written: a part is missing"):
        output_reader.open_output(str(tmp_path)).check()
    (tmp_path / "duplicates/b.parquet").unlink()
    output_reader.open_output(str(tmp_path)).check()


def test_marks_made_anew_that_are_missing_are_noticed(tmp_path: Path) -> None:
    """Old marks would count; an output that was copied without duplicates has no marks at all."""
    marks = pa.Table.from_pydict({"capture_id": ["a"]}, pa.schema([("capture_id", pa.string())]))
    for table in ("duplicates", "remarked"):
        parquet.write(str(tmp_path / f"{table}/a.parquet"), marks.schema, marks.to_batches())
    run = '{"extractions": 0, "duplicates": {"texts": 1, "remarked": 1}}'
    (tmp_path / "run.json").write_text(run, encoding="utf-8")
    output_reader.open_output(str(tmp_path)).check()
    (tmp_path / "remarked/a.parquet").unlink()
    with pytest.raises(OutputError, match="remarked has 0 rows, and 1 were written: a part is missing"):
        output_reader.open_output(str(tmp_path)).check()
    (tmp_path / "duplicates/a.parquet").unlink()
    output_reader.open_output(str(tmp_path)).check()


def test_a_collection_without_what_was_replaced_is_refused(collected: Path, tmp_path: Path) -> None:
    """Both rows of a capture would count, the one before and the one in its place."""
    shutil.copytree(collected, tmp_path / "c")
    increment = tmp_path / "c/increments/00000003"
    rows = json.loads((increment / "run.json").read_text(encoding="utf-8"))["relabelled"]
    shutil.rmtree(increment / "superseded")
    with pytest.raises(OutputError, match=f"superseded has 0 rows, and {rows} were written: a part is missing"):
        output_reader.open_output(str(tmp_path / "c")).check()


def test_fields_of_lists_are_read_by_themselves(extracted: Path) -> None:
    """A batch holds only the named fields of segments."""
    opened = output_reader.open_output(str(extracted))
    batch = next(opened.batches(EXTRACTIONS, ["segments.label", "segments.start", "url"], rows=2))

    assert 2 >= len(batch)
    assert ["label", "start"] == sorted(field.name for field in batch.column("segments").type.value_type)
    assert pa.string() == batch.schema.field("url").type


def test_an_output_without_its_account_is_refused(tmp_path: Path) -> None:
    """An output without run.json is not finished."""
    with pytest.raises(OutputError, match=r"no run\.json that can be read"):
        output_reader.open_output(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "Expecting property name"),
        ("null", "it is no object"),
        ("[]", "it is no object"),
        ("{}", "it has no extractions"),
        ('{"captures": 1, "extractions": 1, "rejects": []}', "its rejects is no object"),
        ('{"captures": "1", "extractions": 1}', "'1' is no count"),
        ('{"captures": 1, "extractions": 1, "rejects": {"no_text": null}}', "its counts cannot be read"),
        ('{"captures": 1, "extractions": 1, "duplicates": null}', "its counts cannot be read"),
    ],
)
def test_an_account_that_is_none_is_refused(text: str, why: str, tmp_path: Path) -> None:
    """A run.json that a disk or a person has changed names no rows to compare the tables with, and is no run's."""
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(OutputError, match=rf"run\.json is no report of a run: {why}.*or make the output again"):
        output_reader.open_output(str(tmp_path))


def test_an_account_of_a_crawl_that_is_gone_is_named(collected: Path, tmp_path: Path) -> None:
    """The remedies are those of an increment: no run writes it again."""
    shutil.copytree(collected, tmp_path / "c")
    (tmp_path / "c" / "increments" / "00000002" / "run.json").unlink()
    with pytest.raises(OutputError, match=r"00000002: no run\.json that can be read there; restore it, or roll back"):
        output_reader.open_output(str(tmp_path / "c"))


def test_an_account_of_a_crawl_that_is_none_is_refused(collected: Path, tmp_path: Path) -> None:
    """In a collection, where it would be summed up with the others, an earlier version is the remedy."""
    shutil.copytree(collected, tmp_path / "c")
    (tmp_path / "c" / "increments" / "00000002" / "run.json").write_text('{"captures": 0, "extractions": 0}')
    with pytest.raises(OutputError, match=r"00000002/run\.json is no report of a run: it has no rejects;.* roll back"):
        output_reader.open_output(str(tmp_path / "c"))


def test_what_cannot_be_read_is_named(extracted: Path, tmp_path: Path) -> None:
    """A damaged file, and one without a column that is asked for, are errors that name the file."""
    file = tmp_path / "a.parquet"
    file.write_bytes(b"PAR1 and no more")
    with pytest.raises(OutputError, match=r"a\.parquet: cannot be read: .*make it again"):
        list(stored_rows.batches([str(file)], ["url"], rows=1))
    with pytest.raises(OutputError, match=r"part-00000\.parquet: has no column nothing;"):
        list(output_reader.open_output(str(extracted)).batches(REJECTS, ["url", "nothing"], rows=1))


def main_texts(found: output_reader.Output) -> list[tuple[str, str]]:
    rows = [row for batch in found.batches(EXTRACTIONS, ["text", "capture_id"], rows=7) for row in listed(batch)]
    return sorted((row["capture_id"], row["text"]) for row in rows)


def listed(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = batch.to_pylist()
    return found


def test_a_file_that_may_not_be_opened_any_more_is_not_called_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is to be made again: the error names the limit."""

    def refuse(path: str) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)

    monkeypatch.setattr(parquet, "reader", refuse)
    with pytest.raises(OutputError, match=r"a\.parquet: Too many open files; allow more \(`ulimit -n`\)"):
        stored_rows.count_rows("a.parquet")


@pytest.mark.parametrize("version", [1, 2, 3, None])
def test_a_collection_is_read_as_one_run_over_its_crawls(collected: Path, version: int | None) -> None:
    """Each version gives each capture once, with what was last said of it then."""
    result = grown.whole(collected, version or 3)

    assert sorted(grown.texts(result).items()) == main_texts(output_reader.open_output(str(collected), version))


def test_a_site_of_a_collection_is_in_one_part(collected: Path) -> None:
    """All increments' rows of a site are in one part, without the replaced ones."""
    parts = output_reader.open_output(str(collected)).parts()
    rows = [[row for batch in part.batches(["site", "text"], rows=9) for row in listed(batch)] for part in parts]

    assert [3, 3] == [len(part.layers) for part in parts]
    assert len(grown.whole(collected).extractions) == sum(map(len, rows))
    assert {("site", "text")} == {tuple(row) for some in rows for row in some}
    assert sum(len({row["site"] for row in some}) for some in rows) == len({r["site"] for some in rows for r in some})
    names = [file.name for part in parts for file in part.files()]
    assert len({*names}) == len(names)


def test_revisits_without_an_original_are_those_of_the_last_increment(collected: Path) -> None:
    """A revisit resolved later is no reject any more, neither in the rows nor in the account."""
    reasons = {}
    for version in (2, 3):
        opened = output_reader.open_output(str(collected), version)
        reasons_of_rows = [
            row["reason"] for batch in opened.batches(REJECTS, ["reason"], rows=3) for row in listed(batch)
        ]
        assert Counter(reasons_of_rows) == opened.run["rejects"]
        reasons[version] = Counter(reasons_of_rows)

    assert {2: {"no_text": 1, "revisit_unresolved": 2}, 3: {"no_text": 1}} == reasons


def test_columns_that_are_not_requested_are_not_read(collected: Path) -> None:
    """Columns by which rows are chosen come only where they are asked for."""
    opened = output_reader.open_output(str(collected))
    for table in (EXTRACTIONS, REJECTS, CAPTURES):
        assert {("url",)} == {tuple(batch.schema.names) for batch in opened.batches(table, ["url"], rows=5)}


def test_a_version_that_is_not_there_is_reported(collected: Path, extracted: Path) -> None:
    """A missing version of a collection is an error, as is any version of an output, which has none."""
    with pytest.raises(InputError, match="has no version 7; it has 1, 2, 3"):
        output_reader.open_output(str(collected), 7)
    with pytest.raises(InputError, match="is no collection, so it has no version 1; leave --version out"):
        output_reader.open_output(str(extracted), 1)


def test_an_increment_that_is_gone_is_reported(collected: Path, tmp_path: Path) -> None:
    """A missing increment is named, even if the others are there."""
    shutil.copytree(collected, tmp_path / "c")
    shutil.rmtree(tmp_path / "c" / "increments" / "00000002")
    with pytest.raises(OutputError, match=r"00000002: no run\.json that can be read"):
        output_reader.open_output(str(tmp_path / "c"))


def test_increments_that_were_put_together_are_read_as_one(collected: Path, tmp_path: Path) -> None:
    """The run.json of each original run is kept beside the joined rows, and summed up as before."""
    collection = Collection(str(shutil.copytree(collected, tmp_path / "c")))
    before = output_reader.open_output(collection.folder)
    texts = main_texts(before)
    whole = [path for crawl in grown.crawls(collected.parent) for path in crawl]
    shutil.copytree(grown.grow(tmp_path / "whole", [whole]) / "increments" / "00000001", collection.increment(4))
    for number in (1, 2, 3):
        target = Path(collection.increment(4), "runs", f"{number:08}.json")
        target.parent.mkdir(exist_ok=True)
        shutil.copy(Path(collection.increment(number), "run.json"), target)
        shutil.rmtree(collection.increment(number))
    one = Increment(number=4, page_files=3, captures=9, extractions=9, relabelled=0)
    collection.commit(replace(collection.current(), number=4, increments=(one,)))
    after = output_reader.open_output(collection.folder)

    assert texts == main_texts(after)
    assert {**before.run, "collection": None} == {**after.run, "collection": None}
    assert [1, 2, 3] == [*output_reader.read_runs(collection, collection.current())]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6, unique=True), min_size=1, max_size=5))
def test_of_each_capture_the_last_row_counts(tmp_path_factory: pytest.TempPathFactory, runs: list[list[str]]) -> None:
    """Whichever runs say something of it, and in whatever part its site is."""
    root = str(tmp_path_factory.mktemp("runs"))
    written: list[output_reader.Written] = []
    last: dict[str, int] = {}
    for number, ids in enumerate(runs, 1):
        tables: dict[str, dict[str, str]] = {name: {} for name in (*output_reader.TABLES, "duplicates", "superseded")}
        for part in {ord(one) % 3 for one in ids}:
            name = f"site_part={part}/p.parquet"
            here = [one for one in ids if ord(one) % 3 == part]
            tables["extractions"][name] = table(f"{root}/{number}/{name}", capture_id=here, run=[number] * len(here))
        if replaced := [one for one in ids if one in last]:
            tables["superseded"]["p.parquet"] = table(f"{root}/{number}/gone.parquet", capture_id=replaced)
        last |= dict.fromkeys(ids, number)
        written.append(output_reader.Written(f"{root}/{number}", number, tables))
    made = output_reader.Output(root=root, run={}, runs=tuple(written))
    found = [row for batch in made.batches(EXTRACTIONS, ["run", "capture_id"], rows=2) for row in listed(batch)]

    assert sorted(last.items()) == sorted((row["capture_id"], row["run"]) for row in found)


def table(path: str, **columns: Sequence[Any]) -> str:
    """A Parquet file of these columns."""
    batch = pa.RecordBatch.from_pydict(columns)
    parquet.write(path, batch.schema, [batch])
    return path


def test_an_output_of_which_a_store_says_nothing_may_be_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is the store's, and not that the output has to be made again."""

    def without_credentials(*_: object) -> bytes:
        raise RuntimeError("Unable to locate credentials")

    monkeypatch.setattr(fsspec.get_filesystem_class("memory"), "cat_file", without_credentials)

    with pytest.raises(OutputError, match=r"^memory://out/run.json: cannot be read: Unable to locate .* AWS_ACCESS"):
        output_reader.open_output("memory://out")


def test_a_store_that_cannot_be_asked_holds_no_unfinished_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names what its driver lacks; to run the extraction again would not help."""
    monkeypatch.setattr(output_reader, "url_to_fs", Mock(side_effect=OSError("Unable to load libjvm")))

    with pytest.raises(OutputError, match=r"^hdfs://nn/a/run.json: cannot be read: Unable to load libjvm; install"):
        output_reader.open_output("hdfs://nn/a")
