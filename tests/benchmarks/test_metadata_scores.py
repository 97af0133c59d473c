"""What extractors find of pages, beside what people noted."""

import lzma
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import __main__, metadata_scores
from dbce_spark.files import jsonl


@pytest.mark.parametrize(
    ("found", "noted", "expected"),
    [
        ("Spring - Gazette", "SPRING", True),
        ("Spring", "Spring: Gazette", True),
        ("Spring", "Autumn", False),
        ("", "Spring", False),
        ("!", "Spring", False),
        ("Ada", ["Bob Hill", "Ada Lovelace"], True),
        ("Eve", ["Bob Hill", "Ada Lovelace"], False),
    ],
)
def test_a_value_is_right_that_contains_the_noted_one_or_is_in_it(found: str, noted: Any, expected: bool) -> None:
    """Without case and punctuation; of several authors one is enough."""
    assert expected == metadata_scores.is_right(found, noted)


def pages(folder: Path) -> str:
    """Write two pages with what was noted of them."""
    head = "<meta property=og:description content='We &amp;amp; others'><meta property=article:published_time content="
    noted = [
        {"title": "Spring", "date": "2014-05-03", "description": "We &amp; others"},
        {"title": "Spring", "date": "2014-05-04"},
    ]
    path = folder / "noted.jsonl.xz"
    with lzma.open(path, "wb") as file:
        for one in noted:
            html = f"<title>Spring - Gazette</title>{head}2014-05-03><h1>Spring</h1>"
            file.write(jsonl.line({"id": one["date"], "url": "", "html": html, "metadata": one}))
    return str(path)


def test_shares_are_of_the_pages_of_which_something_was_noted(tmp_path: Path) -> None:
    """A description that was noted with its entities is compared without them, too."""
    lines = metadata_scores.measure([pages(tmp_path)], ["about", "columns"]).split("\n")

    assert "|  | title (2) | author (0) | date (2) | description (1) | description, decoded (1) |" == lines[0]
    assert "| about | 1.000 | 0.000 | 0.500 | 0.000 | 1.000 |" == lines[2]
    assert "| columns | 1.000 | 0.000 | 0.500 | 0.000 | 0.000 |" == lines[3]


def test_an_extractor_that_is_none_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With those that there are."""
    assert 0 != __main__.main(["metadata", pages(tmp_path), "--extractor", "abot"])
    assert "abot is none; there are about, about-htmldate" in capsys.readouterr().err


def test_the_first_value_that_extruct_found_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It finds all that a page declares, and chooses nothing."""
    article = {"headline": "Spring", "author": [{"name": "Ada"}], "datePublished": "2014-05-03T10"}
    core = {"elements": [{"URI": "x"}], "terms": [{"name": "DC.description", "content": "Boats"}]}
    found = {"json-ld": [{"@graph": [article]}], "dublincore": [core]}
    monkeypatch.setitem(sys.modules, "extruct", SimpleNamespace(extract=lambda *_, **__: found))

    expected = {"title": "Spring", "author": "Ada", "date": "2014-05-03", "description": "Boats"}
    assert expected == metadata_scores.EXTRACTORS["extruct"]()("", "")
