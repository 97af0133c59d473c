"""Runs that are ended before their time, by real kills, full disks and broken files, and gone on with."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.samples import write_archive
from dbce_spark import config
from dbce_spark.errors import JobError, OutputError
from dbce_spark.files import sources
from dbce_spark.output.collection import RUN_FILE
from dbce_spark.spark.jobs import extract_job, local_job
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.condition import Condition
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.spark.run.run_status import RunStatus, inspect_run
from dbce_spark.spark.stages import write_extractions
from dbce_spark.spark.stages.mark_duplicates import text_duplicates
from tests.support import bucket
from tests.support.run_endings import extract_command, kill_at, tables_below

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SETTINGS = ("label.by=T002", "language.detect=false", "output.site_parts=3")
CONFIG = config.load(settings=SETTINGS)
SECRET = "not for logs"
PATIENCE = 600


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Three files of some fifteen pages each."""
    folder = tmp_path_factory.mktemp("archive")
    write_archive(folder, pages=16, seed=5)
    return sources.expand([str(folder)], CONFIG.input.patterns)


@pytest.fixture(scope="module")
def undisturbed(archive: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The output of a run that nothing disturbs, without Spark: test_local_job.py holds both to the same bytes."""
    output = tmp_path_factory.mktemp("undisturbed")
    local_job.run(asked(archive, output), CONFIG)
    return tables_below(output)


def asked(archive: list[str], output: Path) -> RunRequest:
    return RunRequest(files=archive, output=str(output), with_html=False, limit=None, started=time.monotonic())


def extract(spark: "SparkSession", archive: list[str], output: Path) -> dict[str, Any]:
    return extract_job.run(spark, asked(archive, output), CONFIG)


def command(archive: list[str], output: str, *options: str) -> "subprocess.Popen[bytes]":
    """`dbce extract` in processes of its own."""
    return extract_command([*archive, "--output", output, *options], SETTINGS)


def extract_until(mark: str, archive: list[str], output: Path) -> None:
    """`dbce extract`, with all its processes killed as soon as it has staged something of this name."""
    kill_at(Path(staging.path(str(output), mark)), command(archive, str(output)), PATIENCE)


@contextmanager
def gone(path: str) -> Iterator[None]:
    """Within the block the bytes of a file are all zero: whoever reads it finds nothing there."""
    before = Path(path).read_bytes()
    Path(path).write_bytes(bytes(len(before)))
    try:
        yield
    finally:
        Path(path).write_bytes(before)


@dataclass(frozen=True)
class Killed:
    """A run into a bucket that was killed twice and then ended, and what was seen behind each kill."""

    behind_first: RunStatus
    """Its driver had read the first file, and perhaps others until the kill came."""
    objects_behind_first: dict[str, bytes]
    log: str
    """The report of the second attempt."""
    objects_behind_second: dict[str, bytes]
    finished: dict[str, bytes]
    staged: list[Path]
    report: dict[str, Any]


@pytest.fixture(scope="module")
def killed(spark: "SparkSession", archive: list[str], tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """Killed when it has read the first of three files, which is no archive any more from then on, and when it writes;
    ended by another process."""
    staging_in = tmp_path_factory.mktemp("staging")
    where = ("--staging", str(staging_in))
    with bucket.served(SECRET) as url:
        output = f"{url}/out"
        kill_at(Path(staging.done(str(staging_in), "pages", 0)), command(archive, output, *where), PATIENCE)
        behind_first, objects = inspect_run(output, str(staging_in)), bucket.objects_below(output)
        log = tmp_path_factory.mktemp("log") / "log.jsonl"
        with gone(archive[0]):
            again = command(archive, output, *where, "--log", str(log))
            kill_at(Path(staging.done(str(staging_in), "extractions", 0)), again, PATIENCE)
            begun = bucket.objects_below(output)
            with bucket.seen_by_workers(spark):
                asked_again = replace(asked(archive, Path(output)), output=output, staging=str(staging_in))
                report = extract_job.run(spark, asked_again, CONFIG)
        return Killed(
            behind_first, objects, log.read_text(), begun, bucket.objects_below(output), [*staging_in.iterdir()], report
        )


def test_what_was_read_is_not_read_again(killed: Killed, undisturbed: dict[str, bytes]) -> None:
    """A driver is killed when it has read the first of three files, or more. When the same is asked for again, that one
    is no archive any more: the bytes are those of a run that nothing has disturbed."""
    read = killed.behind_first.files
    assert read is not None
    assert read.done >= 1
    assert f"goes on with an unfinished run: {read.done} of 3 files read" in killed.log
    assert undisturbed == {name: content for name, content in killed.finished.items() if name != RUN_FILE}


def test_a_killed_run_is_dead_and_keeps_its_name(killed: Killed) -> None:
    """Its status says how far it was; who goes on with it has its id, and counts the attempts."""
    dead = killed.behind_first

    assert dead.files is not None
    assert (Condition.DEAD, 3, 1) == (dead.condition, dead.files.of, dead.attempts)
    assert (dead.run_id, 3) == (killed.report["run_id"], killed.report["attempts"])
    assert RUN_FILE not in killed.objects_behind_first


def test_an_output_in_a_bucket(killed: Killed, undisturbed: dict[str, bytes]) -> None:
    """Killed while it writes there, it shows whole objects and nothing that says it is finished; nothing is left of its
    staging. No secret is in any of it."""
    assert killed.objects_behind_second
    assert killed.objects_behind_second.items() <= undisturbed.items()
    assert SECRET.encode() not in killed.finished[RUN_FILE]
    assert SECRET not in killed.log
    assert [] == killed.staged


def test_finished_stages_and_parts_are_kept(
    spark: "SparkSession",
    archive: list[str],
    undisturbed: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A part of the extractions cannot be written, while the first part is done once and for all; then a staged file is
    broken, which is reported and mended by the next run. The bytes stay the same.
    """
    output = tmp_path / "out"
    second_parts = [name for name in undisturbed if name.endswith("part-00001.parquet")]
    obstacle = output / next(name for name in second_parts if name.startswith("extractions/"))

    def write_with_obstacle(*given: Any) -> Any:
        obstacle.mkdir(parents=True)
        (obstacle / "in the way").touch()
        return write_extractions.STAGE.work(*given)

    obstructed = replace(write_extractions.STAGE, work=write_with_obstacle)
    monkeypatch.setattr(
        extract_job,
        "LABELLING",
        tuple(obstructed if one is write_extractions.STAGE else one for one in extract_job.LABELLING),
    )
    with pytest.raises(JobError, match=r"[Tt]he same command goes on from there"):
        extract(spark, archive, output)
    monkeypatch.undo()
    checkpoint = Path(staging.done(str(output), "sites"))
    kept = checkpoint.stat().st_mtime_ns
    first = {one: one.stat() for one in output.glob("extractions/*/part-00000.parquet")}
    with pytest.raises(JobError):
        extract(spark, archive, output)

    assert first
    assert first == {one: _but_access(one, first) for one in output.glob("extractions/*/part-00000.parquet")}
    assert kept == checkpoint.stat().st_mtime_ns

    shutil.rmtree(obstacle)
    staged = output / "_staging/pages/00000001.parquet"
    staged.write_bytes(staged.read_bytes()[:-100])
    with pytest.raises(JobError, match=rf"^{staged} was broken, and is removed"):
        extract(spark, archive, output)
    with gone(archive[0]), gone(archive[2]):
        extract(spark, archive, output)

    assert undisturbed == tables_below(output)


def test_pages_whose_record_is_cut_are_counted_once(
    spark: "SparkSession", archive: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that goes on takes the counts of parts that are written from their checkpoints."""
    whole = Path(archive[0]).read_bytes()
    (tmp_path / "cut.warc.gz").write_bytes(whole[: len(whole) // 2])  # within a page
    files, output = [str(tmp_path / "cut.warc.gz")], tmp_path / "out"

    def write_and_end(*given: Any) -> Any:
        write_extractions.STAGE.work(*given)
        raise OutputError("ended")

    ending = replace(write_extractions.STAGE, work=write_and_end)
    stages = tuple(ending if one is write_extractions.STAGE else one for one in extract_job.LABELLING)
    with monkeypatch.context() as patch:
        patch.setattr(extract_job, "LABELLING", stages)
        with pytest.raises(OutputError, match="ended"):
            extract(spark, files, output)
    written = {one: one.stat().st_mtime_ns for one in output.glob("extractions/*/*.parquet")}
    report = extract(spark, files, output)

    assert written == {one: one.stat().st_mtime_ns for one in output.glob("extractions/*/*.parquet")}
    assert {"truncated": 1} == report["flags"]


@pytest.mark.faults
def test_duplicates_go_on_where_they_were(
    spark: "SparkSession",
    archive: list[str],
    undisturbed: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ended when it is staged which texts are alike, the run compares none again, and the bytes are the same; also
    when the texts of a part are broken, which is reported and mended."""
    monkeypatch.setattr(text_duplicates, "FEW", 0)
    output = tmp_path / "out"
    extract_until("done/extractions/00000000.json", archive, output)
    staged = output / "_staging/texts/00000000.parquet"
    whole = staged.read_bytes()
    staged.write_bytes(whole[:-100])
    with pytest.raises(JobError, match=rf"^{staged} was broken, and is removed"):
        extract(spark, archive, output)
    obstacle = output / next(name for name in undisturbed if name.startswith("duplicates/"))
    obstacle.mkdir(parents=True)
    with pytest.raises(JobError):
        extract(spark, archive, output)
    before = (output / "_staging/likes/_SUCCESS").stat()
    with pytest.raises(JobError):
        extract(spark, archive, output)
    assert before == (output / "_staging/likes/_SUCCESS").stat()
    obstacle.rmdir()
    extract(spark, archive, output)

    assert undisturbed == tables_below(output)


def _but_access(path: Path, before: dict[Path, os.stat_result]) -> os.stat_result:
    """Its state now, as before if neither its content nor its place was touched."""
    now, then = path.stat(), before[path]
    return (
        then
        if (now.st_ino, now.st_mtime_ns, now.st_ctime_ns) == (then.st_ino, then.st_mtime_ns, then.st_ctime_ns)
        else now
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 120 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120k", "tmpfs", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("this user cannot mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_loses_nothing(
    spark: "SparkSession", archive: list[str], undisturbed: dict[str, bytes], small_disk: Path
) -> None:
    """The disk of the output is full before all is read; with room on it the same command ends with the same bytes."""
    with pytest.raises((JobError, OutputError), match=r"[Nn]o space"):
        extract(spark, archive, small_disk / "out")
    assert not (small_disk / "out" / RUN_FILE).exists()
    subprocess.run(["mount", "-o", "remount,size=1g", str(small_disk)], check=True)
    extract(spark, archive, small_disk / "out")

    assert undisturbed == tables_below(small_disk / "out")
