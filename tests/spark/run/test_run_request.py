"""The request for a run. No Spark is started."""

from dataclasses import replace
from pathlib import Path

import pytest

from dbce_spark.errors import OutputError
from dbce_spark.spark.run.prior_state import PriorState
from dbce_spark.spark.run.run_request import RunRequest
from tests.support.builders import config


def test_an_increment_that_another_run_has_written_is_no_output_to_replace(tmp_path: Path) -> None:
    """The error asks for the same command again, and for neither another output nor --overwrite."""
    (tmp_path / "run.json").write_text("{}")
    alone = RunRequest(files=[], output=str(tmp_path), with_html=False, limit=None, started=0.0)

    with pytest.raises(OutputError, match="exists; give another --output"):
        alone.goes_on(config())
    with pytest.raises(OutputError, match="another run has extended the collection meanwhile; give the same command"):
        replace(alone, settings={}).goes_on(config())


def test_no_revisits_wait_without_a_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of such in the current folder, as in an increment, is not this run's."""
    (tmp_path / "pending").mkdir()
    (tmp_path / "pending" / "part-00000.parquet").write_bytes(b"of another run")
    monkeypatch.chdir(tmp_path)
    request = RunRequest(files=[], output="out", with_html=False, limit=None, started=0.0)

    assert 0 == request.pending_revisits


def test_waiting_revisits_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """With what to do: no run can go on without them."""
    prior = PriorState((str(tmp_path / "increments" / "00000001"),), (1,), 4)
    request = RunRequest(files=[], output="", with_html=False, limit=None, started=0.0, prior=prior)
    request.pending.parent.mkdir(parents=True)
    request.pending.write_bytes(b"no Parquet")

    with pytest.raises(OutputError, match=r"pending/part-00000\.parquet is broken: .*; restore it, or roll back"):
        _ = request.pending_revisits
