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

    assert {"dbce_local", *in_spark, "trafilatura", "resiliparse"} == set(times)
    assert {"dbce_local", *in_spark, "resiliparse"} == set(report["ratio_to_trafilatura"])
    assert {"dbce", "fastwarc", "ratio"} == set(report["reader"])
    assert min(report["reader"].values()) > 0
    assert {report["pages"]} == {report["spark"][name]["pages"] for name in in_spark}
    assert report["pages"] > 0
    assert sum(report["stages"].values()) == pytest.approx(times["dbce_local"], abs=0.01)


def test_bench_of_archives_without_pages_is_refused(tmp_path: Path) -> None:
    """An archive that holds no page ends in a clear error, before Spark starts."""
    pytest.importorskip("trafilatura")
    (tmp_path / "empty.warc").write_bytes(b"")

    with pytest.raises(InputError, match="no page in 1 files"):
        page_time.write([str(tmp_path / "empty.warc")], str(tmp_path / "bench.json"), config.default())
