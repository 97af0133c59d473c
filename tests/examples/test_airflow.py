"""The DAG of examples/airflow, of which `make airflow` shows that Airflow can run it."""

import runpy
import sys
from pathlib import Path
from types import ModuleType
from unittest.mock import MagicMock

import pytest

DAG = Path(__file__).parents[2] / "examples/airflow/dbce_daily.py"


def test_a_crawl_that_comes_late_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All days up to the last that has ended are, if they are not extracted; nothing else in the inbox is."""
    sdk = ModuleType("airflow.sdk")
    vars(sdk).update(DAG=MagicMock(), CronDataIntervalTimetable=MagicMock(), task=lambda of: MagicMock(function=of))
    monkeypatch.setitem(sys.modules, "airflow.sdk", sdk)
    monkeypatch.setitem(sys.modules, "airflow.providers.apache.spark.operators.spark_submit", MagicMock())
    monkeypatch.setenv("DBCE_FOLDER", str(tmp_path))
    monkeypatch.setenv("SPARK_CONF_DIR", "")
    for name in ("inbox/2026-11-20", "inbox/2026-11-21", "inbox/2026-11-22", "inbox/2026-11-23", "inbox/being-copied"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "extracted/2026-11-21").mkdir(parents=True)
    (tmp_path / "extracted/2026-11-21/run.json").touch()
    found = runpy.run_path(str(DAG))["find_new"].function("2026-11-22")

    assert [
        [f"{tmp_path}/inbox/{day}", "--output", f"{tmp_path}/extracted/{day}"] for day in ("2026-11-20", "2026-11-22")
    ] == found
