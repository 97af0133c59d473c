"""Files appear whole, in row groups of one size."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbce_spark import store

SCHEMA = pa.schema([("n", pa.int64())])


def numbers(*sizes: int) -> list[pa.RecordBatch]:
    """Batches of these sizes that count on from 0."""
    starts = [sum(sizes[:at]) for at in range(len(sizes))]
    columns = [list(range(start, start + size)) for start, size in zip(starts, sizes, strict=True)]
    return [pa.RecordBatch.from_pydict({"n": column}, schema=SCHEMA) for column in columns]


def fail_halfway(path: str) -> None:
    with store.whole_file(path) as stream:
        stream.write(b"half")
        raise RuntimeError("halfway")


def test_a_file_that_fails_is_not_there(tmp_path: Path) -> None:
    """An error while writing leaves neither the file nor a part of it."""
    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway(str(tmp_path / "a" / "f"))

    assert [] == list((tmp_path / "a").iterdir())


def test_a_file_that_fails_leaves_the_one_before(tmp_path: Path) -> None:
    """A second attempt that fails does not harm what the first has written."""
    (tmp_path / "f").write_bytes(b"before")
    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway(str(tmp_path / "f"))

    assert b"before" == (tmp_path / "f").read_bytes()


@pytest.mark.parametrize("sizes", [(10,), (3, 3, 4), (1,) * 10, (9, 1), (0, 10, 0)])
def test_row_groups_are_of_one_size_however_the_batches_come(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    """The same rows make the same file, byte for byte, whatever batches they come in."""
    for name, batches in (("a", numbers(*sizes)), ("b", numbers(10))):
        with store.parquet_file(str(tmp_path / name), SCHEMA, dictionary=True, rows_per_group=4) as file:
            for batch in batches:
                file.write(batch)
    written = pq.ParquetFile(tmp_path / "a")

    assert [4, 4, 2] == [written.metadata.row_group(at).num_rows for at in range(written.num_row_groups)]
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """A file holds the rows of its batches in order, wherever fsspec takes it."""
    for path in (str(tmp_path / "f.parquet"), "memory://store/f.parquet"):
        store.write_parquet(path, SCHEMA, numbers(2, 3))
        with store.open_parquet(path) as file:
            assert [0, 1, 2, 3, 4] == file.read().column("n").to_pylist()
