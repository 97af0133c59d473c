"""The containers as far as they can be tried without an engine: schema, linters, and the commands of their services."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import yaml

REPOSITORY = Path(__file__).parents[1]
COMPOSE = REPOSITORY / "docker-compose.yml"
BIN = Path(sys.executable).parent
SECONDS_TO_START = 120
"""A master and a worker take 10 s; two busy cores may need several times that."""


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]
    return found


def run(tool: str, *arguments: str) -> tuple[int, str]:
    """Exit code and all output of a tool that was installed beside this Python."""
    done = subprocess.run([BIN / tool, *arguments], capture_output=True, text=True, cwd=REPOSITORY, check=False)
    return done.returncode, done.stdout + done.stderr


def test_compose_file_follows_the_specification() -> None:
    """The compose file is valid by the specification's own schema."""
    code, told = run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", COMPOSE.name)

    assert code == 0, told


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
    """Whatever a service depends on has a health check, and the service waits for it."""
    waits = {
        (name, needed): condition["condition"]
        for name, service in services().items()
        for needed, condition in service.get("depends_on", {}).items()
    }
    workers = ("worker-1", "worker-2")

    assert {(name, "master") for name in workers} | {("submit", name) for name in workers} == set(waits)
    assert set(waits.values()) == {"service_healthy"}
    assert all("healthcheck" in services()[needed] for _, needed in waits)


def test_the_submitted_job_exists() -> None:
    """What the submit service runs is in the image."""
    job = next(word for word in shlex.split(services()["submit"]["command"]) if word.endswith(".py"))

    assert (REPOSITORY / job.removeprefix("/opt/dbce/")).is_file()


@pytest.mark.spark
def test_a_worker_joins_the_master(tmp_path: Path) -> None:
    """The commands of the master and of a worker, started here under other ports, make a cluster of one worker."""
    ports = {port: str(free_port()) for port in ("7077", "8080", "7078", "8081")}
    master = here(services()["master"]["command"], ports)
    worker = here(services()["worker-1"]["command"], ports)

    with running(master, tmp_path), running(worker, tmp_path):
        url = f"http://127.0.0.1:{ports['8080']}/json/"

        assert wait_for(lambda: told_by(url).get("aliveworkers") == 1), told_by(url)
        assert told_by(f"http://127.0.0.1:{ports['8081']}/json/")["masterurl"] == f"spark://127.0.0.1:{ports['7077']}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def here(command: str, ports: dict[str, str]) -> list[str]:
    """A service's command for this machine: its own program, this address, free ports."""
    for port, free in ports.items():
        command = command.replace(port, free)
    words = [word.replace("spark://master", "spark://127.0.0.1") for word in shlex.split(command)]
    return [str(BIN / words[0]), *("127.0.0.1" if word == "master" else word for word in words[1:])]


@contextmanager
def running(command: list[str], folder: Path) -> Iterator[None]:
    """A command in a process group of its own, which is gone with all its children afterwards."""
    from dbce_spark.spark.java import java_home

    environment = {
        **os.environ,
        "JAVA_HOME": java_home(),
        "SPARK_CONF_DIR": str(REPOSITORY / "conf"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder),
    }
    with (folder / f"{command[1]}.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=20)


def told_by(url: str) -> dict[str, Any]:
    """The JSON that a daemon answers with, empty while it does not."""
    try:
        with urlopen(url, timeout=5) as answer:
            told: dict[str, Any] = json.load(answer)
            return told
    except (URLError, OSError, ValueError):
        return {}


def wait_for(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.5)
    return False
