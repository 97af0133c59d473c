"""`dbce export` writes everything or nothing, and the same files from any number of processes."""

import json
import os
import re
import shutil
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import fsspec
import pyarrow.parquet as pq
import pytest

from dbce_spark.commands import reader_commands
from dbce_spark.commands.cli import main
from dbce_spark.errors import ConfigError, InputError, OutputError
from dbce_spark.export import attributes, corpus, export_job
from dbce_spark.export.export_settings import settings
from dbce_spark.files import storage
from tests.support import corpus_outputs
from tests.support import sample_collection as grown
from tests.support.builders import config
from tests.support.corpus_outputs import Row
from tests.support.exports import exported, lines, written
from tests.support.sample_output import rows

OF_TEXTS = ["jsonl", "text", "dolma"]
"""Formats of an output without Markdown."""
READ = ("site", "language", "status", "text_words", "page_type", "confidence", "timestamp")


@pytest.mark.parametrize("to", OF_TEXTS)
def test_bytes_do_not_depend_on_who_writes(extracted: Path, tmp_path: Path, to: str) -> None:
    """One process or two, a few rows at a time or many, here or there: all files are equal."""
    once = exported(extracted, tmp_path / "once", to, shard_bytes=30_000)
    again = exported(extracted, tmp_path / "again", to, shard_bytes=30_000, processes=2)
    other = exported(shutil.copytree(extracted, tmp_path / "copy"), tmp_path / "x", to, shard_bytes=30_000, rows=3)

    assert written(once) == written(again)
    assert {**written(once), "export.json": b""} == {**written(other), "export.json": b""}


@pytest.mark.parametrize("to", OF_TEXTS)
def test_a_store_gets_what_a_folder_gets(extracted: Path, tmp_path: Path, to: str) -> None:
    """An export to a URL has the same files."""
    export_job.export(
        export_job.ExportRequest(
            extracted=str(extracted), target=f"memory://exports/{to}", format=to, settings=settings({}),
            processes=1,
        )
    )  # fmt: skip
    fsspec.filesystem("memory").get(f"/exports/{to}", str(tmp_path / "got"), recursive=True)

    assert written(exported(extracted, tmp_path / "out", to)) == written(tmp_path / "got")


def test_the_command_offers_all_formats() -> None:
    """It has their names of its own, so that its help need not load what writes them."""
    assert [*export_job.FORMATS] == [*reader_commands.EXPORT_FORMATS]


def test_the_account_says_what_was_made(extracted: Path, tmp_path: Path) -> None:
    """export.json has the number of documents, of the rows that each filter removed, the run and the settings."""
    folder = exported(extracted, tmp_path / "out", "jsonl", filters={"statuses": ["single"]}, source="web")
    account = json.loads((folder / "export.json").read_text())
    statuses = [row["status"] for row in rows(extracted, "extractions", ["status"])]

    assert (statuses.count("single"), {"status": statuses.count("crossed")}) == (
        account["documents"],
        account["removed"],
    )
    assert ("jsonl", "the plan", ["single"], "web") == (
        account["format"], account["plan"], account["settings"]["filters"]["statuses"], account["settings"]["source"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "of_row"),
    [
        (
            ["--site", "smiles.example", "--site", "gazette.example"],
            lambda row: row["site"] in ("smiles.example", "gazette.example"),
        ),
        (["--language", "DEU"], lambda row: row["language"] == "de"),
        (["--status", "crossed"], lambda row: row["status"] == "crossed"),
        (["--min-words", "50", "--language", "en"], lambda row: row["text_words"] >= 50 and row["language"] == "en"),
        (["--page-type", "article"], lambda row: row["page_type"] == "article"),
        (["--min-confidence", "0.9"], lambda row: row["confidence"] >= 0.8999),
        (["--from", "2022-08", "--to", "2022"], lambda row: row["timestamp"].strftime("%Y-%m") == "2022-09"),
    ],
)
def test_only_wanted_rows_are_written(
    extracted: Path, tmp_path: Path, options: list[str], of_row: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each option leaves the rows that fit it."""
    assert callable(of_row)
    extractions = rows(extracted, "extractions", ["capture_id", *READ])
    expected = {row["capture_id"] for row in extractions if of_row(row)}
    status = main(
        ["export", str(extracted), "--format", "jsonl", "--output", str(tmp_path / "out"), "--processes", "1", *options]
    )
    files = written(tmp_path / "out")
    found = {line["id"] for name, data in files.items() if name != "export.json" for line in lines(data)}

    assert 0 == status
    assert 0 < len(expected) < len(extractions)
    assert expected == found
    printed = capsys.readouterr().out
    assert printed.startswith(f"{len(expected)} documents in {tmp_path}/out; removed are ")
    assert len(extractions) - len(expected) == sum(map(int, re.findall(r"(\d+) by ", printed)))


def test_markdown_is_exported_where_it_is(tmp_path: Path) -> None:
    """As the text of documents; a row without any is removed, and counted."""
    some = [Row(name="a", markdown="# A"), Row(name="b"), Row(name="c", language="de", markdown="# C")]
    output = corpus_outputs.write(tmp_path / "output", {"site_part=0/part-00000.parquet": some})
    folder = exported(Path(output), tmp_path / "out", "markdown", filters={"languages": ["en"]})
    (shard,) = (folder / "documents").iterdir()
    account = json.loads((folder / "export.json").read_text())

    assert [("a", "# A", False)] == [(one["id"], one["text"], "markdown" in one) for one in lines(shard.read_bytes())]
    assert (1, {"language": 1, "markdown": 1}) == (account["documents"], account["removed"])


def test_an_output_without_markdown_has_none_to_export(extracted: Path, tmp_path: Path) -> None:
    """The error names the option by which it would have."""
    with pytest.raises(InputError, match=r"no row that is left has Markdown, .*--format text,markdown$"):
        exported(extracted, tmp_path / "out", "markdown")

    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("files", [{}, {"site_part=0/part-00000.parquet": []}], ids=["no file", "no row"])
def test_an_output_without_extractions_has_none_to_export(files: dict[str, list[Row]], tmp_path: Path) -> None:
    """As a corpus has none of it: a folder with an account alone looked like an export."""
    output = corpus_outputs.write(tmp_path / "output", files)

    with pytest.raises(InputError, match=r"output has no extractions, so nothing is written; "):
        exported(Path(output), tmp_path / "out", "jsonl")
    assert [tmp_path / "output"] == [*tmp_path.iterdir()]


def test_where_no_row_is_left_nothing_is_written(
    extracted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error has the languages that there are, from whichever process."""
    command = ["export", str(extracted), "--format", "text", "--output", str(tmp_path / "out"), "--processes", "2"]
    status = main([*command, "--language", "fr"])
    count = len(rows(extracted, "extractions", []))
    message = (
        f"none of its {count} rows is left, so nothing is written; removed are {count} by language; language is en"
    )

    assert 2 == status
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("columns", "to", "missing"),
    [
        (["text", "timestamp", "url"], "text", ""),
        (["capture_id", "text"], "jsonl", ""),
        (["capture_id", *attributes.NEEDED], "dolma", ""),
        (["text", "timestamp", "url"], "jsonl", "capture_id"),
        (["text"], "text", "timestamp, url"),
    ],
)
def test_a_corpus_of_some_columns_is_exported(
    extracted: Path, tmp_path: Path, columns: list[str], to: str, missing: str
) -> None:
    """All that the format needs is enough: metadata are null, sites are those of the URLs."""
    chosen = dict.fromkeys(name.partition(".")[0] for name in columns)
    settings_of = replace(config().corpus, duplicates="keep")
    corpus.write(
        corpus.CorpusRequest(output=str(extracted), target=str(tmp_path / "c"), columns=[*chosen]), settings_of
    )
    if missing:
        with pytest.raises(OutputError, match=rf"has no column {missing}; a corpus has them where its --columns names"):
            exported(tmp_path / "c", tmp_path / "out", to)
        return
    names = [*written(exported(tmp_path / "c", tmp_path / "out", to))]

    assert [name for name in names if "gazette" in name or name.startswith("documents/")]


def test_paths_of_archives_may_be_relative(extracted: Path, tmp_path: Path) -> None:
    """To a folder that all lie in; in any other case nothing is written."""
    command = ["export", str(extracted), "--format", "jsonl", "--processes", "1", "--output", str(tmp_path / "out")]
    elsewhere = main([*command, "--relative-to", str(extracted)])
    is_written = (tmp_path / "out").exists()
    status = main([*command, "--relative-to", str(extracted.parent)])
    files = {
        line["metadata"]["warc_file"]
        for name, data in written(tmp_path / "out").items()
        if name != "export.json"
        for line in lines(data)
    }

    assert (2, False, 0) == (elsewhere, is_written, status)
    assert {"archive/crawl-20220307-00000.warc.gz", "archive/hard.warc.gz"} < files
    assert {"archive"} == {str(Path(one).parent) for one in files}


def test_options_of_the_command_are_settings(extracted: Path, tmp_path: Path) -> None:
    """Source, compression and the size of shards are as they are asked for."""
    options = ["--source", "web", "--compression", "zst", "--shard-bytes", "1", "--processes", "1"]
    main(["export", str(extracted), "--format", "jsonl", "--output", str(tmp_path / "out"), *options])
    files = {name: data for name, data in written(tmp_path / "out").items() if name != "export.json"}

    assert len(rows(extracted, "extractions", [])) == len(files)
    assert {".zst"} == {Path(name).suffix for name in files}
    assert {"web"} == {line["source"] for data in files.values() for line in lines(data)}


@pytest.mark.parametrize(("to", "processes"), [*((to, 1) for to in OF_TEXTS), ("jsonl", 2)])
def test_an_export_that_fails_leaves_nothing(extracted: Path, tmp_path: Path, to: str, processes: int) -> None:
    """A damaged file of the output, the last of all, ends the export with its name, and no folder is there."""
    damaged = shutil.copytree(extracted, tmp_path / "damaged")
    last = sorted(damaged.glob("extractions/*/*.parquet"))[-1]
    last.write_bytes(last.read_bytes()[:-50])
    with pytest.raises(OutputError, match=rf"{last.name}: cannot be read"):
        exported(damaged, tmp_path / "out" / "in", to, processes=processes)

    assert [] == [*(tmp_path / "out").iterdir()]


@pytest.mark.parametrize("to", OF_TEXTS)
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


@pytest.mark.parametrize("to", OF_TEXTS)
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
    return export_job.ExportRequest(extracted=extracted, target=target, format=to, settings=settings({}), processes=1)


@pytest.fixture(scope="module")
def one_run(collected: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Extract all crawls of the collection in one run."""
    files = [path for crawl in grown.crawls(collected.parent) for path in crawl]
    return grown.grow(tmp_path_factory.mktemp("whole"), [files]) / "increments" / "00000001"


@pytest.mark.parametrize("to", OF_TEXTS)
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


def test_processes_of_others_outlive_an_export_that_fails(
    extracted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that exports may have processes of its own."""
    monkeypatch.setattr(export_job, "PartExport", Fatal)
    monkeypatch.setattr(export_job, "BrokenProcessPool", KeyError)  # as any other error
    other = get_context("spawn").Process(target=time.sleep, args=(60,))
    other.start()
    try:
        with pytest.raises(RuntimeError):
            exported(extracted, tmp_path / "out", "jsonl", processes=2)
        other.join(0.5)

        assert other.exitcode is None
    finally:
        other.kill()
        other.join()
