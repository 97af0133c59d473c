"""Texts for `dbce evaluate` from the published outputs of a benchmark: an archive as its repository has it."""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchmarks import published_texts
from benchmarks.__main__ import main
from dbce_spark.commands import cli
from dbce_spark.errors import InputError

STORIES = ("The ferry sails at six in the morning.", "The bell of the chapel rings again.", "The crane is blue.")


def html(story: str) -> str:
    return f"<html><body><p>{story}</p></body></html>"


def page_id(story: str) -> str:
    return hashlib.sha256(html(story).encode()).hexdigest()


def archive(path: Path, outputs: Mapping[str, Mapping[str, str]]) -> str:
    """Write outputs, by the name of their file and the id of their page."""
    files = {
        name: "".join(
            json.dumps({"page_id": one, "plaintext": text, "model": Path(name).stem}) + "\n"
            for one, text in sorted(texts.items())
        ).encode()
        for name, texts in outputs.items()
    }
    return packed(path, files)


def packed(path: Path, files: Mapping[str, bytes]) -> str:
    with tarfile.open(path, "w:xz") as written:
        for name in ("model-outputs", "model-outputs/dragnet"):
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE
            written.addfile(member)
        for name, content in files.items():
            member = tarfile.TarInfo(f"model-outputs/{name}")
            member.size = len(content)
            written.addfile(member, io.BytesIO(content))
    return str(path)


def gold_file(path: Path, *stories: str, **fields: str) -> str:
    """Write gold pages with ids of their own, or with those in `fields`."""
    lines = [{"id": f"T{at}", "html": html(one), "gold": one} | fields for at, one in enumerate(stories)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


def test_published_texts_are_scored_by_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of pages of which texts are there, under the name of their set, beside an extractor of today."""
    outputs = {
        "dragnet/lxml.jsonl": {page_id(STORIES[0]): STORIES[0], page_id(STORIES[1]): ""},
        "dragnet/bte.jsonl": {page_id(STORIES[0]): "half", page_id("of another page"): "x"},
        "dragnet/._bte.jsonl": {page_id(STORIES[1]): "of a Mac"},
    }
    path = archive(tmp_path / "model-outputs.tar.xz", outputs)
    gold, texts, pages = gold_file(tmp_path / "read.jsonl", *STORIES), tmp_path / "texts.parquet", tmp_path / "p.jsonl"
    command = ["published-texts", path, gold, "--output", str(texts), "--pages", str(pages)]

    assert 0 == main(command)
    assert f"{texts}: 2 of 3 pages, by bte-2023, lxml-2023\n" == capsys.readouterr().out
    given = f"lxml,lxml-2023={texts},bte-2023={texts}"
    evaluate = ["evaluate", str(pages), "--extractors", given, "--contrasts", "0", "--output", str(tmp_path / "out")]
    assert 0 == cli.main(evaluate)
    scores = pq.read_table(tmp_path / "out" / "scores.parquet").to_pylist()
    f1 = {(one["extractor"], one["page_id"]): one["f1"] for one in scores if one["metric"] == "rouge_l"}
    assert ("read", {"T0", "T1"}) == (scores[0]["dataset"], {page for _, page in f1})
    assert (1.0, 1.0, 0.0, 0.0) == (
        f1["lxml", "T0"],
        f1["lxml-2023", "T0"],
        f1["lxml-2023", "T1"],
        f1["bte-2023", "T0"],
    )
    assert all(
        one["error"].startswith("missing") == (one["page_id"] == "T1")
        for one in rows(tmp_path / "out" / "texts.parquet")
        if one["extractor"] == "bte-2023"
    )


def test_a_page_is_known_by_its_id_or_by_the_hash_of_its_html(tmp_path: Path) -> None:
    """The folder of a published set gives pages the ids of the benchmark, whatever their encoding was."""
    path = archive(tmp_path / "outputs.tar.xz", {"cetd/bs4.jsonl": {"f00d": "by id", page_id(STORIES[1]): "by hash"}})
    sets = [
        gold_file(tmp_path / "a.jsonl", STORIES[0], id="f00d", dataset="cetd"),
        gold_file(tmp_path / "b.jsonl", STORIES[1]),
    ]
    found = published_texts.write(path, sets, str(tmp_path / "texts.parquet"))

    assert {("cetd", "f00d"), ("b", "T0")} == found.pages
    written = {
        (one["dataset"], one["page_id"], one["extractor"]): one["text"] for one in rows(tmp_path / "texts.parquet")
    }
    assert {("cetd", "f00d", "bs4-2023"): "by id", ("b", "T0", "bs4-2023"): "by hash"} == written


def test_a_page_of_two_published_sets_has_one_text(tmp_path: Path) -> None:
    """The first that the archive has."""
    outputs = {f"{name}/bs4.jsonl": {page_id(STORIES[0]): f"of {name}"} for name in ("cetd", "cleaneval")}
    path = archive(tmp_path / "outputs.tar.xz", outputs)
    published_texts.write(path, [gold_file(tmp_path / "a.jsonl", STORIES[0])], str(tmp_path / "texts.parquet"))

    assert ["of cetd"] == [one["text"] for one in rows(tmp_path / "texts.parquet")]


POINTER = b"version https://git-lfs.github.com/spec/v1\nsize 117617204\n"


@pytest.mark.parametrize("files", [None, {}, {"dragnet/bte.jsonl": b""}, {"dragnet/bte.json": b"{}"}])
def test_an_archive_without_texts_of_these_pages_is_refused(tmp_path: Path, files: dict[str, bytes] | None) -> None:
    """A pointer of Git LFS, which a clone without it has in its place, is named as one that cannot be read."""
    path = tmp_path / "model-outputs.tar.xz"
    path.write_bytes(POINTER) if files is None else packed(path, files)

    with pytest.raises(InputError, match="Git LFS" if files is None else "has no text of a page of a$"):
        published_texts.write(str(path), [gold_file(tmp_path / "a.jsonl", *STORIES)], str(tmp_path / "texts.parquet"))
    assert not (tmp_path / "texts.parquet").exists()


@pytest.mark.parametrize("line", [b"no JSON", b"[]", b'{"page_id": 1}', b'{"page_id": "a", "articleBody": "x"}'])
def test_a_line_of_another_layout_is_named(tmp_path: Path, line: bytes) -> None:
    """With its file and number."""
    path = packed(tmp_path / "outputs.tar.xz", {"dragnet/bte.jsonl": line + b"\n"})

    with pytest.raises(InputError, match=r"outputs\.tar\.xz: model-outputs/dragnet/bte\.jsonl:1: "):
        published_texts.write(path, [gold_file(tmp_path / "a.jsonl", *STORIES)], str(tmp_path / "texts.parquet"))


def test_an_archive_that_was_cut_short_is_named(tmp_path: Path) -> None:
    """It is no traceback."""
    path = tmp_path / "outputs.tar.xz"
    archive(path, {"dragnet/bte.jsonl": {page_id(STORIES[0]): "x"}})
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])

    with pytest.raises(InputError, match="cannot be read as"):
        published_texts.write(str(path), [gold_file(tmp_path / "a.jsonl", *STORIES)], str(tmp_path / "texts.parquet"))
