"""Extractors that a call brings along: programs, and texts that there are."""

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbce_spark.commands.cli import main
from dbce_spark.errors import ConfigError, InputError
from dbce_spark.evaluation import extracted_texts
from dbce_spark.evaluation.extracting import given_extractors
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.files import parquet
from tests.support.code_blocks import blocks
from tests.support.fake_extractors import gold_pages, line, own_set

UPPER = f"{sys.executable} -c 'import sys; sys.stdout.write(sys.stdin.read().upper())'"


@pytest.fixture
def gold(tmp_path: Path) -> str:
    """The small gold set as a file."""
    path = tmp_path / "own.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in own_set()), encoding="utf-8")
    return str(path)


def evaluated(gold: str, extractors: str, output: Path, *options: str) -> list[dict[str, Any]]:
    """The rows of texts.parquet after an evaluation."""
    command = ["evaluate", gold, "--extractors", extractors, "--contrasts", "0", "--output", str(output), *options]
    assert 0 == main(command)
    rows: list[dict[str, Any]] = pq.read_table(output / "texts.parquet").to_pylist()
    return rows


def test_a_program_reads_html_and_writes_text(gold: str, tmp_path: Path) -> None:
    """In whatever language; under the name that it was given, which stands in the tables."""
    rows = evaluated(gold, f"upper={UPPER}", tmp_path / "out")

    assert [one["html"].upper() for one in own_set()] == [row["text"] for row in rows]
    assert {"upper"} == {row["extractor"] for row in rows}
    assert "| upper |" in (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")


def test_a_program_that_fails_is_a_miss_with_its_last_words(gold: str, tmp_path: Path) -> None:
    """Its status and the last line of its errors are named."""
    rows = evaluated(gold, "broken=ls --no-such-option", tmp_path / "out")

    assert {""} == {row["text"] for row in rows}
    assert all(row["error"].startswith("RuntimeError: ls ended with 2") for row in rows)


def test_texts_of_an_evaluation_give_its_scores_again(gold: str, tmp_path: Path) -> None:
    """From texts.parquet alone, without the extractor; a page that it lacks is a miss."""
    rows = evaluated(gold, "lxml", tmp_path / "first")
    again = evaluated(gold, f"lxml={tmp_path / 'first' / 'texts.parquet'}", tmp_path / "second")
    scores = [pq.read_table(tmp_path / one / "scores.parquet").to_pylist() for one in ("first", "second")]
    (stranger,) = gold_pages(tmp_path, [line("stranger", "<p>x")])
    (lacking,) = given_extractors.stored("lxml", str(tmp_path / "first" / "texts.parquet"))([stranger]).values()

    assert [row["text"] for row in rows] == [row["text"] for row in again]
    assert scores[0] == scores[1]
    assert lacking.error.startswith("missing: not in ")


def test_published_texts_are_not_those_of_the_package_of_their_name(gold: str, tmp_path: Path) -> None:
    """They have no version of what is installed here, so that --reuse takes neither for the other."""
    evaluated(gold, "lxml", tmp_path / "first")
    published = pq.read_table(tmp_path / "first" / "texts.parquet")
    older = published.set_column(5, "text", pa.array(["older"] * len(published)))
    pq.write_table(older, tmp_path / "older.parquet")
    folder = tmp_path / "out"
    given = evaluated(gold, f"lxml={tmp_path / 'older.parquet'}", folder)
    own = evaluated(gold, "lxml", folder, "--reuse")
    again = evaluated(gold, f"lxml={tmp_path / 'older.parquet'}", folder, "--reuse")

    assert {("older", "")} == {(row["text"], row["version"]) for row in [*given, *again]}
    assert published["text"].to_pylist() == [row["text"] for row in own]


def test_texts_of_several_sets_may_lie_where_the_output_goes(tmp_path: Path) -> None:
    """They are read before the first set is written in their place."""
    gold = tmp_path / "two.jsonl"
    pages = [line("1"), line("2", dataset="other")]
    gold.write_text("".join(f"{json.dumps(one)}\n" for one in pages), encoding="utf-8")
    folder = tmp_path / "out"
    first = evaluated(str(gold), "lxml", folder)
    again = evaluated(str(gold), f"lxml={folder / 'texts.parquet'}", folder)

    assert ["one two", "one two"] == [row["text"] for row in first] == [row["text"] for row in again]


def test_the_function_of_the_documentation_is_an_extractor(
    gold: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it stands in docs/benchmark.md."""
    (program,) = [one.code for one in blocks() if (one.page, one.kind) == ("docs/benchmark.md", "python")]
    (tmp_path / "my_extractor.py").write_text(program, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = evaluated(gold, "my_extractor:paragraphs", tmp_path / "out")

    assert [one["gold"] for one in own_set()] == [row["text"] for row in rows]


def test_what_was_evaluated_is_named_by_digests(gold: str, tmp_path: Path) -> None:
    """The same pages have the same digest on any machine, and other pages another."""
    evaluated(gold, "lxml", tmp_path / "out")
    evaluated(gold, "lxml", tmp_path / "again")
    Path(gold).write_text(f"{json.dumps(own_set()[0])}\n", encoding="utf-8")
    evaluated(gold, "lxml", tmp_path / "fewer")
    first, again, fewer = (
        json.loads((tmp_path / one / "evaluation.json").read_text())["digests"]["made"]
        for one in ("out", "again", "fewer")
    )

    assert first == again
    assert first != fewer


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("", ConfigError, "write NAME=COMMAND"),
        ("echo 'a", ConfigError, "No closing quotation"),
    ],
)
def test_a_command_that_is_none_is_refused(source: str, error: type[Exception], message: str) -> None:
    """Before anything runs."""
    with pytest.raises(error, match=message):
        given_extractors.program(source)


def test_a_file_that_holds_no_such_texts_is_refused(gold: str, tmp_path: Path) -> None:
    """One that is not there, and one without the extractor; before anything runs."""
    evaluated(gold, "lxml", tmp_path / "out")

    with pytest.raises(InputError, match=r"is no texts\.parquet"):
        given_extractors.stored("lxml", str(tmp_path / "none.parquet"))
    with pytest.raises(InputError, match="has no text by bte"):
        given_extractors.stored("bte", str(tmp_path / "out" / "texts.parquet"))


def test_texts_that_a_disk_changed_are_refused(tmp_path: Path) -> None:
    """Wherever the byte lies, or the texts are the same."""
    path = tmp_path / "texts.parquet"
    rows = [dict.fromkeys(extracted_texts.SCHEMA.names, "") | {"extractor": "own", "text": "one", "seconds": 0.5}]
    parquet.write(str(path), extracted_texts.SCHEMA, [pa.RecordBatch.from_pylist(rows, extracted_texts.SCHEMA)])
    whole, expected = path.read_bytes(), given_extractors.stored("own", str(path)).texts
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        try:
            found = given_extractors.stored("own", str(path)).texts
        except InputError:
            continue
        assert expected == found, at


FUNCTIONS = """
from dbce_spark.evaluation.extracting.child_process import Extracted

def _of_each(pages, *values):
    return {page.page_id: Extracted(*values) for page in pages}

def nothing(pages, setting): return None
def fewer(pages, setting): return _of_each(pages[1:], "one", 0.0, "")
def plain(pages, setting): return {page.page_id: "one" for page in pages}
def no_text(pages, setting): return _of_each(pages, None, 0.0, "")
def in_bytes(pages, setting): return _of_each(pages, b"one", 0.0, "")
def failed(pages, setting): return _of_each(pages, "one \\ud800", 1, "half \\ud800")
number = 3
"""


@pytest.mark.parametrize("name", ["nothing", "fewer", "plain", "no_text", "in_bytes", "number"])
def test_a_function_that_gives_no_text_of_a_page_is_refused(
    name: str, gold: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a line that names the function, and the page."""
    (tmp_path / "given_functions.py").write_text(FUNCTIONS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert 2 == main(["evaluate", gold, "--extractors", f"given_functions:{name}", "--output", str(tmp_path / "out")])
    assert f"--extractors given_functions:{name}: " in capsys.readouterr().err


def test_a_text_beside_an_error_does_not_count(gold: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that an extractor fails on has 0, whoever wrote it."""
    (tmp_path / "given_functions.py").write_text(FUNCTIONS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = evaluated(gold, "given_functions:failed", tmp_path / "out")

    assert {("", "half ?")} == {(row["text"], row["error"]) for row in rows}


def test_published_texts_may_lack_a_text(tmp_path: Path) -> None:
    """A null is no text, no time and no error."""
    path = tmp_path / "texts.parquet"
    row = dict.fromkeys(extracted_texts.SCHEMA.names) | {"dataset": "made", "page_id": "a", "extractor": "own"}
    parquet.write(str(path), extracted_texts.SCHEMA, [pa.RecordBatch.from_pylist([row], extracted_texts.SCHEMA)])

    assert {("made", "a"): Extracted("", 0.0, "")} == given_extractors.stored("own", str(path)).texts


def test_a_file_of_texts_is_described_by_its_name() -> None:
    """A folder of one machine means nothing on another; a command is what was run."""
    given = ("dbce", "mine=/home/me/run/texts.parquet", "other=node extract.js --plain")

    assert ["dbce", "mine=texts.parquet", "other=node extract.js --plain"] == [*map(given_extractors.described, given)]
