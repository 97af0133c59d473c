"""docs/glossary.md has every word that modules and classes of the pipeline are named by."""

import ast
import re
from pathlib import Path

from tests.support.code_blocks import ROOT

PACKAGE = ROOT / "dbce_spark"
ROOMS = ("archive", "html", "dbce", "output", "spark/stages")
"""Rooms whose modules are named by words of the field."""
PLAIN = set("by date file find in line local match of one over path read sample select size whole write".split())
"""Words that mean in names what they mean in English."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_ROW = re.compile(r"^\| (.+?) \|", re.MULTILINE)


def module_names() -> set[str]:
    """Return the names of all modules and packages in the ROOMS, without their folders."""
    paths = {path for room in ROOMS for path in (PACKAGE / room).rglob("*.py")}
    return {path.parent.name if path.stem == "__init__" else path.stem for path in paths}


def class_names() -> set[str]:
    """Return the names of the public dataclasses of model.py."""
    tree = ast.parse((PACKAGE / "model.py").read_text(encoding="utf-8"))
    classes = [one for one in tree.body if isinstance(one, ast.ClassDef) and not one.name.startswith("_")]
    return {one.name for one in classes if any("dataclass" in ast.unparse(mark) for mark in one.decorator_list)}


def entries() -> set[str]:
    """Return the words that the glossary explains, in the singular and in lower case."""
    page = Path(ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    return {singular(word) for row in _ROW.findall(page) for word in re.findall(r"[a-z0-9]+", row.lower())}


def words(name: str) -> set[str]:
    """Split a name in snake or camel case into its words, in the singular and in lower case."""
    return {singular(word.lower()) for word in _WORD.findall(name)}


def singular(word: str) -> str:
    """Return a noun without the ending of its plural."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return re.sub(r"(?<=[sxh])es$|(?<=[^su])s$", "", word)


def unexplained(names: set[str]) -> dict[str, list[str]]:
    """Find the words of each name that the glossary lacks."""
    explained = PLAIN | entries()
    missing = {name: sorted(words(name) - explained) for name in sorted(names)}
    return {name: lacking for name, lacking in missing.items() if lacking}


def test_every_module_of_the_pipeline_is_named_by_words_of_the_glossary() -> None:
    """`spark/stages/match_revisits.py` needs an entry for "revisit"."""
    assert {} == unexplained(module_names())


def test_every_class_of_the_model_is_named_by_words_of_the_glossary() -> None:
    """`BucketCross` needs entries for "bucket" and "cross"."""
    assert {} == unexplained(class_names())


def test_a_word_that_is_not_explained_is_found() -> None:
    """Names in snake case and in camel case are split, and plurals looked up in the singular."""
    assert {"CourtPools": ["court"], "court_crosses": ["court"]} == unexplained({"CourtPools", "court_crosses"})
