"""The history of pages as rows, and what it is made from."""

from typing import Any

import numpy as np

from dbce_spark.dbce.kept.kept_formats import Formats
from dbce_spark.html.language import UNKNOWN
from dbce_spark.output.history import page_history
from dbce_spark.output.schemas import extraction_rows, history_rows
from tests.support.sample_rows import extracted


def held_row(capture_id: str, extraction_id: str, at: int, pieces: bytes | None) -> dict[str, Any]:
    signature = None if pieces is None else np.array([at], "<u4").tobytes()
    of_url = {"url_key": "org,example)/", "url": "http://example.org/", "site": "example.org", "template_id": None}
    return {
        **of_url,
        "capture_id": capture_id,
        "extraction_id": extraction_id,
        "timestamp": at,
        "pieces": pieces,
        "signature": signature,
    }


def test_what_captures_hold_comes_with_the_first_of_those_that_share_it() -> None:
    """A revisit of the capture before comes without; a capture whose extraction is nowhere is left out, and who shares
    what an earlier one held does not take the wrong one's."""
    extractions = extraction_rows.extractions_batch(extracted()[:2], [UNKNOWN] * 2, [Formats()] * 2, 1)
    a, b = history_rows.held_batch(7, extractions).column("pieces").to_pylist()
    rows = [
        *(held_row("a", "a", 1, a), held_row("a2", "a", 2, None), held_row("x", "x", 3, None)),
        *(held_row("x2", "x", 4, None), held_row("b", "b", 5, b), held_row("a3", "a", 6, a)),
    ]
    moments = [*history_rows.moments_from(rows)]
    first, second = (
        page_history.pieces(row["page_text"], row["segments"])
        for row in extractions.select(["page_text", "segments"]).to_pylist()
    )

    assert ["a", "a2", "b", "a3"] == [one.capture_id for one in moments]
    assert [first, first, second, first] == [one.pieces for one in moments]
    assert [[1], [1], [5], [6]] == [one.signature.tolist() for one in moments if one.signature is not None]


def test_steps_changes_and_lives_become_rows() -> None:
    """Each with the captures that it lies between, or the page that it was on."""
    kept, old, new = (page_history.Piece(text=text, label="content", xpath="/p[1]") for text in ("Kept", "Old", "New"))
    of_url: dict[str, Any] = {"url_key": "org,example)/", "url": "http://example.org/", "site": "example.org"}
    line = [
        page_history.Moment(capture_id=name, timestamp=at, pieces=pieces, **of_url)
        for name, at, pieces in (("a", 1, (kept, old)), ("b", 2, (kept, new)))
    ]
    (step,) = page_history.steps(line)
    between = {"capture_id": "b", "before_id": "a", **of_url}
    (row,) = history_rows.steps_batch(step, is_redesigned=False).to_pylist()
    (change,) = history_rows.changes_batch(step).to_pylist()
    (life,) = history_rows.lives_batch(line[-1], page_history.lives(line[0], [step])[:1]).to_pylist()

    assert between | {"replaced": 1, "added": 0, "similarity": None} == {
        name: row[name] for name in (*between, "replaced", "added", "similarity")
    }
    assert between | {"kind": "replaced", "text_before": "Old", "text_after": "New", "xpath_after": "/p[1]"} == {
        name: change[name] for name in (*between, "kind", "text_before", "text_after", "xpath_after")
    }
    assert of_url | {"text": "Kept", "captures": 2, "place": 0, "began": "", "ended": ""} == {
        name: life[name] for name in (*of_url, "text", "captures", "place", "began", "ended")
    }
