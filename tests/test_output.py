"""An output is opened by its path, and read a few columns and rows at a time."""

import shutil
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest

from dbce_spark import output
from dbce_spark.errors import OutputError
from tests.extracted import rows


def ids(found: output.Output, table: str = output.EXTRACTIONS) -> list[str]:
    return [one for batch in found.batches(table, ["capture_id"], rows=7) for one in batch.column(0).to_pylist()]


def test_tables_have_all_rows_of_an_output(extracted: Path) -> None:
    """Whatever the files are, each row of each table is read once."""
    opened = output.opened(str(extracted))
    for table in (output.EXTRACTIONS, output.CAPTURES):
        assert sorted(row["capture_id"] for row in rows(extracted, table, ["capture_id"])) == sorted(ids(opened, table))


def test_a_site_is_in_one_part(extracted: Path) -> None:
    """The parts share out the files of the extractions, and no site is in two."""
    opened = output.opened(str(extracted))
    sites = [
        {site for batch in output.batches(part.files, ["site"], rows=99) for site in batch.column("site").to_pylist()}
        for part in opened.parts()
    ]

    assert len(sites) > 3
    assert sum(map(len, sites)) == len(set().union(*sites))
    assert sorted(opened.tables[output.EXTRACTIONS]) == sorted(path for part in opened.parts() for path in part.files)


def test_parts_are_in_order_of_their_numbers() -> None:
    """Ten comes after two, and files without a part are in the first."""
    parts = ("site_part=10/", "site_part=2/", "")
    files = tuple(f"s3://b/extractions/{part}p.parquet" for part in parts)
    made = output.Output(root="", run={}, tables={output.EXTRACTIONS: files})

    assert [0, 2, 10] == [part.number for part in made.parts()]


def test_an_output_in_a_store_is_read_alike(extracted: Path) -> None:
    """A URL gives the rows that the folder gives, by URLs of its files."""
    fsspec.filesystem("memory").put(str(extracted), "/reading/out", recursive=True)
    opened = output.opened("memory://reading/out/")

    assert ids(output.opened(str(extracted))) == ids(opened)
    assert all(path.startswith("memory://") for path in opened.tables[output.CAPTURES])


def test_files_that_are_being_written_are_not_read(extracted: Path, tmp_path: Path) -> None:
    """What begins with "_" or "." is nobody's table yet."""
    shutil.copytree(extracted, tmp_path / "out")
    for name in ("_half.parquet", ".half.parquet", "notes.txt"):
        (tmp_path / "out" / "extractions" / name).write_bytes(b"half")

    assert ids(output.opened(str(extracted))) == ids(output.opened(str(tmp_path / "out")))


def test_fields_of_lists_are_read_by_themselves(extracted: Path) -> None:
    """Of the segments only the fields that are named come along."""
    opened = output.opened(str(extracted))
    batch = next(opened.batches(output.EXTRACTIONS, ["segments.label", "segments.start", "url"], rows=2))

    assert 2 >= len(batch)
    assert ["label", "start"] == sorted(field.name for field in batch.column("segments").type.value_type)
    assert pa.string() == batch.schema.field("url").type


@pytest.mark.parametrize("text", [None, "{"])
def test_an_output_without_its_account_is_refused(tmp_path: Path, text: str | None) -> None:
    """Without run.json, or with half of one, it is not finished."""
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    with pytest.raises(OutputError, match=r"no run\.json that can be read"):
        output.opened(str(tmp_path))


def test_what_cannot_be_read_is_named(extracted: Path, tmp_path: Path) -> None:
    """A damaged file, and one without a column that is asked for, are errors that name the file."""
    file = tmp_path / "a.parquet"
    file.write_bytes(b"PAR1 and no more")
    with pytest.raises(OutputError, match=r"a\.parquet: cannot be read: .*make it again"):
        list(output.batches([str(file)], ["url"], rows=1))
    with pytest.raises(OutputError, match=r"part-00000\.parquet: has no column nothing;"):
        list(output.opened(str(extracted)).batches(output.REJECTS, ["url", "nothing"], rows=1))
