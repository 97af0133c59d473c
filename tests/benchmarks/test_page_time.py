"""The bench measures every contender on a small archive: its figures are not asserted, its shape is."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks import page_time
from benchmarks.samples import write_archive
from dbce_spark import config
from dbce_spark.errors import InputError
from dbce_spark.files import sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_bench_writes_times_and_ratios(spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every contender has a time a page, its ratio to trafilatura's, and the stages add up to the method's. In Spark
    one kind of label is enough for that."""
    assert {"classifier", "T002"} == set(page_time.LABELS)
    monkeypatch.setattr(page_time, "LABELS", ("T002",))
    write_archive(tmp_path / "archive", pages=10, seed=1)
    files = sources.expand([str(tmp_path / "archive")], config.default().input.patterns)
    page_time.write(files[:1], str(tmp_path / "bench.json"), config.load(settings=["language.detect=false"]))
    report = json.loads((tmp_path / "bench.json").read_text())
    times = report["ms_per_page"]

    in_spark = {"spark T002", "spark trafilatura"}

    others = {"dbce_local", "dbce_local with Markdown", "dbce page by page", "resiliparse", "turbohtml"}

    assert {*in_spark, *others, "trafilatura"} == set(times)
    assert {*in_spark, *others} == set(report["ratio_to_trafilatura"])
    assert {"dbce", "fastwarc", "ratio"} == set(report["reader"])
    assert min(report["reader"].values()) > 0
    assert {report["pages"]} == {report["spark"][name]["pages"] for name in in_spark}
    assert report["pages"] > 0
    assert sum(report["stages"].values()) == pytest.approx(times["dbce_local"], abs=0.01)
    assert times["dbce_local with Markdown"] > times["dbce_local"]


@pytest.mark.parametrize(
    ("seconds", "pages", "expected"), [(2.0, 200, 20.0), (-0.4, 200, None), (0.0, 200, None), (2.0, 30, None)]
)
def test_a_time_that_means_nothing_is_none(seconds: float, pages: int, expected: float | None) -> None:
    """Under 0, as where a small run took longer, or of so few pages that the start of a run decides it."""
    assert expected == page_time._ms_beyond(seconds, pages, times=2)


def test_a_figure_that_means_nothing_is_a_dash(tmp_path: Path) -> None:
    """In the text, with the reason; ratios to it, too."""
    times = {
        "dbce_local": 8.0,
        "spark classifier": None,
        "spark T002": 5.0,
        "spark trafilatura": 20.0,
        "trafilatura": 16.0,
    }
    report = {
        "pages": 9,
        "ms_per_page": times,
        "ratio_to_trafilatura": {name: page_time._ratio(ms, 16.0) for name, ms in times.items()},
        "stages": {"page": 8.0},
        "reader": {"dbce": None, "fastwarc": None, "ratio": None},
        "spark": {"spark trafilatura": {"pages": 9}},
    }
    lines = page_time._text(report, "bench.json").splitlines()

    assert "  spark classifier                -   x -" in lines
    assert "times as fast as trafilatura in Spark: classifier -, T002 4.0" in lines[-4]
    assert "of a record: -, FastWARC -   x -" in lines
    assert lines[-2].startswith("-: fewer than 100 pages")


def test_bench_of_archives_without_pages_is_refused(tmp_path: Path) -> None:
    """An archive that holds no page ends in a clear error, before Spark starts."""
    pytest.importorskip("trafilatura")
    (tmp_path / "empty.warc").write_bytes(b"")

    with pytest.raises(InputError, match="no page in 1 file;"):
        page_time.write([str(tmp_path / "empty.warc")], str(tmp_path / "bench.json"), config.default())
