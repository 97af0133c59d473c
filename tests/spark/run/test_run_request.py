"""The request for a run. No Spark is started."""

from pathlib import Path

import pytest

from dbce_spark.errors import OutputError
from dbce_spark.spark.run.prior_state import PriorState
from dbce_spark.spark.run.run_request import RunRequest


def test_waiting_revisits_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """With what to do: no run can go on without them."""
    prior = PriorState((str(tmp_path / "increments" / "00000001"),), (1,), 4)
    request = RunRequest(files=[], output="", with_html=False, limit=None, started=0.0, prior=prior)
    request.pending.parent.mkdir(parents=True)
    request.pending.write_bytes(b"no Parquet")

    with pytest.raises(OutputError, match=r"pending/part-00000\.parquet is broken: .*; restore it, or roll back"):
        _ = request.pending_revisits
