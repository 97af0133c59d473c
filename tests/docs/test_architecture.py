"""docs/architecture.md draws the tree as it is, and no page names a module that is gone."""

import re
from configparser import ConfigParser
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.code_blocks import PAGES, ROOT

PACKAGE = ROOT / "dbce_spark"
BASES = (
    "",
    "dbce_spark",
    "benchmarks",
    "reproductions",
    "jobs",
    "tests",
    "conf",
    "docs",
    "examples",
    "dbce_spark/spark/stages",
)
"""Folders that paths in the documentation are relative to."""
_PATH = re.compile(r"(?<![\w./:-])(?:[\w-]+/)+[\w-]+\.py\b")
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    """Return the text of one section of docs/architecture.md."""
    return ARCHITECTURE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def tree(heading: str) -> list[str]:
    """Return the lines of the first block of text in a section."""
    return section(heading).partition("```text\n")[2].partition("```")[0].splitlines()


def code_folders(folder: Path) -> set[str]:
    """Return the names of the packages in a folder."""
    return {one.parent.name for one in folder.glob("*/__init__.py")}


def missing(text: str) -> list[str]:
    """List the paths in a text that lead to no file from any of the BASES."""
    return sorted(one for one in {*_PATH.findall(text)} if not any((ROOT / base / one).exists() for base in BASES))


@pytest.mark.parametrize("page", PAGES)
def test_every_module_that_is_named_exists(page: str) -> None:
    """A path such as `dbce/annotation_merge.py` leads to a file of the product, the laboratory or the tests."""
    assert [] == missing((ROOT / page).read_text(encoding="utf-8"))


def test_a_module_that_is_gone_is_found() -> None:
    """The check itself fails where a path leads nowhere."""
    assert ["dbce/no_such.py"] == missing(
        "see `dbce/no_such.py`, `dbce/annotation_merge.py`, and https://example.org/x/y.py"
    )


def test_the_layout_is_drawn_as_it_is() -> None:
    """Every room, every package in it and every module of the root has a line, and no other has."""
    names = [(len(line) - len(line.lstrip()), line.split()[0].rstrip("/")) for line in tree("Layout")]
    rooms = {name for indent, name in names if indent == 2 and not name.endswith(".py") and name != "conf"}
    modules = {name for indent, name in names if indent == 2 and name.endswith(".py")}
    inner = {name for indent, name in names if indent == 4}

    assert rooms == code_folders(PACKAGE)
    assert modules == {one.name for one in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert inner == {name for room in rooms for name in code_folders(PACKAGE / room)}


def layers() -> list[set[str]]:
    """Return the rooms of each layer as setup.cfg holds them, the lowest first."""
    parsed = ConfigParser()
    parsed.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = parsed["importlinter:contract:rooms"]["layers"].split("\n")
    return [set(re.findall(r"\w+", line)) for line in reversed(lines) if line and line != "__main__"]


def test_the_layers_are_those_of_the_contract() -> None:
    """There are eight, with the same rooms on each."""
    drawn = [set(line.split()[1:]) for line in reversed(tree("Layers"))]

    assert 8 == len(drawn)
    assert drawn == layers()


def test_the_moves_of_a_record_are_counted_right() -> None:
    """The files of the way exist, and the text states how many moves there are and how many go up."""
    way = re.findall(r"^\d+\. `(\S+\.py)`", section("The way of one record"), re.MULTILINE)
    layer = {room: number for number, rooms in enumerate(layers(), 1) for room in rooms}
    on = [layer[path.split("/")[0]] for path in way]
    up = sum(here < there for here, there in pairwise(on))

    assert [] == [path for path in way if not (PACKAGE / path).is_file()]
    assert f"These are {len(way) - 1} moves from file to file. Of these {up} go up" in ARCHITECTURE
