"""Evidence as rows, and back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.output.schemas import evidence_rows


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5), st.sampled_from([0, 1])), max_size=4))
def test_evidence_comes_back(shapes: list[tuple[int, int, int]]) -> None:
    """Codes of any shape, with their capture and kind."""
    made = [
        (f"id{at}", kind, np.arange(features * blocks, dtype=np.uint8).reshape(features, blocks))
        for at, (features, blocks, kind) in enumerate(shapes)
    ]
    rows = evidence_rows.evidence_batch(made).to_pylist()
    actual = [(row["capture_id"], row["kind"], evidence_rows.codes_from(row).tolist()) for row in rows]

    assert [(capture_id, kind, codes.tolist()) for capture_id, kind, codes in made] == actual
