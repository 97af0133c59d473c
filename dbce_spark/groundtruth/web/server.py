"""The workbench as one process: waitress on two ports, one for people, one for archived pages."""

import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import waitress

from dbce_spark.config import DbceConfig
from dbce_spark.errors import PlatformError
from dbce_spark.groundtruth import store, tutorial
from dbce_spark.groundtruth.settings import Settings
from dbce_spark.groundtruth.web import app, replay


def serve(path: str, settings: Settings, config: DbceConfig, ready: Callable[[str], None]) -> None:
    """Serves a store until the process is told to stop. `ready` is called with the address once it listens.

    Raises:
        InputError: there is no such store.
        PlatformError: a port is taken.
    """
    with closing(store.opened(path)) as opened:
        tutorial.add(opened, config)
    pages = _listening(replay.create(path, settings), settings, settings.replay_port)
    people = _listening(app.create(path, settings), settings, settings.port)
    thread = threading.Thread(target=pages.run, daemon=True)
    thread.start()
    ready(f"http://{settings.host}:{settings.port}/")
    try:
        people.run()
    finally:
        people.close()
        pages.close()


def _listening(application: Any, settings: Settings, port: int) -> Any:
    try:
        return waitress.create_server(
            application,
            host=settings.host,
            port=port,
            threads=settings.threads,
            ident="",
            clear_untrusted_proxy_headers=True,
        )
    except OSError as error:
        raise PlatformError(f"{settings.host}:{port} cannot be listened on: {error}; choose another port") from error
