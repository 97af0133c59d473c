"""Parquet files: row groups of one size, and checksums that are verified."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbce_spark.files import parquet

SCHEMA = pa.schema([("n", pa.int64())])


def numbers(*sizes: int) -> list[pa.RecordBatch]:
    """Make batches of these sizes that count on from 0."""
    starts = [sum(sizes[:at]) for at in range(len(sizes))]
    columns = [list(range(start, start + size)) for start, size in zip(starts, sizes, strict=True)]
    return [pa.RecordBatch.from_pydict({"n": column}, schema=SCHEMA) for column in columns]


@pytest.mark.parametrize("sizes", [(10,), (3, 3, 4), (1,) * 10, (9, 1), (0, 10, 0)])
def test_row_groups_are_of_one_size_however_the_batches_come(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    """Equal rows make equal files, byte for byte, whatever batches they come in."""
    for name, batches in (("a", numbers(*sizes)), ("b", numbers(10))):
        with parquet.writer(str(tmp_path / name), SCHEMA, dictionary=True, rows_per_group=4) as file:
            for batch in batches:
                file.write(batch)
    written = pq.ParquetFile(tmp_path / "a")

    assert [4, 4, 2] == [written.metadata.row_group(at).num_rows for at in range(written.num_row_groups)]
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_is_held_can_be_written_before_it_fills_a_row_group(tmp_path: Path) -> None:
    """It makes a smaller one, and nothing is held then."""
    path = str(tmp_path / "a.parquet")
    with parquet.writer(path, SCHEMA, dictionary=True, rows_per_group=4) as file:
        for count in (3, 2, 0, 4):
            file.write(pa.RecordBatch.from_pydict({"n": [*range(count)]}, schema=SCHEMA))
            held = file.held_bytes
            file.flush()
            assert file.held_bytes == 0
            assert (held > 0) == (count in (3, 2))

    with pq.ParquetFile(path) as read:
        assert [3, 2, 4] == [read.metadata.row_group(at).num_rows for at in range(read.num_row_groups)]


def test_a_row_group_of_many_bytes_is_cut(tmp_path: Path) -> None:
    """Its parts together are as long as any other, so that the rows of each can be found by their numbers."""
    path = str(tmp_path / "a.parquet")
    two = numbers(2)[0].nbytes
    with parquet.writer(path, SCHEMA, dictionary=True, rows_per_group=4, bytes_per_group=two) as file:
        for batch in numbers(1, 2, 2, 3, 3, 1):
            file.write(batch)
            assert file.held_bytes <= two

    with pq.ParquetFile(path) as read:
        groups = [read.metadata.row_group(at).num_rows for at in range(read.num_row_groups)]
        assert [3, 1, 4, 3, 1] == groups
        assert [[(0, 0), (1, 3)], [(2, 4)], [(3, 8), (4, 11)]] == [
            [*parquet.row_groups(read, start, start + 4)] for start in (0, 4, 8)
        ]
        assert [*range(12)] == read.read().column("n").to_pylist()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """A file holds the rows of its batches in order, wherever fsspec takes it."""
    for path in (str(tmp_path / "f.parquet"), "memory://store/f.parquet"):
        parquet.write(path, SCHEMA, numbers(2, 3))
        with parquet.reader(path) as file:
            assert [0, 1, 2, 3, 4] == file.read().column("n").to_pylist()


def read_rows(path: Path) -> list[int]:
    with parquet.reader(str(path)) as file:
        if file.schema_arrow != SCHEMA:
            raise ValueError("the end of the file says that it is another table")
        return [n for batch in file.iter_batches() for n in batch.column("n").to_pylist()]


def test_a_byte_that_was_changed_makes_no_other_rows(tmp_path: Path) -> None:
    """Wherever it lies, the file cannot be read, or its rows are the same."""
    path = tmp_path / "a.parquet"
    parquet.write(str(path), SCHEMA, numbers(300))
    whole = path.read_bytes()
    failed = 0
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        try:
            found = read_rows(path)
        except (pa.ArrowException, OSError, ValueError, KeyError):
            failed += 1
        else:
            assert list(range(300)) == found, at

    assert failed > len(whole) // 3
