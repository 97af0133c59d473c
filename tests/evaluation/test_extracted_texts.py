"""Texts are kept, and taken again only where they would come out the same."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbce_spark.errors import InputError
from dbce_spark.evaluation import extracted_texts
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting.child_process import Extracted
from tests.support.fake_extractors import gold_pages, line

LINES = [line(name, f"<p>{name}</p>") for name in "abc"]
MADE = {
    "a": Extracted("a \ud800", 0.5, ""),
    "b": Extracted("b", 9.0, ""),
    "c": Extracted("", 1.0, "timeout: no text after 1 s"),
}


@pytest.fixture
def pages(tmp_path: Path) -> list[GoldPage]:
    found = gold_pages(tmp_path, LINES)
    stamps = {name: extracted_texts.stamp_of(name) for name in ("lxml", "dbce")}
    made = [one for name, stamp in stamps.items() for one in extracted_texts.table(found, name, MADE, stamp=stamp)]
    extracted_texts.write(str(tmp_path), made)
    return found


def test_a_text_that_would_be_the_same_is_taken_again(pages: list[GoldPage], tmp_path: Path) -> None:
    """With the seconds it took; not a miss, and none that took longer than is allowed now."""
    kept, stamp = extracted_texts.read(str(tmp_path)), extracted_texts.stamp_of("lxml")
    assert {"a": Extracted("a ?", 0.5, "")} == kept.reusable("lxml", pages, stamp=stamp, time_limit=5.0)
    assert {"a", "b"} == set(kept.reusable("lxml", pages, stamp=stamp, time_limit=30.0))


def test_a_joint_method_always_runs_again(pages: list[GoldPage], tmp_path: Path) -> None:
    """Its text of a page depends on all others, and on this program."""
    assert {} == extracted_texts.read(str(tmp_path)).reusable("dbce", pages, stamp="", time_limit=30.0)


def test_another_page_or_version_runs_again(pages: list[GoldPage], tmp_path: Path) -> None:
    """A page with other HTML runs again, and so does one with another version of the package."""
    kept, stamp = extracted_texts.read(str(tmp_path)), extracted_texts.stamp_of("lxml")
    other = gold_pages(tmp_path, [line("a", "<p>a, edited</p>")])
    assert {} == kept.reusable("lxml", other, stamp=stamp, time_limit=30.0)
    assert {} == kept.reusable("lxml", pages, stamp="lxml 99", time_limit=30.0)


def test_the_stamp_names_package_and_code() -> None:
    """Two calls of one package in one module have one; methods of ours have none."""
    assert extracted_texts.stamp_of("lxml").startswith("lxml ")
    assert extracted_texts.stamp_of("lxml") == extracted_texts.stamp_of("xpath-text") != extracted_texts.stamp_of("bte")
    assert "" == extracted_texts.stamp_of("dbce") == extracted_texts.stamp_of("em_2_5")
    assert re.match(r"defuddle [\d.]+, jsdom [\d.]+, \w+$", extracted_texts.stamp_of("defuddle"))
    assert re.match(r"@mozilla/readability [\d.]+, jsdom [\d.]+, \w+$", extracted_texts.stamp_of("readability-js"))


def test_rows_of_a_set_can_be_kept_while_others_are_made(pages: list[GoldPage], tmp_path: Path) -> None:
    """A run that is ended loses no text of the sets it did not come to."""
    kept = extracted_texts.read(str(tmp_path))
    assert 6 == sum(batch.num_rows for batch in kept.rows_of(["made"]))
    assert 0 == sum(batch.num_rows for batch in kept.rows_of(["other"]))


def test_a_folder_without_texts_has_none(tmp_path: Path) -> None:
    """A new folder, and one with a file of another version."""
    assert extracted_texts.NOTHING == extracted_texts.read(str(tmp_path))
    pq.write_table(pa.table({"dataset": ["made"]}), tmp_path / extracted_texts.NAME)
    assert extracted_texts.NOTHING == extracted_texts.read(str(tmp_path))


@pytest.mark.parametrize("content", [b"", b"no Parquet"])
def test_texts_that_are_no_parquet_are_refused(content: bytes, tmp_path: Path) -> None:
    """By their path; a run that is to use them again cannot, and none may take them for no texts."""
    path = tmp_path / extracted_texts.NAME
    path.write_bytes(content)

    with pytest.raises(InputError, match=f"^{re.escape(str(path))}: cannot be read: "):
        extracted_texts.read(str(tmp_path))
