"""Write batches once, twice, in part, or by another version."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from dbce_spark.errors import OutputError
from dbce_spark.streaming.stream import stream_parts, stream_tables
from dbce_spark.streaming.stream.outcomes import LABELS, REJECTS, build_rows
from dbce_spark.streaming.stream.streamed_domain import StreamedDomain
from tests.support.stream_files import TREE, arrival, as_table, part

SETTINGS: dict[str, Any] = {"urltree": {"label": {"heuristic": "strict", "n_min": 5}}}


def labels(count: int) -> list[Any]:
    domain = StreamedDomain("example.org", TREE)
    some = [arrival(f"http://example.org/{at}", "Menu", f"Text {'x' * at}", row_no=at) for at in range(count)]
    return [row for _, row in build_rows(some, domain)]


def write(folder: Path, batch: int, some: list[Any], *, number: int = 0) -> dict[str, int]:
    with stream_parts.StreamPart(str(folder), batch, number) as out:
        for row in some:
            out.write(LABELS, [row])
    return dict(out.rows)


def test_a_batch_is_there_when_it_is_committed(tmp_path: Path) -> None:
    """Files without a commit are not part of the output; with it they are, and all readers have the rows."""
    some = labels(3)
    files = write(tmp_path, 0, some)
    before = stream_tables.files(str(tmp_path), LABELS)
    stream_tables.commit(str(tmp_path), 0, part(files, {"labels": 3}))
    paths = stream_tables.files(str(tmp_path), LABELS)

    assert [] == before
    assert as_table(LABELS, some) == ds.dataset(paths).to_table().to_pylist()
    with duckdb.connect() as duck:
        counted = duck.execute(f"SELECT count(*) FROM read_parquet('{tmp_path}/labels/*/*.parquet')").fetchone()
    assert (3,) == counted


def test_a_batch_that_is_written_again_is_there_once(tmp_path: Path) -> None:
    """Its files replace those of the first attempt, leftovers under other names are removed, and totals count it
    once."""
    some = labels(4)
    write(tmp_path, 1, some, number=7)
    (tmp_path / "labels" / "batch=1" / f"_part-00000.parquet.{'0' * 32}").touch()
    stream_tables.commit(str(tmp_path), 0, part({}, {"labels": 5}))
    for _ in range(2):
        made = stream_tables.commit(str(tmp_path), 1, part(write(tmp_path, 1, some), {"labels": 4}))

    assert {"labels": 9} == made.totals
    assert ["part-00000.parquet"] == [one.name for one in (tmp_path / "labels" / "batch=1").iterdir()]
    assert as_table(LABELS, some) == ds.dataset(tmp_path / "labels").to_table(LABEL_COLUMNS).to_pylist()


LABEL_COLUMNS = stream_parts.SCHEMAS[LABELS].names


def test_a_part_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """An error in the midst of writing leaves neither a file nor a half of one."""
    broken = [*labels(1), {"timestamp": "yesterday"}]
    with pytest.raises(pa.ArrowException):
        write(tmp_path, 0, broken)

    assert [] == [one for one in tmp_path.rglob("*") if one.is_file()]


def test_commits_are_read_in_their_order(tmp_path: Path) -> None:
    """Commits are read in order with their files and counts; other files in the folder are ignored."""
    for batch in (0, 1, 2):
        stream_tables.commit(
            str(tmp_path), batch, part({f"rejects/batch={batch}/part-00000.parquet": 1}, {"rejects": 1})
        )
    (tmp_path / "commits" / "_half.json.0123").write_text("x", encoding="utf-8")

    assert [0, 1, 2] == [one.batch for one in stream_tables.read_commits(str(tmp_path))]
    assert 3 == len(stream_tables.files(str(tmp_path), REJECTS))


def test_a_stream_goes_on_with_the_same_settings_only(tmp_path: Path) -> None:
    """Other settings are refused, and each difference is named."""
    assert not stream_tables.is_begun(str(tmp_path), SETTINGS)
    for _ in range(2):
        stream_tables.begin(str(tmp_path), SETTINGS)
        assert stream_tables.is_begun(str(tmp_path), SETTINGS)
    other = {"urltree": {"label": {"heuristic": "strict", "n_min": 3}}}
    with pytest.raises(OutputError, match=r"begun with other settings: urltree\.label\.n_min was 5, is 3\. "):
        stream_tables.begin(str(tmp_path), other)


def test_an_output_of_another_version_is_refused_with_words(tmp_path: Path) -> None:
    """The error names both versions, and what can be done."""
    stream_tables.begin(str(tmp_path), SETTINGS)
    path = tmp_path / stream_tables.BEGUN
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"version": 0}), encoding="utf-8")

    with pytest.raises(
        OutputError,
        match=rf"is of version 0 of the stream, this program has {stream_tables.VERSION}: .*another --output",
    ):
        stream_tables.begin(str(tmp_path), SETTINGS)


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    """A folder with foreign files is refused, and none of them is touched."""
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")

    with pytest.raises(OutputError, match=r"holds thesis\.tex and is no output of a stream"):
        stream_tables.begin(str(tmp_path), SETTINGS)
    assert ["thesis.tex"] == [one.name for one in tmp_path.iterdir()]


DAMAGED = ["{}", "[]", "null", "3", '"x"', '{"version', '{"batch": 1, "files": null}']


@pytest.mark.parametrize("content", DAMAGED)
def test_settings_that_are_damaged_are_named(tmp_path: Path, content: str) -> None:
    """Whatever JSON is in the file, the error names it and says what to do."""
    stream_tables.begin(str(tmp_path), SETTINGS)
    (tmp_path / stream_tables.BEGUN).write_text(content, encoding="utf-8")

    with pytest.raises(OutputError, match=rf"^{tmp_path}/stream\.json: .*; put back a copy of it"):
        stream_tables.begin(str(tmp_path), SETTINGS)


def test_settings_that_are_gone_are_named(tmp_path: Path) -> None:
    """The commits show that the folder is the output of a stream."""
    stream_tables.begin(str(tmp_path), SETTINGS)
    stream_tables.commit(str(tmp_path), 0, part({}, {}))
    (tmp_path / stream_tables.BEGUN).unlink()

    with pytest.raises(OutputError, match=r"stream\.json: is missing; put back a copy of it"):
        stream_tables.begin(str(tmp_path), SETTINGS)


@pytest.mark.parametrize("content", DAMAGED)
def test_a_commit_that_is_damaged_is_named(tmp_path: Path, content: str) -> None:
    """Whatever JSON is in the file, the error names it and says what to do."""
    stream_tables.commit(str(tmp_path), 0, part({}, {"labels": 5}))
    (tmp_path / "commits/00000000.json").write_text(content, encoding="utf-8")

    with pytest.raises(OutputError, match=r"/commits/00000000\.json: .*; put back a copy of it"):
        stream_tables.last_commit(str(tmp_path))


def test_no_batch_is_committed_behind_a_commit_that_is_missing(tmp_path: Path) -> None:
    """The sums of all counts would begin anew, and readers would miss the rows of the batch, without a word."""
    for batch in (0, 1):
        stream_tables.commit(str(tmp_path), batch, part({}, {"labels": 5}))
    (tmp_path / "commits/00000000.json").unlink()
    with pytest.raises(OutputError, match=r"/commits/00000000\.json: is missing; put back a copy of it"):
        stream_tables.read_commits(str(tmp_path))
    (tmp_path / "commits/00000001.json").unlink()

    with pytest.raises(OutputError, match=r"/commits/00000001\.json: is missing; put back a copy of it"):
        stream_tables.commit(str(tmp_path), 2, part({}, {"labels": 5}))


def test_a_batch_that_is_computed_again_has_the_same_words(tmp_path: Path) -> None:
    """As many rows of other words are others; a commit of an earlier version, which has no digests, has its counts."""
    files, digest = {"labels/batch=0/part-00000.parquet": 2}, stream_parts.row_digest
    rows = [(b"a page", b"{}"), (b"another", b"{}")]
    path = next(iter(files))
    sums = [{path: sum(digest(*row) for row in some)} for some in (rows, rows[::-1], [rows[0], rows[0]])]
    made = stream_tables.commit(str(tmp_path), 0, part(files, {"labels": 2}, sums[0]))
    earlier = stream_tables.commit(str(tmp_path), 0, part(files, {"labels": 2}))

    stream_tables.check_same(str(tmp_path), made, part(files, {"labels": 2}, sums[1]))
    stream_tables.check_same(str(tmp_path), earlier, part(files, {"labels": 2}, sums[2]))
    with pytest.raises(OutputError, match=r"it has other rows \(as many, with other words\)"):
        stream_tables.check_same(str(tmp_path), made, part(files, {"labels": 2}, sums[2]))
