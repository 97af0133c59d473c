"""Groups of a sorted stream, without Spark."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.spark.engine.groups import groups

KEYS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2)), max_size=40).map(sorted)


@given(KEYS, st.integers(1, 7))
def test_each_group_comes_once_and_whole(keys: list[tuple[str, int]], rows_per_batch: int) -> None:
    """However the stream is cut into batches, each key has one table that holds all of its rows in order."""
    schema = pa.schema([("letter", pa.string()), ("number", pa.int32()), ("row", pa.int32())])
    columns = [[key[0] for key in keys], [key[1] for key in keys], list(range(len(keys)))]
    table = pa.table(columns, schema=schema)
    found = [
        (group["letter"][0].as_py(), group["number"][0].as_py(), group["row"].to_pylist())
        for group in groups(iter(table.to_batches(rows_per_batch)), ["letter", "number"])
    ]

    assert [
        (letter, number, [at for at, key in enumerate(keys) if key == (letter, number)])
        for letter, number in sorted(set(keys))
    ] == found
