"""A run is a command of its own, and all its resources are measured."""

import time
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.scale import runs, scale_archives, shapes
from dbce_spark.errors import JobError
from tests.support.cluster import SMALL_PLANS


@pytest.mark.spark
def test_a_run_on_a_cluster_reports_what_it_took(tmp_path: Path) -> None:
    """Processes, stages and shuffles are all seen on Spark's own cluster, and only the log of the command stays."""
    import pyspark

    began = time.time()
    archive = scale_archives.shaped(tmp_path, "plain", shapes.plain, 24)
    # Java on the worker runs for half a minute: what it would compile well never pays. Of few captures the driver does
    # most stages.
    spark = {
        "spark.executor.memory": "1024m",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        **SMALL_PLANS,
        "spark.dbce.fewCaptures": "0",
    }
    run = runs.extract(archive, tmp_path, [], master="local-cluster[1,2,1024]", spark=spark)
    nothing_in = {name for name, value in asdict(run).items() if not value}

    assert 24 == run.pages
    assert {"spilled_bytes", "relabelled"} == nothing_in
    assert [name for name in [*run.stages][1:] if name != "duplicates"] == [*run.tasks]  # the driver marks so few texts
    assert run.shuffle_bytes == sum(some.shuffle_bytes for some in run.tasks.values())
    assert {"plain-24", "extract.log"} == {path.name for path in tmp_path.iterdir()}
    assert not [path for path in (Path(pyspark.__file__).parent / "work").glob("app-*") if path.stat().st_mtime > began]


def test_a_run_that_fails_names_its_log(tmp_path: Path) -> None:
    """The command's output lies in the work folder."""
    archive = scale_archives.Archive(folder=str(tmp_path / "none"), input_bytes=0, html_bytes=0, equivalents=0)

    with pytest.raises(JobError, match=r"ended with 2; .*extract\.log says why"):
        runs.extract(archive, tmp_path, [])
    assert "nothing to read is there" in (tmp_path / "extract.log").read_text()
