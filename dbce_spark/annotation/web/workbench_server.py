"""Serve the workbench as one process: waitress on two ports, one for people, one for archived pages."""

import logging
import socket
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

import waitress

from dbce_spark.annotation.store import tutorial, workbench_store
from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings
from dbce_spark.annotation.web import replay, workbench_app
from dbce_spark.config import DbceConfig
from dbce_spark.errors import PlatformError

_CONNECTIONS = 800
_IDLE_SECONDS = 15
"""Connections at once, of 100 by default, and the seconds after which one that says nothing is closed, of 120: half
open ones took the login page away from everybody."""


def serve(path: str, settings: WorkbenchSettings, config: DbceConfig, ready: Callable[[str], None]) -> None:
    """Serve a store until the process is to stop. `ready` is called with the address once it listens.

    Raises:
        InputError: there is no such store.
        PlatformError: a port is taken.
    """
    with closing(workbench_store.open_store(path)) as opened:
        tutorial.add(opened, config, settings.guidelines)
    with _socket(settings.host, settings.replay_port) as for_pages, _socket(settings.host, settings.port) as for_people:
        # It logs every request that waits for another, which with ten annotators is most of them.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        pages = _server(replay.create(path, settings), settings, for_pages)
        people = _server(workbench_app.create(path, settings), settings, for_people)
        try:
            # waitress handles the interrupt and ends well; but not in the moment before it runs.
            with suppress(KeyboardInterrupt):
                ready(f"http://{settings.host}:{settings.port}/")
                threading.Thread(target=pages.run, daemon=True).start()
                people.run()
        finally:
            people.close()
            pages.close()


def _socket(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise PlatformError(f"{host}:{port} cannot be listened on: {error}; choose another port") from error


def _server(application: Any, settings: WorkbenchSettings, listening: socket.socket) -> Any:
    return waitress.create_server(
        application,
        sockets=[listening],
        threads=settings.threads,
        ident="",
        clear_untrusted_proxy_headers=True,
        connection_limit=_CONNECTIONS,
        channel_timeout=_IDLE_SECONDS,
        cleanup_interval=_IDLE_SECONDS // 3,
        asyncore_use_poll=True,  # select ends at 1,024 files
    )
