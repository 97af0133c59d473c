"""Shards of bounded size."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.export import shards
from dbce_spark.export.export_settings import settings
from tests.support.exports import lines, written


def write(folder: Path, sizes: list[int], **given: object) -> dict[str, bytes]:
    """Write documents of these sizes, with a line beside each."""
    found: Iterator[tuple[bytes, bytes]] = ((b'"%s"\n' % (b"x" * (size - 3)), b"%d\n" % size) for size in sizes)
    shards.write(found, lambda number: [f"{folder}/a{number}", f"{folder}/b{number}"], settings(given))
    return written(folder)


@pytest.mark.parametrize("compression", ["gz", "zst"])
def test_a_shard_ends_before_it_is_too_large(tmp_path: Path, compression: str) -> None:
    """Documents are counted before compression; one that is too large is a shard of its own."""
    files = write(tmp_path, [40, 60, 50, 200, 10, 10], compression=compression, shard_bytes=100)

    assert [[40, 60], [50], [200], [10, 10]] == [lines(files[f"b{number}"]) for number in range(4)]
    assert [2, 1, 1, 2] == [len(lines(files[f"a{number}"])) for number in range(4)]
    assert 8 == len(files)


@pytest.mark.parametrize("compression", ["gz", "zst"])
def test_the_same_lines_are_the_same_bytes(tmp_path: Path, compression: str) -> None:
    """Neither the name of a file nor the time changes its bytes."""
    once = write(tmp_path / "once", [50] * 20, compression=compression)
    again = write(tmp_path / "again", [50] * 20, compression=compression)

    assert list(once.values()) == list(again.values())
    assert b"a0" not in once["a0"]
    if compression == "gz":
        assert bytes(4) == once["a0"][4:8]


def test_nothing_is_no_shard(tmp_path: Path) -> None:
    """An export without a document writes no file."""
    assert {} == write(tmp_path, [])


@given(st.lists(st.integers(3, 300)), st.integers(1, 400))
def test_every_document_is_in_one_shard_of_bounded_size(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], shard_bytes: int
) -> None:
    """Each document is in one shard, in order; only a shard of one document exceeds the bound, and none had room in the
    shard before."""
    files = write(tmp_path_factory.mktemp("shards"), sizes, shard_bytes=shard_bytes)
    held = [lines(files[f"b{number}"]) for number in range(len(files) // 2)]

    assert sizes == [size for shard in held for size in shard]
    assert all(sum(shard) <= shard_bytes or len(shard) == 1 for shard in held)
    assert all(sum(before) + after[0] > shard_bytes for before, after in pairwise(held))


def test_a_shard_that_fails_is_not_there(tmp_path: Path) -> None:
    """An error in the middle of a shard leaves none of its files."""

    def broken() -> Iterator[tuple[bytes, bytes]]:
        yield b"1\n", b"1\n"
        raise RuntimeError("broken off")

    with pytest.raises(RuntimeError, match="broken off"):
        shards.write(broken(), lambda number: [f"{tmp_path}/a", f"{tmp_path}/b"], settings({}))

    assert {} == written(tmp_path)
