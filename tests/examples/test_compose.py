"""Checks of the containers without an engine: schema, linters, and the commands of their services."""

import gzip
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.__main__ import main
from tests.support.cluster import Host
from tests.support.containers import engine, interpolated
from tests.support.event_logs import logged

REPOSITORY = Path(__file__).parents[2]
COMPOSE = REPOSITORY / "docker-compose.yml"
BIN = Path(sys.executable).parent


PUBLIC = "1.1.1.1"
"""The address of a newsroom within a network of its own: the service asks no private one."""
NEWS = f"""
import sys, time
from tests.support.newsroom import item, newsroom

with newsroom({PUBLIC!r}) as room:
    room.article("/harbour", "The harbour opens again on Sunday")
    print(room.publish("/rss", item(room.url + "/harbour", "Harbour")), flush=True)
    sys.stdin.read()
"""


def services(variables: Mapping[str, str] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(interpolated(COMPOSE.read_text(), variables or {}))["services"]
    return found


def run(tool: str, *arguments: str) -> tuple[int, str]:
    """Run a tool that was installed beside this Python; return its exit code and all output."""
    done = subprocess.run([BIN / tool, *arguments], capture_output=True, text=True, cwd=REPOSITORY, check=False)
    return done.returncode, done.stdout + done.stderr


def test_compose_file_follows_the_specification() -> None:
    """The compose file is valid by the specification's own schema."""
    code, printed = run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", COMPOSE.name)

    assert code == 0, printed


def test_compose_file_is_clean_yaml() -> None:
    """yamllint finds nothing in the compose file."""
    rules = "{extends: default, rules: {line-length: {max: 120}}}"

    assert run("yamllint", "--strict", "-d", rules, COMPOSE.name) == (0, "")


def test_dockerfile_is_clean() -> None:
    """hadolint finds nothing in the Dockerfile."""
    assert run("hadolint", "Dockerfile") == (0, "")


def test_dockerfile_copies_what_exists() -> None:
    """All that the Dockerfile copies is there, and .dockerignore lets it through."""
    lines = (REPOSITORY / "Dockerfile").read_text().splitlines()
    words = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
    copied = {word for word in words if not word.startswith("--")}
    let_through = {line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line.startswith("!")}

    assert {source for source in copied if not (REPOSITORY / source).exists()} == set()
    assert {source for source in copied if source.split("/")[0] not in {".", *let_through}} == set()


def test_image_of_the_tests_has_all_files_of_the_project() -> None:
    """.dockerignore lets through whatever git has: tests look at all of it."""
    tracked = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a checkout")
    names = {line.split("/")[0] for line in tracked.stdout.splitlines()}
    let_through = {line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line.startswith("!")}

    assert names == let_through


def test_image_has_the_extras_that_its_services_need() -> None:
    """It has the extras for feeds, streams and inputs in object stores."""
    lines = (REPOSITORY / "Dockerfile").read_text().splitlines()

    assert any("/opt/dbce[acquire,s3,stream]" in line for line in lines)


def test_each_service_is_built_to_a_stage_of_the_dockerfile() -> None:
    """And a plain `docker build` makes the image of the cluster."""
    lines = (REPOSITORY / "Dockerfile").read_text().splitlines()
    stages = [line.split()[-1] for line in lines if line.startswith("FROM ")]

    assert {service["build"]["target"] for service in services().values()} == {"dbce", "test"}
    assert {"dbce", "test"} < set(stages)
    assert "dbce" == stages[-1]


def test_a_service_waits_until_what_it_needs_is_healthy() -> None:
    """Each service that another depends on has a health check, and the other waits for it."""
    waits = {
        (name, needed): condition["condition"]
        for name, service in services().items()
        for needed, condition in service.get("depends_on", {}).items()
    }
    workers = ("worker-1", "worker-2")

    of_jobs = {(job, name) for job in ("submit", "stream") for name in workers}
    assert {(name, "master") for name in workers} | of_jobs == set(waits)
    assert set(waits.values()) == {"service_healthy"}
    assert all("healthcheck" in services()[needed] for _, needed in waits)


@pytest.mark.parametrize("service", ["submit", "stream"])
def test_the_submitted_job_exists(service: str) -> None:
    """The job that a service submits is in the image."""
    job = next(word for word in shlex.split(services()[service]["command"]) if word.endswith(".py"))

    assert (REPOSITORY / job.removeprefix("/opt/dbce/")).is_file()


@pytest.mark.spark
def test_every_service_does_its_work(tmp_path: Path) -> None:
    """The commands of all services run as they stand in the file, each in a network of its own and with its volumes:
    feeds are fetched, the local service extracts, the tests pass, the workers join the master, the submitted job
    extracts what is in /archives, the stream labels that and what was fetched, and the history server shows the run."""
    archives, feeds, local = tmp_path / "archives", tmp_path / "feeds.txt", tmp_path / "extracted-locally"
    main(["sample-archive", str(archives), "--pages", "20"])
    feeds.touch()
    local.mkdir()
    given = {"ARCHIVES": str(archives), "FEEDS": str(feeds), "OUTPUT": str(local)}
    made = services({**given, "PYTEST_ARGS": "tests/files/test_timestamps.py --numprocesses 0"})
    with engine(made, tmp_path) as started:
        if started is None:
            pytest.skip("containers without an engine need network namespaces: root and iproute2 on Linux")
        acquired, output = started.volume("acquired"), started.volume("output")
        # What waits for nothing of the others works beside them.
        with news(started.hosts["acquire"], feeds):
            started.up("acquire", "local", "test")
            started.up("submit")
            # Its own line of progress comes every half a minute.
            started.wait_until("acquire", lambda: any((acquired / "state/open").glob("*.warc.gz")))
            assert 0 == started.stop("acquire"), started.log_text("acquire")
        assert ", 1 page" in started.log_text("acquire")
        (fetched,) = (acquired / "archives").glob("*.warc.gz")
        assert b"The harbour opens again" in gzip.decompress(fetched.read_bytes())
        for name in ("test", "local", "submit"):
            assert 0 == started.status(name), started.log_text(name)
        started.up("stream")  # with the cores to itself: Spark waits for a Python worker for some seconds only
        assert " passed" in started.log_text("test")
        assert extracted(local) > 0
        assert extracted(output) > 0
        events = started.volume("events")
        assert {started.hosts[name].address for name in ("worker-1", "worker-2")} == executors_of(events)
        started.up("history")
        url = "http://localhost:18080/api/v1/applications"
        (shown,) = json.loads(started.output_of("history", asking(url)))
        assert ("extract.py", True) == (shown["name"], shown["attempts"][0]["completed"])
        jobs = json.loads(started.output_of("history", asking(f"{url}/{shown['id']}/jobs")))
        assert {"SUCCEEDED"} == {job["status"] for job in jobs}
        assert "dbce: pages" in {job["description"] for job in jobs} <= {f"dbce: {name}" for name in stages(output)}
        commit = output / "streamed/commits/00000000.json"
        started.wait_until("stream", commit.exists)
        totals = json.loads(commit.read_text())["totals"]
        assert totals["labels"] > 0
        assert totals["files"] == len([*archives.rglob("*.warc*")]) + 1


@contextmanager
def news(host: Host, feeds: Path) -> Iterator[None]:
    """A newsroom on a host, at a public address that only this host has; the file takes the URL of its feed."""
    subprocess.run([*host.inside, "ip", "address", "add", f"{PUBLIC}/32", "dev", "lo"], check=True)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [*host.inside, sys.executable, "-c", NEWS]
    # It ends when its input does: with the block.
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as room:
        assert room.stdout
        feeds.write_text(room.stdout.readline())
        yield


def extracted(output: Path) -> int:
    """The captures that a run has compared with others."""
    crossed: int = json.loads((output / "extracted/run.json").read_text())["crossed"]
    return crossed


def stages(output: Path) -> set[str]:
    """The stages of a run."""
    return {*json.loads((output / "extracted/run.json").read_text())["seconds"]}


def executors_of(events: Path) -> set[str]:
    """Read from the event log of a run the hosts that it had executors on."""
    return {one["Executor Info"]["Host"] for one in logged(events) if one["Event"] == "SparkListenerExecutorAdded"}


def asking(url: str) -> list[str]:
    return [
        "python",
        "-c",
        "import sys; from urllib.request import urlopen; print(urlopen(sys.argv[1]).read().decode())",
        url,
    ]
