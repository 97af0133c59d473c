"""The figures by which runs are compared."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.scale import Measurement, Request, measurement
from benchmarks.scale.runs import Run
from benchmarks.scale.scale_archives import Archive
from dbce_spark.errors import ConfigError

ROOT = Path(__file__).parents[3]


def run(pages: int, cpu_seconds: float, stages: Mapping[str, float] | None = None, worker_bytes: int = 0) -> Run:
    """A run as the figures look at it."""
    return Run(
        pages=pages,
        input_bytes=0,
        html_bytes=0,
        output_bytes=0,
        staging_peak_bytes=0,
        wall_seconds=0.0,
        stages=stages or {},
        java_cpu_seconds=cpu_seconds / 2,
        worker_cpu_seconds=cpu_seconds / 4,
        driver_cpu_seconds=cpu_seconds / 4,
        others_cpu_seconds=3.0,
        java_peak_bytes=0,
        worker_peak_bytes=worker_bytes,
        worker_peaks={},
        shuffle_bytes=0,
        spilled_bytes=0,
        tasks={},
        largest_bucket=0,
    )


def kept(of: Run, **figures: object) -> dict[str, Any]:
    return asdict(of) | {"cpu_seconds": of.cpu_seconds} | figures


def test_a_page_costs_what_it_adds_to_the_base() -> None:
    """A run of 10 seconds on 500 pages, and one of 19 on 1,400: 10 ms a page."""
    assert 10.0 == measurement.ms_per_page(run(1_400, 19.0), run(500, 10.0))


def test_a_fair_share_is_what_plain_pages_of_the_weight_would_cost() -> None:
    """At 10 ms a plain page the base took 5 seconds for nothing: 8 more for pages worth 400 are twice their share."""
    base = run(500, 10.0)

    assert 2.0 == measurement.fair_share(run(300, 13.0), 400, base, 10.0)
    assert 1.0 == measurement.fair_share(base, 500, base, 10.0)


def test_two_workers_are_compared_stage_by_stage() -> None:
    """Seconds with one over seconds with two; a stage that took none is left out."""
    assert {"pages": 1.8} == measurement.speed_up({"pages": 9.0, "start": 3.0}, {"pages": 5.0, "start": 0.0})


def test_what_is_over_its_bound_is_listed() -> None:
    """Each bound has its sentence, and what keeps within all has none."""
    well = {
        "growth": {"base": kept(run(1, 1.0)), "5": kept(run(5, 1.0), ms_per_page=1.0, ratio=1.15)},
        "shapes": {"empty": kept(run(5, 1.0, worker_bytes=1_500_000_000), equivalents=5, fair_share=1.5)},
        "workers": {"2": kept(run(5, 1.0), speed_up={"pages": 1.7})},
    }
    badly = {
        "growth": {"5": kept(run(5, 1.0), ms_per_page=1.0, ratio=1.16)},
        "shapes": {"empty": kept(run(5, 1.0, worker_bytes=1_600_000_000), equivalents=5, fair_share=1.6)},
        "workers": {"2": kept(run(5, 1.0), speed_up={"pages": 1.6})},
    }

    assert [] == measurement.over(well)
    assert [
        "5 captures: 1.16 of the time a page of the smallest, more than 1.15",
        "empty: 1.6 of its fair share, more than 1.5",
        "shapes empty: a Python worker of 1,600 MB",
        "two workers: pages 1.6 times as fast as one, less than 1.7",
    ] == measurement.over(badly)


def test_late_increments_are_set_beside_early_ones() -> None:
    """A collection whose increments cost ever more, beside their crawls alone, is over its bound."""
    ratios = [1.0, 1.3, 1.5, 1.5, 1.5, 1.6, 1.6, 1.7, 1.8, 1.9]
    grown = {f"{number}": kept(run(5, 1.0), ratio=ratio) for number, ratio in enumerate(ratios, 1)}
    steady = grown | {name: kept(run(5, 1.0), ratio=1.7) for name in ("8", "9", "10")}

    assert 1.2 == measurement.ageing({"collection": grown})
    assert 1.0 == measurement.ageing({"collection": {"1": kept(run(5, 1.0), ratio=1.0)}})
    assert ["collection: late increments take 1.2 of what early ones do, more than 1.15"] == measurement.over(
        {"collection": grown}
    )
    assert [] == measurement.over({"collection": steady})


def test_figures_are_a_table_with_what_is_over_below() -> None:
    """A row a run, with its figure beside the others, then the stages with two workers, then what is over."""
    report = {
        "growth": {"5": kept(run(5, 1.0, worker_bytes=250_000_000), ms_per_page=7.25, ratio=1.2)},
        "workers": {"2": kept(run(5, 1.0), speed_up={"pages": 1.9})},
    }
    lines = [" ".join(line.split()) for line in measurement.text(report).splitlines()]

    assert [
        "pages wall s cpu s others s ms/page x worker MB java MB",
        "growth 5 5 0.0 1.0 3.0 7.25 1.2 250 0",
        "workers 2 5 0.0 1.0 3.0 0 0",
        "two workers for one: pages x 1.9",
        "over its bound: 5 captures: 1.2 of the time a page of the smallest, more than 1.15",
    ] == lines


def test_a_setting_that_is_none_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    """A measurement takes hours; a slip of the pen shows at once."""
    request = Request(
        work=str(tmp_path / "work"),
        output="x",
        pages=[5],
        weight=0,
        shape_pages=5,
        crawl_pages=5,
        parts=["growth"],
        settings=["lsh.bend=3"],
    )

    with pytest.raises(ConfigError, match=r"lsh\.bend"):
        Measurement(request).write()
    assert [] == list(tmp_path.iterdir())


def test_without_psutil_the_command_names_what_to_install(tmp_path: Path) -> None:
    """It comes with an extra."""
    program = (
        "import sys; sys.modules['psutil'] = None; from benchmarks.__main__ import main;"
        " sys.exit(main(['scale', '--work', 'work']))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )

    assert 2 == ended.returncode
    assert "pip install '.[bench]'" in ended.stderr


def test_growth_is_measured_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`dbce bench-scale` runs the base and each size, with the settings given, and writes what they took. What a run
    is, test_runs tries."""
    output = tmp_path / "bench-scale.json"
    runs: list[tuple[int, list[str]]] = []

    def extract(archive: Archive, work: Path, settings: Sequence[str]) -> Run:
        runs.append((archive.equivalents, [*settings]))
        return run(archive.equivalents, 2.0 + archive.equivalents / 100)

    monkeypatch.setattr(measurement, "extract", extract)
    monkeypatch.setattr(measurement, "BASE_CAPTURES", 60)
    options = ["--only", "growth", "--pages", "20", "--set", "label.by=T002"]
    status = main(["scale", "--work", str(tmp_path / "work"), "--output", str(output), *options])
    report = json.loads(output.read_text())

    base, small = runs

    assert 0 == status
    assert base[0] > small[0] > 0
    assert [["label.by=T002"]] * 2 == [base[1], small[1]]
    assert ["settings", "growth"] == [*report]
    assert (["label.by=T002"], ["base", "20"]) == (report["settings"], [*report["growth"]])
    assert 1.0 == report["growth"]["20"]["ratio"]
    assert f"written to {output}" in capsys.readouterr().out
