"""Input and output in a real object store, and a run that is killed while it writes there."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import fsspec
import pytest

from benchmarks.samples import write_archive
from dbce_spark.output.collection import RUN_FILE
from dbce_spark.spark.run import staging
from tests.support import bucket, swift
from tests.support.run_endings import kill_at

pytestmark = [pytest.mark.spark, pytest.mark.swift]

ROOT = Path(__file__).parents[2]
SETTINGS = ("label.by=T002", "language.detect=false", "output.site_parts=3")
INPUT, OUTPUT = "s3://crawl/2024", "s3://extracted/out"
PATIENCE = 600


@dataclass(frozen=True)
class Store:
    """The store, by the environment that leads to it, and a folder for what commands say."""

    environment: Mapping[str, str]
    logs: Path

    def extract(self, name: str, output: str, *options: str) -> "subprocess.Popen[bytes]":
        """`dbce extract` of what lies in the store, in processes of its own."""
        settings = [text for setting in SETTINGS for text in ("--set", setting)]
        with (self.logs / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [
                    *(sys.executable, "-m", "dbce_spark.commands.cli", "extract", INPUT, "--output", output),
                    *("--master", "local[1]", *settings, *options),
                ],
                env={**os.environ, **self.environment, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def log_bytes(self) -> bytes:
        return b"".join(one.read_bytes() for one in sorted(self.logs.iterdir()))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A Swift with three archives of some fifty captures each."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    folder = tmp_path_factory.mktemp("archive")
    write_archive(folder, pages=30, seed=5)
    try:
        with swift.server(tmp_path_factory.mktemp("swift")) as environment, pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            storage = fsspec.filesystem("s3", skip_instance_cache=True)
            for url in (INPUT, OUTPUT):
                storage.mkdir(url.removeprefix("s3://").partition("/")[0])
            for archive in folder.glob("*.warc.gz"):
                storage.put_file(str(archive), f"{INPUT}/{archive.name}")
            yield Store(environment, tmp_path_factory.mktemp("logs"))
    except swift.Unavailable as error:
        pytest.skip(str(error))


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_an_output_in_a_store_is_that_of_a_folder(store: Store, tmp_path: Path) -> None:
    """Killed while it writes its tables, it shows whole objects and nothing that says it is finished; the same command
    then ends it. All Parquet is that of a run into a folder, and no secret is in what was staged, written or said."""
    folder, work = tmp_path / "folder", tmp_path / "work"
    assert 0 == store.extract("folder", str(folder)).wait(PATIENCE), store.log_bytes().decode()
    undisturbed = files_below(folder)
    where = ("--staging", str(work))
    kill_at(Path(staging.done(str(work), "extractions", 0)), store.extract("killed", OUTPUT, *where), PATIENCE)
    begun, staged = bucket.objects_below(OUTPUT), files_below(work)
    assert 0 == store.extract("again", OUTPUT, *where).wait(PATIENCE), store.log_bytes().decode()
    finished = bucket.objects_below(OUTPUT)

    assert begun
    assert begun.items() <= undisturbed.items()
    assert b"goes on with an unfinished run: 3 of 3 files read" in store.log_bytes()
    assert {*undisturbed} == {*finished}
    assert {name for name in finished if not name.endswith(".parquet")} == {RUN_FILE}
    assert all(finished[name] == whole for name, whole in undisturbed.items() if name.endswith(".parquet"))
    assert {} == files_below(work)
    assert f"{staging.FOLDER}/{staging.PLAN}" in staged
    secret = swift.SECRET.encode()
    assert [] == [
        name for name, content in {**finished, **staged, "log": store.log_bytes()}.items() if secret in content
    ]
