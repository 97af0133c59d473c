"""Rejects: every reason has a word, and the documentation lists it."""

from pathlib import Path

from dbce_spark.model import RejectReason, RejectStage

TABLES = Path(__file__).parents[1] / "docs" / "tables.md"


def test_every_reason_is_documented() -> None:
    """docs/tables.md names all reasons and stages."""
    text = TABLES.read_text(encoding="utf-8")
    missing = [one.value for one in (*RejectReason, *RejectStage) if f"`{one.value}`" not in text]

    assert missing == []
