"""The recipes of docs/reading.md give what they say, whatever they read with."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benchmarks import __main__ as benchmarks
from tests.support import sample_collection as grown
from tests.support import sample_output
from tests.support.sample_output import rows

PAGE = Path(__file__).parents[2] / "docs" / "reading.md"
TOOLS = {"duckdb": "import duckdb", "pandas": "import pandas", "polars": "import polars", "pyarrow": "import pyarrow"}

Rows = list[tuple[Any, ...]]


class Recipe(NamedTuple):
    """A block of code of the page, and what its section has before the first one that finds something."""

    section: str
    before: str
    code: str

    @property
    def tool(self) -> str:
        return "spark" if "SparkSession" in self.code else next((t for t in TOOLS if TOOLS[t] in self.code), "dbce")


@cache
def recipes() -> list[Recipe]:
    """All recipes that give something, in their order."""
    sections = re.split(r"^## (.+)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    listed = []
    for section, text in zip(sections[1::2], sections[2::2], strict=True):
        blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
        before = "".join(block for block in blocks if "found = " not in block and "output = " not in block)
        listed += [Recipe(section, before, block) for block in blocks if "found = " in block]
    return listed


FROM_S3, FROM_COLLECTION = "From S3", "From a collection"
LOCAL = [one for one in recipes() if one.section not in (FROM_S3, FROM_COLLECTION)]
REMOTE = [one for one in recipes() if one.section == FROM_S3]
GROWN = [one for one in recipes() if one.section == FROM_COLLECTION]


def named(recipe: Recipe) -> str:
    return f"{recipe.section}, {recipe.tool}"


def main_text(extracted: Path) -> Rows:
    found = rows(extracted, "extractions", ["timestamp", "url", "text", "site", "text_words"])
    chosen = [row for row in found if row["site"] == "gazette.example" and row["text_words"] >= 150]
    return sorted(((row["timestamp"], row["url"], row["text"]) for row in chosen), key=lambda row: (row[1], row[0]))


def segments(extracted: Path) -> Rows:
    return sorted(
        (
            *(row["url"], row["timestamp"], one["start"], one["score"], one["siblings_with"]),
            row["page_text"][one["start"] : one["end"]],
        )
        for row in rows(extracted, "extractions", ["url", "timestamp", "page_text", "segments"])
        for one in row["segments"]
        if one["label"] == "content" and one["siblings_with"]
    )


def over_time(extracted: Path) -> Rows:
    texts = {row["capture_id"]: row["text"] for row in rows(extracted, "extractions", ["capture_id", "text"])}
    return sorted(
        (row["timestamp"], row["record_type"], texts[row["extraction_id"]])
        for row in rows(extracted, "captures", ["timestamp", "record_type", "extraction_id", "url_key"])
        if row["url_key"] == "example,dnevnik)/2021/05/30/zapis-11"
    )


def rejected(extracted: Path) -> Rows:
    found = [(row["stage"], row["reason"]) for row in rows(extracted, "rejects", ["stage", "reason"])]
    return sorted(((*one, found.count(one)) for one in set(found)), key=lambda row: (-row[2], row[1]))


def one_part(extracted: Path) -> Rows:
    found = [r["status"] for r in rows(extracted, "extractions", ["status", "site"]) if r["site"] == "gazette.example"]
    return [(status, found.count(status)) for status in sorted(set(found))]


def content_segments(extracted: Path) -> Rows:
    return sorted(
        (row["url"], row["timestamp"], [one["label"] for one in row["segments"]].count("content"))
        for row in rows(extracted, "extractions", ["url", "timestamp", "segments"])
    )


EXPECTED: dict[str, Callable[[Path], Rows]] = {
    "The main text of a site": main_text,
    "Segments with their spans": segments,
    "The text of a URL over time": over_time,
    "What was rejected, and why": rejected,
    "One part of the sites": one_part,
    "In a program of your own": content_segments,
}


@pytest.fixture(scope="module")
def readers_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a run over the archive that a reader makes, with hard pages, so that there are rejects too."""
    made = benchmarks.parser().parse_args(["sample-archive", "archive"])
    return sample_output.make(tmp_path_factory.mktemp("reader"), pages=made.pages, seed=made.seed)


def plain(value: Any) -> Any:
    """A value as Python has it: times in UTC, numbers without their types."""
    value = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    if isinstance(value, datetime):
        return value.astimezone(UTC)  # one without a zone, as Spark gives it, is of this machine's
    return value.item() if hasattr(value, "item") else value


def given(found: Any) -> Rows:
    """Return the rows that a recipe has found, whatever they are held in."""
    if hasattr(found, "fetchall"):
        found = found.fetchall()
    elif hasattr(found, "itertuples"):
        found = found.itertuples(index=False)
    elif hasattr(found, "to_pylist"):
        found = [row.values() for row in found.to_pylist()]
    elif hasattr(found, "rows"):
        found = found.rows()
    elif hasattr(found, "collect"):
        found = found.collect()
    return [tuple(map(plain, row)) for row in found]


def run(recipe: Recipe, output: str) -> Rows:
    """Run a recipe on an output."""
    space: dict[str, Any] = {"output": output}
    exec(recipe.before, space)
    exec(recipe.code, space)
    return given(space["found"])


def check(recipe: Recipe, extracted: Path) -> None:
    expected, actual = EXPECTED[recipe.section](extracted), run(recipe, str(extracted))

    assert expected
    # Those that read a few pages at a time only show their rows in order.
    assert expected == (sorted(actual) if "sorted(found)" in recipe.code else actual)


def test_every_question_is_answered_with_every_tool() -> None:
    """No section lacks a tool, and each recipe has one by which it is known."""
    by_section: dict[str, list[str]] = {}
    for one in LOCAL:
        by_section.setdefault(one.section, []).append(one.tool)
    program = by_section.pop("In a program of your own")

    assert set(EXPECTED) == {*by_section, "In a program of your own"}
    assert ["dbce"] == program
    assert [["duckdb", "pandas", "polars", "pyarrow", "spark"]] * 5 == [sorted(tools) for tools in by_section.values()]
    assert ["duckdb", "pandas", "polars", "pyarrow"] == sorted(one.tool for one in REMOTE)
    assert ["duckdb", "pandas", "polars", "pyarrow", "spark"] == sorted(one.tool for one in GROWN)


@pytest.mark.parametrize("recipe", [one for one in LOCAL if one.tool != "spark"], ids=named)
def test_a_recipe_gives_what_is_there(recipe: Recipe, readers_output: Path) -> None:
    """The rows, and their order, are those that plain Python finds."""
    check(recipe, readers_output)


@pytest.mark.spark
@pytest.mark.parametrize("recipe", [one for one in LOCAL if one.tool == "spark"], ids=named)
def test_a_recipe_for_spark_gives_what_is_there(recipe: Recipe, readers_output: Path, spark: object) -> None:
    """So do those of Spark, in the session that is there."""
    check(recipe, readers_output)


def test_the_sample_is_made_as_the_test_makes_it() -> None:
    """`make extract` gives the archive no size and no seed of its own."""
    makefile = (PAGE.parents[1] / "Makefile").read_text(encoding="utf-8")

    assert "-m benchmarks sample-archive $(SAMPLE)\n" in makefile


def test_the_url_over_time_has_a_revisit(readers_output: Path) -> None:
    """Fetches without a text of their own are its subject, and texts that differ."""
    found = over_time(readers_output)

    assert {"response", "revisit"} == {kind for _, kind, _ in found}
    assert 1 < len({text for *_, text in found})


@pytest.mark.parametrize(
    "recipe", [one for one in LOCAL if EXPECTED[one.section] is over_time and one.tool != "spark"], ids=named
)
def test_a_url_that_was_not_fetched_has_no_rows(recipe: Recipe, extracted: Path) -> None:
    """Nor is it an error, whatever the tool."""
    code = re.sub(r"example,dnevnik[^\"']+", "example,dnevnik)/none", recipe.code)

    assert code != recipe.code
    assert [] == run(recipe._replace(code=code), str(extracted))


def check_grown(recipe: Recipe, collected: Path) -> None:
    """Of a site a recipe finds what one run over all crawls finds."""
    result = grown.whole(collected)
    pages = [one for one in result.extractions if one.page.capture.site == "gazette.example"]
    chosen = [one for one in pages if len(one.text.split()) >= 150]
    expected = [(one.page.capture.url, one.page.capture.timestamp, one.text) for one in chosen]
    actual = run(recipe, str(collected))

    assert 0 < len(expected) < len(pages)
    assert sorted(expected) == [(url, round(time.timestamp() * 1e6), text) for time, url, text in actual]


@pytest.mark.parametrize("recipe", [one for one in GROWN if one.tool != "spark"], ids=named)
def test_a_recipe_reads_a_collection(recipe: Recipe, collected: Path) -> None:
    """Each capture once, with what was last said of it."""
    check_grown(recipe, collected)


@pytest.mark.spark
@pytest.mark.parametrize("recipe", [one for one in GROWN if one.tool == "spark"], ids=named)
def test_a_recipe_for_spark_reads_a_collection(recipe: Recipe, collected: Path, spark: object) -> None:
    """So does that of Spark."""
    check_grown(recipe, collected)


@pytest.mark.parametrize("recipe", REMOTE, ids=named)
def test_a_recipe_reads_from_s3(recipe: Recipe, bucket_of_extracted: str, extracted: Path) -> None:
    """With a real client of each tool, off a server of its protocol."""
    expected = sorted((row["reason"], row["warc_file"]) for row in rows(extracted, "rejects", ["reason", "warc_file"]))

    assert expected == run(recipe, bucket_of_extracted)
