"""`dbce export` writes everything or nothing, and the same files from any number of processes."""

import json
import os
import shutil
from pathlib import Path

import fsspec
import pyarrow.parquet as pq
import pytest

from dbce_spark.commands.cli import main
from dbce_spark.errors import ConfigError, OutputError
from dbce_spark.export import export_job
from dbce_spark.export.export_settings import WantedRows, settings
from dbce_spark.files import storage
from tests.support import sample_collection as grown
from tests.support.exports import exported, lines, written
from tests.support.sample_output import rows


@pytest.mark.parametrize("to", list(export_job.FORMATS))
def test_bytes_do_not_depend_on_who_writes(extracted: Path, tmp_path: Path, to: str) -> None:
    """One process or two, a few rows at a time or many, here or there: all files are equal."""
    once = exported(extracted, tmp_path / "once", to, shard_bytes=30_000)
    again = exported(extracted, tmp_path / "again", to, shard_bytes=30_000, processes=2)
    other = exported(shutil.copytree(extracted, tmp_path / "copy"), tmp_path / "x", to, shard_bytes=30_000, rows=3)

    assert written(once) == written(again)
    assert {**written(once), "export.json": b""} == {**written(other), "export.json": b""}


@pytest.mark.parametrize("to", list(export_job.FORMATS))
def test_a_store_gets_what_a_folder_gets(extracted: Path, tmp_path: Path, to: str) -> None:
    """An export to a URL has the same files."""
    export_job.export(
        export_job.ExportRequest(
            extracted=str(extracted), target=f"memory://exports/{to}", to=to, wanted=WantedRows(),
            settings=settings({}),
            processes=1,
        )
    )  # fmt: skip
    fsspec.filesystem("memory").get(f"/exports/{to}", str(tmp_path / "got"), recursive=True)

    assert written(exported(extracted, tmp_path / "out", to)) == written(tmp_path / "got")


def test_the_account_says_what_was_made(extracted: Path, tmp_path: Path) -> None:
    """export.json has the number of documents, the run and the settings."""
    folder = exported(
        extracted, tmp_path / "out", "jsonl", wanted=WantedRows(status=frozenset(["single"])), source="web"
    )
    account = json.loads((folder / "export.json").read_text())
    statuses = [row["status"] for row in rows(extracted, "extractions", ["status"])]

    assert (statuses.count("single"), statuses.count("crossed")) == (account["documents"], account["left_out"])
    assert ("jsonl", "the plan", ["single"], "web") == (
        account["to"], account["plan"], account["wanted"]["status"], account["settings"]["source"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "of_row"),
    [
        (
            ["--site", "smiles.example", "--site", "gazette.example"],
            lambda row: row["site"] in ("smiles.example", "gazette.example"),
        ),
        (["--language", "de"], lambda row: row["language"] == "de"),
        (["--status", "crossed"], lambda row: row["status"] == "crossed"),
        (["--min-words", "50", "--language", "en"], lambda row: row["text_words"] >= 50 and row["language"] == "en"),
    ],
)
def test_only_wanted_rows_are_written(
    extracted: Path, tmp_path: Path, options: list[str], of_row: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each option leaves the rows that fit it."""
    assert callable(of_row)
    extractions = rows(extracted, "extractions", ["capture_id", "site", "language", "status", "text_words"])
    expected = {row["capture_id"] for row in extractions if of_row(row)}
    status = main(
        ["export", str(extracted), "--format", "jsonl", "--output", str(tmp_path / "out"), "--processes", "1", *options]
    )
    files = written(tmp_path / "out")
    found = {line["id"] for name, data in files.items() if name != "export.json" for line in lines(data)}

    assert 0 == status
    assert 0 < len(expected) < len(extractions)
    assert expected == found
    assert (
        f"{len(expected)} documents in {tmp_path}/out; {len(extractions) - len(expected)} were not asked for"
        in capsys.readouterr().out
    )


def test_options_of_the_command_are_settings(extracted: Path, tmp_path: Path) -> None:
    """Source, compression and the size of shards are as they are asked for."""
    options = ["--source", "web", "--compression", "zst", "--shard-bytes", "1", "--processes", "1"]
    main(["export", str(extracted), "--format", "jsonl", "--output", str(tmp_path / "out"), *options])
    files = {name: data for name, data in written(tmp_path / "out").items() if name != "export.json"}

    assert len(rows(extracted, "extractions", [])) == len(files)
    assert {".zst"} == {Path(name).suffix for name in files}
    assert {"web"} == {line["source"] for data in files.values() for line in lines(data)}


@pytest.mark.parametrize(("to", "processes"), [*((to, 1) for to in export_job.FORMATS), ("jsonl", 2)])
def test_an_export_that_fails_leaves_nothing(extracted: Path, tmp_path: Path, to: str, processes: int) -> None:
    """A damaged file of the output, the last of all, ends the export with its name, and no folder is there."""
    damaged = shutil.copytree(extracted, tmp_path / "damaged")
    last = sorted(damaged.glob("extractions/*/*.parquet"))[-1]
    last.write_bytes(last.read_bytes()[:-50])
    with pytest.raises(OutputError, match=rf"{last.name}: cannot be read"):
        exported(damaged, tmp_path / "out" / "in", to, processes=processes)

    assert [] == [*(tmp_path / "out").iterdir()]


@pytest.mark.parametrize("to", list(export_job.FORMATS))
def test_an_export_of_an_output_with_a_flipped_byte_leaves_nothing(extracted: Path, tmp_path: Path, to: str) -> None:
    """A page of Parquet that a disk has changed ends it: its checksum is no longer its own."""
    damaged = shutil.copytree(extracted, tmp_path / "damaged")
    last = sorted(damaged.glob("extractions/*/*.parquet"))[-1]
    column = pq.ParquetFile(last).metadata.row_group(0).column(0)  # capture_id, which all formats read
    content, at = last.read_bytes(), column.data_page_offset + column.total_compressed_size // 2
    last.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    with pytest.raises(OutputError, match=rf"{last.name}: cannot be read"):
        exported(damaged, tmp_path / "out" / "in", to)

    assert [] == [*(tmp_path / "out").iterdir()]


@pytest.mark.parametrize(
    "reader", [["export", "--format", "text", "--output"], ["corpus", "--output"], ["report", "--output"]]
)
def test_an_output_with_a_part_missing_is_refused(
    extracted: Path, tmp_path: Path, reader: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The table is named, with its rows, and nothing is written."""
    damaged = shutil.copytree(extracted, tmp_path / "damaged")
    sorted(damaged.glob("extractions/*/*.parquet"))[-1].unlink()
    command, *options = reader

    assert 2 == main([command, str(damaged), *options, str(tmp_path / "out")])
    assert f"{damaged}/extractions has" in capsys.readouterr().err
    assert not (tmp_path / "out").exists() or not [*(tmp_path / "out").iterdir()]


class Fatal:
    """A part whose process ends as soon as it is unpickled."""

    def __init__(self, **_: object) -> None:
        pass

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return os._exit, (1,)


def test_a_process_that_is_killed_ends_the_export(
    extracted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error has advice, and no file stays."""
    monkeypatch.setattr(export_job, "PartExport", Fatal)
    with pytest.raises(OutputError, match=r"was ended from outside, .* give fewer --processes"):
        exported(extracted, tmp_path / "out" / "in", "jsonl", processes=2)

    assert [] == [*(tmp_path / "out").rglob("*")]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("none", "new", "none: no run.json that can be read there"),
        ("", "full", "full: is not empty; give a new folder"),
        ("", "full/file", "file is a file; give a folder"),
    ],
)
def test_what_cannot_be_exported_is_reported(
    extracted: Path, tmp_path: Path, source: str, target: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No output to read, or something where it should go: one line, and nothing is touched."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    given = str(tmp_path / source) if source else str(extracted)
    status = main(["export", given, "--format", "text", "--output", str(tmp_path / target)])
    errors = capsys.readouterr().err

    assert (2, 1) == (status, errors.count("\n"))
    assert message in errors
    assert {"full/file": b"mine"} == written(tmp_path)


@pytest.mark.parametrize(
    "given",
    [{"gzip_level": 0}, {"zstd_level": 23}, {"shard_bytes": 0}, {"rows": 0}, {"name_bytes": 9}, {"compression": "xz"}],
)
def test_settings_out_of_range_are_refused(given: dict[str, object]) -> None:
    """The error names the setting and its bounds."""
    with pytest.raises(ConfigError, match=f"{next(iter(given))} is .* must"):
        settings(given)


@pytest.mark.parametrize("to", list(export_job.FORMATS))
def test_s3_is_exported_to_s3(bucket_of_extracted: str, extracted: Path, tmp_path: Path, to: str) -> None:
    """A real client exports between folders of an S3 server: the files are those of a local export, and a second export
    to the same place is refused."""
    target = f"{bucket_of_extracted}-{to}"
    export_job.export(request_to_s3(bucket_of_extracted, target, to))
    storage.list_names(target)  # or s3fs would tell of the time before
    fsspec.filesystem("s3").get(target, str(tmp_path / "got"), recursive=True)
    with pytest.raises(OutputError, match="is not empty"):
        export_job.export(request_to_s3(bucket_of_extracted, target, to))

    assert written(exported(extracted, tmp_path / "out", to)) == written(tmp_path / "got")


def test_an_export_to_s3_that_fails_leaves_nothing(bucket_of_extracted: str, extracted: Path, tmp_path: Path) -> None:
    """A failed export removes the objects that it had written."""
    damaged = shutil.copytree(extracted, tmp_path / "damaged")
    sorted(damaged.glob("extractions/*/*.parquet"))[-1].write_bytes(b"PAR1")
    with pytest.raises(OutputError, match="cannot be read"):
        export_job.export(request_to_s3(str(damaged), f"{bucket_of_extracted}-failed", "jsonl"))

    assert set() == storage.list_names(f"{bucket_of_extracted}-failed")


def request_to_s3(extracted: str, target: str, to: str) -> export_job.ExportRequest:
    return export_job.ExportRequest(
        extracted=extracted, target=target, to=to, wanted=WantedRows(), settings=settings({}), processes=1
    )


@pytest.fixture(scope="module")
def one_run(collected: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Extract all crawls of the collection in one run."""
    files = [path for crawl in grown.crawls(collected.parent) for path in crawl]
    return grown.grow(tmp_path_factory.mktemp("whole"), [files]) / "increments" / "00000001"


@pytest.mark.parametrize("to", list(export_job.FORMATS))
def test_a_collection_is_exported_as_one_run_over_its_crawls(
    collected: Path, one_run: Path, tmp_path: Path, to: str
) -> None:
    """A collection exports the documents and texts of one run, in any order; export.json names its version."""
    folder = exported(collected, tmp_path / "of-collection", to, processes=2 if to == "jsonl" else 1)
    whole = exported(one_run, tmp_path / "of-run", to)
    account = json.loads((folder / "export.json").read_text())

    assert (len(rows(one_run, "extractions", ["url"])), 3) == (account["documents"], account["collection"]["version"])
    assert documents(whole) == documents(folder)


def documents(folder: Path) -> dict[str, list[str]]:
    """List the lines of all shards of each kind, the file as text for sites."""
    found: dict[str, list[str]] = {}
    for name, data in written(folder).items():
        if name.endswith(".txt"):
            found[name] = [data.decode()]
        elif name != export_job.EXPORT_FILE:
            texts = [json.dumps(one) for one in lines(data)]
            found[str(Path(name).parent)] = sorted(found.get(str(Path(name).parent), []) + texts)
    return found


def test_a_version_of_a_collection_is_exported(collected: Path, tmp_path: Path) -> None:
    """`--version` exports an earlier version."""
    target = str(tmp_path / "texts")
    status = main(
        ["export", str(collected), "--format", "text", "--version", "1", "--processes", "1", "--output", target]
    )
    account = json.loads((tmp_path / "texts" / "export.json").read_text())

    assert (0, 1) == (status, account["collection"]["version"])
    assert len(grown.whole(collected, 1).extractions) == account["documents"]
