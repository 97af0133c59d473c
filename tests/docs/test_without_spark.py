"""docs/tutorial.md and the pages after it are true as far as they need no Spark: in the default tests, on what plain
Python makes of the tutorial's archive. All of it, in the tutorial's order and with a cluster, is `make docs-test`."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import __main__ as benchmarks
from dbce_spark import config
from dbce_spark.commands import cli
from tests.support import sample_collection
from tests.support.code_blocks import Block, commands
from tests.support.tutorial import AFTERWARDS, TUTORIAL, answer, shown

PARAMETERS = config.load(settings=["language.detect=false"])
WITH_SPARK = {"changes", "status"}
"""Commands that start it, or look at what a cluster has left. So does `extract` with a collection."""
BY_FILES = "register"
"""What it prints counts the files of a collection, which are others where Spark wrote them."""
_MADE_BY_SPARK = "news-history"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tutorial's archive, and what it extracts of it: `extracted`, and `news` in two increments."""
    made = tmp_path_factory.mktemp("tutorial")
    benchmarks.main(["sample-archive", str(made / "archive"), "--pages", "60"])
    crawls = [str(one) for one in sorted((made / "archive").glob("*.warc.gz"))]
    sample_collection.grow(made / "news", [crawls[:2], crawls[2:]], PARAMETERS)
    assert 0 == cli.main(["extract", str(made / "archive"), "--output", str(made / "extracted")])
    return made


def is_without_spark(words: Sequence[str]) -> bool:
    return words[0] == "dbce" and words[1] not in WITH_SPARK and "--collection" not in words


def test_the_tutorial_prints_what_it_shows(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command ends well, and where the last of a block is one of these, its lines are those below it."""
    monkeypatch.chdir(folder)
    compared = 0
    for block, below in zip(TUTORIAL, [*TUTORIAL[1:], None], strict=True):
        printed = run(block, capsys)
        if printed and below and below.kind == "text":
            compared += 1
            assert [] == shown(below, printed)

    assert compared >= 9


@pytest.mark.parametrize(
    ("line", "printed", "missing"),
    [
        ("records   663  in 3 files", "records 663  in 3 files", False),
        ("records   663  in 3 files", "records 664  in 3 files", True),
        ("| dbce | 0.933 | ... |", "| dbce | 0.933 | 215 |", False),
        ("| dbce | 0.933 | ... |", "| dbce | 0.934 | 215 |", True),
        ("1  2026-11-22T19:22:52+00:00  98", "1  2026-12-01T00:00:00+00:00  98", False),
        ("2022-03-07 06:00", "2022-03-08 06:00", True),
        ("│ sawdust │  18 │", "┌───┐ sawdust  18", False),
    ],
)
def test_figures_are_compared(line: str, printed: str, missing: bool) -> None:
    """All but what is left out, and the moment of a run; spaces and borders do not count."""
    block = Block("docs/tutorial.md", 1, "text", f"...\n{line}\n...\n")

    assert [line] * missing == shown(block, ["before", printed, "after"])


def run(block: Block, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the output of the last command of a block, or of its program; nothing if that is not to be compared."""
    capsys.readouterr()
    if block.kind == "python":
        exec(block.code, {})
        return capsys.readouterr().out.splitlines()
    last = ""
    for words in commands(block.code) if block.kind == "sh" else ():
        last = ""
        if words[:3] == ["python", "-m", "benchmarks"]:
            assert 0 == benchmarks.main([words[3], f"{words[4]}-again", *words[5:]])  # that one is there
            last = capsys.readouterr().out
        elif is_without_spark(words):
            again = ["--overwrite"] if words[1] == "extract" and "--dry-run" not in words else []  # it is there
            assert 0 == cli.main([*words[1:], *again])
            last = "" if BY_FILES in words else capsys.readouterr().out
    return last.splitlines()


@pytest.mark.parametrize("block", [one for one in AFTERWARDS if _MADE_BY_SPARK not in one.code], ids=str)
def test_what_other_pages_ask_is_answered(
    block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each program prints something, each query finds rows."""
    monkeypatch.chdir(folder)
    if "tables/" in block.code and not Path("tables").exists():
        cli.main(["collection", "register", "news", "--output", "tables"])
    assert answer(block, capsys)
