"""Sets of the first pages of sites, as they are streamed."""

import json
import lzma
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from tests.support.fake_extractors import line, written


def chosen(path: Path) -> list[str]:
    """The ids of the pages of a file, in the order of its lines."""
    return [json.loads(one)["id"] for one in lzma.decompress(path.read_bytes()).splitlines()]


def test_the_first_pages_of_sites_with_enough_are_written(tmp_path: Path) -> None:
    """By date, whatever their host in the domain; a page without a date comes after those with one. Lines keep their
    order, and a site with a page too few is left out."""
    dates = {"late": "20120105", "undated": "", "first": "20120101", "second": "20120102"}
    lines = [
        line(name, url=f"http://{'www' if date else 'blog'}.news.eu/{name}", date=date) for name, date in dates.items()
    ]
    lines += [line(f"few-{at}", url=f"http://few.eu/{at}") for at in range(2)]
    output = tmp_path / "out"

    assert 0 == main(["stream-pages", written(tmp_path, lines), "--output", f"{output}", "--least", "3", "--most", "3"])
    assert ["late", "first", "second"] == chosen(output / "made.jsonl.xz")


def test_sets_without_such_a_site_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Instead of a set without pages."""
    path = written(tmp_path, [line("only", url="http://news.eu/")])

    assert main(["stream-pages", path, "--output", f"{tmp_path / 'out'}"]) != 0
    assert "no site has 5 pages" in capsys.readouterr().err
