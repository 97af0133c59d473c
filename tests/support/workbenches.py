"""A workbench on loopback ports of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from dbce_spark import config
from dbce_spark.annotation.store.workbench_settings import settings
from dbce_spark.annotation.web import workbench_server
from tests.support.fork_server import forks
from tests.support.free_ports import free_ports


@dataclass
class Served:
    """A process that serves a store. It can be killed, and started again on the same ports."""

    store: str
    port: int
    replay_port: int
    process: BaseProcess | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts it, and comes back when it listens."""
        near_end, far_end = forks().Pipe()
        self.process = forks().Process(target=_serve, args=(self.store, self.port, self.replay_port, far_end))
        self.process.start()
        far_end.close()
        assert near_end.recv().startswith(self.address)  # EOFError: it has ended
        near_end.close()

    def kill(self) -> None:
        """Ends it as a power cut does."""
        assert self.process is not None
        self.process.kill()
        self.process.join()
        self.process.close()


def _serve(store: str, port: int, replay_port: int, listens: Connection) -> None:
    """Serve a store as `dbce annotate serve` does."""
    given = settings({"port": port, "replay_port": replay_port})
    workbench_server.serve(store, given, config.default(), listens.send)


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
