"""Checks of the containers without an engine: schema, linters, and the commands of their services."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
import zstandard

from benchmarks.__main__ import main
from tests.support.cluster import wait_for
from tests.support.containers import Volumes, engine

REPOSITORY = Path(__file__).parents[2]
COMPOSE = REPOSITORY / "docker-compose.yml"
BIN = Path(sys.executable).parent


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]
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
    copied = {source for line in lines if line.startswith("COPY ") for source in line.split()[1:-1]}
    let_through = {line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line.startswith("!")}

    assert {source for source in copied if not (REPOSITORY / source).exists()} == set()
    assert {source for source in copied if source.split("/")[0] not in let_through} == set()


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
    """The commands of all services run as they stand in the file, each in a network of its own: the workers join the
    master, the submitted job extracts what is in /archives, the stream labels it, and the history server shows the
    run."""
    volumes = Volumes(archives=tmp_path / "archives", output=tmp_path / "output", events=tmp_path / "events")
    for folder in (volumes.output, volumes.events):
        folder.mkdir()
    main(["sample-archive", str(volumes.archives), "--pages", "20"])
    with engine(services(), volumes, tmp_path) as started:
        if started is None:
            pytest.skip("containers without an engine need network namespaces: root and iproute2 on Linux")
        started.up("submit")
        status = started.status("submit")

        assert 0 == status, started.told("submit")
        run = json.loads((volumes.output / "extracted/run.json").read_text())
        assert run["crossed"] > 0
        assert {started.hosts[name].address for name in ("worker-1", "worker-2")} == executors_of(volumes.events)
        started.up("stream")
        assert wait_for((volumes.output / "streamed/commits/00000000.json").exists), started.told("stream")
        labelled = json.loads((volumes.output / "streamed/commits/00000000.json").read_text())["totals"]["labels"]
        assert labelled > 0
        started.up("history")
        shown = json.loads(started.output_of("history", asking("http://localhost:18080/api/v1/applications")))
        assert [("extract.py", True)] == [(one["name"], one["attempts"][0]["completed"]) for one in shown]


def executors_of(events: Path) -> set[str]:
    """Read from the event log of a run the hosts that it had executors on."""
    lines = (line for log in events.rglob("events_*") for line in log_lines(log))
    added = (json.loads(line) for line in lines if "SparkListenerExecutorAdded" in line)
    return {one["Executor Info"]["Host"] for one in added}


def log_lines(log: Path) -> list[str]:
    with zstandard.open(log, "rt") as lines:
        return list(lines)


def asking(url: str) -> list[str]:
    return [
        "python",
        "-c",
        "import sys; from urllib.request import urlopen; print(urlopen(sys.argv[1]).read().decode())",
        url,
    ]
