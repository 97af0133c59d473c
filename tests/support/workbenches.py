"""A workbench on loopback ports of its own."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.free_ports import free_ports

REPOSITORY = Path(__file__).parents[2]


@dataclass
class Served:
    """A process that serves a store. It can be killed, and started again on the same ports."""

    store: str
    port: int
    replay_port: int
    process: "subprocess.Popen[str] | None" = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts it, and comes back when it listens."""
        ports = ["--port", str(self.port), "--replay-port", str(self.replay_port)]
        command = [sys.executable, "-m", "dbce_spark.commands.cli", "annotate", "serve", self.store, *ports]
        self.process = subprocess.Popen(
            command, env=os.environ | {"PYTHONPATH": str(REPOSITORY)}, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert re.match(re.escape(self.address), self.process.stdout.readline())

    def kill(self) -> None:
        """Ends it as a power cut does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def served(store: str) -> Iterator[Served]:
    """A process that serves a store, ended with the block."""
    port, replay_port = free_ports(2)
    one = Served(store, port, replay_port)
    one.start()
    try:
        yield one
    finally:
        one.kill()
