"""The services of docker-compose.yml as processes on this machine: what an engine would give each, from what Linux has.

A service runs in a network of its own, joined to the others', under its own host name, in a file system that has at the
image's places what the Dockerfile puts there: programs in /usr/local/bin, the project in /opt/dbce, and its volumes. So
its command runs as it is written. What is not as in a container: the user is root, and the system below is this one's.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.support.cluster import PATIENCE, SMALL_JAVA, Host, Network, kill_all, network, wait_for

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PROGRAMS = ("dbce", "python", "spark-class", "spark-submit")
_MADE = ("acquired", "archives", "events", "feeds.txt", "opt", "output", "work")
"""What the image has in /: made anew, folders with what this machine has in them beside it."""
_FOLDERS = {"dbce": "/output", "test": "/opt/dbce"}
"""Where the commands of an image begin: WORKDIR of its stage of the Dockerfile."""

_ENTER = """
set -eu
root=$1 name=$2
shift 2
hostname "$name"
mount --make-rprivate /
mount --bind "$root" "$root"
while read -r entry; do mount --rbind "$entry" "$root$entry"; done <"$root/bound"
mount --bind "$root/programs" "$root/usr/local/bin"
mount --bind "$root/hosts" "$root/etc/hosts"
while read -r source target; do mount --bind "$source" "$root$target"; done <"$root/volumes"
cd "$root"
exec chroot "$root" /bin/sh -c 'cd "$(cat /folder)" && exec "$@"' sh "$@"
"""
"""Lays out a file system in a mount namespace of its own, which goes with its last process; runs a command there."""


def image_environment() -> dict[str, str]:
    """Read the environment that the Dockerfile sets."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.removeprefix("ENV ") for line in text.splitlines() if line.startswith("ENV ")]
    return dict(word.split("=", 1) for line in lines for word in shlex.split(line))


def interpolated(text: str, variables: Mapping[str, str]) -> str:
    """A compose file as an engine reads it: ${NAME:-what stands where NAME is not set}."""
    return re.sub(r"\$\{(\w+):-([^}]*)\}", lambda one: variables.get(one[1]) or one[2], text)


@dataclass
class Engine:
    """Runs services of a compose file. `folder` holds a root, and a log, of each, and the volumes that have a name."""

    services: Mapping[str, Any]
    hosts: Mapping[str, Host]
    folder: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def up(self, *names: str) -> None:
        """Starts services side by side, and before them what they depend on, and waits until they are healthy."""
        new = [name for name in names if name not in self.running]
        needed = {one: None for name in new for one in self.services[name].get("depends_on", {})}
        if needed:
            self.up(*needed)
        for name in new:
            self.running[name] = self._start(name, shlex.split(self.services[name]["command"]), self.log(name))
        for name in new:
            if "healthcheck" in self.services[name]:
                self.wait_until(name, partial(self.is_healthy, name))

    def wait_until(self, name: str, condition: Callable[[], bool]) -> None:
        """Waits for what a service does; fails if the service ends before."""
        wait_for(lambda: condition() or self._has_ended(name))
        assert condition(), self.log_text(name)

    def volume(self, name: str) -> Path:
        """Return the folder on this machine of a volume that has a name."""
        return self.folder / "volumes" / name

    def is_healthy(self, name: str) -> bool:
        """Return whether a service passes its own check, run where it runs."""
        _, *command = self.services[name]["healthcheck"]["test"]
        return self._start(name, command, self.folder / f"{name}-check.log").wait() == 0

    def status(self, name: str) -> int:
        """Exit status of a service that ends by itself: the whole of a run, not only a start."""
        return self.running[name].wait(timeout=3 * PATIENCE)

    def stop(self, name: str) -> int:
        """Ends a service as `docker stop` does; returns its exit status."""
        self.running[name].send_signal(signal.SIGTERM)
        return self.running[name].wait(timeout=PATIENCE)

    def output_of(self, name: str, command: list[str]) -> str:
        """Return the output of a command that is run beside a service."""
        log = self.folder / f"{name}-command.log"
        log.unlink(missing_ok=True)
        assert self._start(name, command, log).wait() == 0, log.read_text(errors="replace")
        return log.read_text()

    def down(self) -> None:
        for process in self.running.values():
            kill_all(process)

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def log_text(self, name: str) -> str:
        return self.log(name).read_text(errors="replace")

    def _has_ended(self, name: str) -> bool:
        return self.running[name].poll() is not None

    def _start(self, name: str, command: list[str], log: Path) -> subprocess.Popen[bytes]:
        enter = ["unshare", "--mount", "--uts", "sh", "-c", _ENTER, "enter", str(self._root(name)), name, *command]
        with log.open("ab") as stream:
            return subprocess.Popen(
                [*self.hosts[name].inside, *enter],
                env=self._environment(name),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
            )

    def _root(self, name: str) -> Path:
        """The folder over which the service's file system is laid, with lists of what is to be mounted there."""
        root = self.folder / name
        if root.exists():
            return root
        root.mkdir()
        (root / "bound").write_text("".join(f"{folder}\n" for folder in _mirrored(root)))
        _write_programs(root / "programs")
        lines = "".join(f"{host.address} {service}\n" for service, host in self.hosts.items())
        (root / "hosts").write_text(f"127.0.0.1 localhost\n{lines}")
        begins = _FOLDERS[self.services[name]["build"]["target"]]
        (root / "folder").write_text(begins)
        (root / begins.removeprefix("/")).mkdir(parents=True, exist_ok=True)
        volumes = {**self._volumes(name), "/opt/dbce": ROOT}
        for target, source in volumes.items():
            place = root / target.removeprefix("/")
            place.touch() if source.is_file() else place.mkdir(parents=True, exist_ok=True)
        (root / "volumes").write_text("".join(f"{source} {target}\n" for target, source in volumes.items()))
        return root

    def _volumes(self, name: str) -> dict[str, Path]:
        """Return what a service sees of this machine, by the paths under which it does."""
        found = {}
        for one in self.services[name].get("volumes", ()):
            source, target = (one["source"], one["target"]) if isinstance(one, dict) else one.split(":")[:2]
            found[target] = Path(source) if "/" in source else self.volume(source)
            if "/" not in source:
                found[target].mkdir(parents=True, exist_ok=True)
        return found

    def _environment(self, name: str) -> dict[str, str]:
        from dbce_spark.spark.engine.java import java_home

        return {
            "HOME": os.environ.get("HOME", "/"),
            "JAVA_HOME": java_home(),
            # `dbce` gives its own Java such options, and two collectors are one too many.
            "JDK_JAVA_OPTIONS": "" if self.services[name]["command"].startswith("dbce") else SMALL_JAVA,
            "LANG": "C.UTF-8",
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "PYTHONPATH": "/opt/dbce",
            # An executor on each worker: without a limit a run starts one on every core.
            "SPARK_MASTER_OPTS": "-Dspark.deploy.defaultCores=2",
            **image_environment(),
            **self.services[name].get("environment", {}),
        }


def _mirrored(root: Path) -> list[Path]:
    """Make places in a root for all that this machine has in its own, but for what the image has; return the folders
    that are to be mounted there."""
    bound = [
        *(entry for entry in Path("/").iterdir() if entry.name not in _MADE),
        *(inner for name in _MADE for inner in Path("/", name).glob("*")),
    ]
    for entry in bound:
        place = root / entry.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if entry.is_symlink():
            place.symlink_to(entry.readlink())
        elif entry.is_dir():
            place.mkdir()
    return [entry for entry in bound if entry.is_dir() and not entry.is_symlink()]


def _write_programs(folder: Path) -> None:
    folder.mkdir()
    for program in PROGRAMS:
        script = folder / program
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(str(BIN / program))} "$@"\n')
        script.chmod(0o755)


@contextmanager
def engine(services: Mapping[str, Any], folder: Path) -> Iterator[Engine | None]:
    """An engine whose services have hosts of their own, until the block ends; None where this user cannot make them."""
    with network(len(services) - 1) as hosts:
        if not hosts.is_apart:
            yield None
            return
        made = Engine(services, dict(zip(services, addresses(hosts), strict=True)), folder)
        try:
            yield made
        finally:
            made.down()


def addresses(hosts: Network) -> list[Host]:
    return [hosts.master, *hosts.workers]
