"""A standalone Spark cluster of real processes: a master, two workers and drivers, which can be hurt.

Each host is a network namespace of its own where that can be had (root and iproute2 on Linux): only there can every
host have its shuffle service, whose port is the same on all, and only there can a link be cut. Elsewhere hosts are
addresses of the loopback.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pyspark

from tests.support.free_ports import free_port
from tests.support.worker_traps import STOPPED_AT

ROOT = Path(__file__).parents[2]
SPARK_BIN = Path(pyspark.__file__).parent / "bin"
PATIENCE = 600
"""Seconds for anything that takes 10 to 60 on two free cores."""
NETWORK_TIMEOUT = 20
"""Seconds after which a host that does not answer is lost: 120 by default, which only makes tests longer."""

SMALL_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Settings of Spark for runs over few rows: to compile a plan takes longer than to walk it for these."""
SMALL_PLANS = {"spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.enabled": "false", **INTERPRETED}
"""Settings of Spark for runs of many stages over few rows."""
_SETTINGS = {
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "600m",
    "spark.driver.memory": "600m",
    "spark.executor.extraJavaOptions": SMALL_JAVA,
    "spark.driver.extraJavaOptions": SMALL_JAVA,
    **SMALL_PLANS,
    # A run over few captures has fewer stages.
    "spark.dbce.fewCaptures": "0",
    "spark.ui.enabled": "false",
    "spark.network.timeout": f"{NETWORK_TIMEOUT}s",
    "spark.network.timeoutInterval": "5s",
    "spark.executor.heartbeatInterval": "4s",
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "1s",
    "spark.python.daemon.module": "tests.support.worker_traps",
}


@dataclass(frozen=True)
class Host:
    """A place for processes. `inside` begins a command that is to run there; `link` joins it to the master's host."""

    address: str
    inside: tuple[str, ...] = ()
    link: str = ""


@dataclass(frozen=True)
class Network:
    master: Host
    workers: tuple[Host, ...]

    @property
    def is_apart(self) -> bool:
        """Return whether its hosts are apart, so that links between them can be cut."""
        return bool(self.master.inside)

    def cut(self, host: Host) -> None:
        self._set(host, "down")

    def mend(self) -> None:
        for host in self.workers if self.is_apart else ():
            self._set(host, "up")

    def _set(self, host: Host, state: str) -> None:
        subprocess.run([*self.master.inside, "ip", "link", "set", host.link, state], check=True)


@contextmanager
def network(workers: int = 2) -> Iterator[Network]:
    """A host and its workers', in namespaces if this user can make them. What is in them goes with them."""
    names = [f"dbce{os.getpid()}-{at}" for at in range(workers + 1)]
    try:
        try:
            made = _namespaces(names)
        except (OSError, subprocess.CalledProcessError):
            made = Network(Host("127.0.0.1"), tuple(Host(f"127.0.0.{2 + at}") for at in range(workers)))
        yield made
    finally:
        for name in names:
            with suppress(OSError):
                subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)


def _namespaces(names: Sequence[str]) -> Network:
    """A bridge in the master's namespace, and a cable from it to each of the workers'."""
    master, *workers = names
    hosts = []
    for name in names:
        _ip(f"netns add {name}")
        _ip(f"-n {name} link set lo up")
    _ip(f"-n {master} link add bridge type bridge")
    _ip(f"-n {master} address add 10.77.0.1/24 dev bridge")
    _ip(f"-n {master} link set bridge up")
    for at, name in enumerate(workers, 1):
        link, address = f"to{at}", f"10.77.0.{10 + at}"
        _ip(f"-n {master} link add {link} type veth peer name eth0 netns {name}")
        _ip(f"-n {master} link set {link} master bridge up")
        _ip(f"-n {name} address add {address}/24 dev eth0")
        _ip(f"-n {name} link set eth0 up")
        hosts.append(Host(address, ("ip", "netns", "exec", name), link))
    return Network(Host("10.77.0.1", ("ip", "netns", "exec", master)), tuple(hosts))


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True, stderr=subprocess.DEVNULL)


@dataclass
class Run:
    """A driver at work. `log` is all that it wrote; workers that a trap has stopped stand in files of `stopped`."""

    process: subprocess.Popen[bytes]
    log: Path
    stopped: Path

    def stopped_in(self, stage: str) -> psutil.Process:
        """The Python worker that a trap has stopped in this stage."""
        self.wait_for((self.stopped / stage).exists)
        return psutil.Process(int((self.stopped / stage).read_text()))

    def log_text(self) -> str:
        return self.log.read_text(errors="replace")

    def has_ended(self, stage: str) -> bool:
        return f"\n{stage}: " in self.log_text()

    def status(self) -> int:
        """Its exit status, when it has ended."""
        return self.process.wait(timeout=PATIENCE)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Fails if the driver ends before."""
        wait_for(lambda: condition() or self.process.poll() is not None)
        assert condition(), self.log_text()


@dataclass
class Cluster:
    """The daemons, and how to submit the job to them. `folder` holds their logs and what they write."""

    network: Network
    folder: Path
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _runs: list[Run] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"spark://{self.network.master.address}:{self._port}"

    def start(self) -> None:
        master = self.network.master
        self._port, self._web_port = (7077, 8080) if self.network.is_apart else (free_port(), free_port())
        ports = ["--port", str(self._port), "--webui-port", str(self._web_port)]
        self._start(master, "org.apache.spark.deploy.master.Master", *ports)
        assert wait_for(lambda: bool(self.state())), "the master does not answer"
        self.heal()

    def heal(self) -> None:
        """Mends links, starts workers that are gone, and waits until all are there."""
        self.network.mend()
        for host in self.network.workers:
            daemon = self.daemons.get(host.address)
            if daemon is not None and daemon.poll() is None:
                continue
            details = ["--cores", "1", "--memory", "1g", "--webui-port", "0"]
            work = ["--work-dir", str(self.folder / host.address), self.url]
            self._start(host, "org.apache.spark.deploy.worker.Worker", *details, *work)
        assert wait_for(lambda: self.state().get("aliveworkers") == len(self.network.workers)), self.state()

    def worker_of(self, process: psutil.Process) -> Host:
        """The host on which a process runs that belongs to an executor."""
        above = {one.pid for one in process.parents()}
        return next(host for host in self.network.workers if self.daemons[host.address].pid in above)

    def stop(self) -> None:
        for started in (*(run.process for run in self._runs), *self.daemons.values()):
            kill_all(started)

    def submit(self, arguments: Sequence[str], folder: Path, traps: Mapping[str, str], job: str = "extract") -> Run:
        """One of jobs/ on this cluster, as spark-submit runs it. The folder takes what it tells."""
        master = self.network.master
        stopped = folder / "stopped"
        stopped.mkdir(parents=True)
        own = {
            "spark.driver.host": master.address,
            "spark.driver.bindAddress": master.address,
            "spark.shuffle.service.enabled": str(self.network.is_apart).lower(),
            **{f"spark.executorEnv.{name}": value for name, value in traps.items()},
            f"spark.executorEnv.{STOPPED_AT}": str(stopped),
        }
        settings = [word for name, value in (_SETTINGS | own).items() for word in ("--conf", f"{name}={value}")]
        script = str(ROOT / f"jobs/{job}.py")
        command = [str(SPARK_BIN / "spark-submit"), "--master", self.url, *settings, script, *arguments]
        log = folder / "driver.log"
        run = Run(_popen(master, command, log, self._environment(master)), log, stopped)
        self._runs.append(run)
        return run

    def state(self) -> dict[str, Any]:
        """Return the master's own account; empty while it does not answer."""
        url = f"http://{self.network.master.address}:{self._web_port}/json/"
        ask = (
            "import sys, urllib.request; sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1], timeout=5).read())"
        )
        command = [*self.network.master.inside, sys.executable, "-c", ask, url]
        done = subprocess.run(command, capture_output=True, check=False)
        found: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
        return found

    def _start(self, host: Host, name: str, *arguments: str) -> None:
        command = [str(SPARK_BIN / "spark-class"), name, "--host", host.address, *arguments]
        log = self.folder / f"{host.address}.log"
        self.daemons[host.address] = _popen(host, command, log, self._environment(host))

    def _environment(self, host: Host) -> dict[str, str]:
        from dbce_spark.spark.engine.java import java_home

        return {
            **os.environ,
            "JAVA_HOME": java_home(),
            "PYTHONPATH": str(ROOT),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_CONF_DIR": str(ROOT / "conf"),
            "SPARK_DAEMON_JAVA_OPTS": f"{SMALL_JAVA} -Dspark.worker.timeout={NETWORK_TIMEOUT}",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self.folder / f"{host.address}-shuffles"),
            "SPARK_LOCAL_HOSTNAME": host.address,
            "SPARK_LOCAL_IP": host.address,
            "SPARK_WORKER_OPTS": f"-Dspark.shuffle.service.enabled={str(self.network.is_apart).lower()}",
        }


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    with network() as hosts:
        made = Cluster(hosts, folder)
        try:
            made.start()
            yield made
        finally:
            made.stop()


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and all below it at once, without a word."""
    below: list[psutil.Process] = []
    with suppress(psutil.NoSuchProcess):
        below = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    for child in below:
        with suppress(psutil.NoSuchProcess):
            child.kill()
    process.wait()


def wait_for(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.2)
    return False


def _popen(host: Host, command: Sequence[str], log: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("ab") as stream:
        return subprocess.Popen(
            [*host.inside, *command], env=env, cwd=log.parent, stdout=stream, stderr=subprocess.STDOUT
        )
