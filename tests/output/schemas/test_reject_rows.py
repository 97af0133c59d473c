"""Rejects as rows."""

from dbce_spark.model import Reject, RejectReason, RejectStage
from dbce_spark.output.schemas import reject_rows


def test_rejects_have_their_fields() -> None:
    """A reject is a row, its stage and reason in words."""
    one = Reject(
        warc_file="a",
        warc_offset=3,
        record_id="r",
        url="u",
        stage=RejectStage.READ,
        reason=RejectReason.NO_URL,
        detail="d",
    )
    (row,) = reject_rows.rejects_batch([one]).to_pylist()

    assert {name: getattr(one, name) for name in reject_rows.REJECTS.names} == row
    assert (str, str) == (type(row["stage"]), type(row["reason"]))
