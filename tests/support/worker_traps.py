"""Traps for the Python workers of a cluster under test: `spark.python.daemon.module` names this module there.

It is Spark's own daemon, whose workers set the traps that the environment names before they take their first task.
"""

import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pyspark import daemon

STOP_IN = "DBCE_TRAP_STOP_IN"
"""Stages of the job, joined by commas: the first worker that has results in one stops, as by SIGSTOP, and leaves its id
in a file of that name ..."""
STOPPED_AT = "DBCE_TRAP_STOPPED_AT"
"""... in this folder."""
DEADLY = "DBCE_TRAP_DEADLY"
"""How the URL of a record ends that kills whatever process parses it."""

_BATCHES = {
    "originals": ("revisit_rows", "revisits_from"),
    "revisits": ("capture_rows", "revisited_batch"),
    "crosses": ("cross_rows", "bucket_crosses_batch"),
    "evidence": ("evidence_rows", "evidence_batch"),
    "annotations": ("annotation_rows", "annotations_batch"),
}
"""What makes the results that Spark writes itself, or is half of it; those of other stages go into files that the
workers write."""

_spark_worker = daemon.worker


def stop_once(file: Path) -> None:
    """Stops this process until somebody ends it or lets it go on; but only the first that comes here."""
    if file.exists():
        return
    own = file.with_name(f"{file.name}.{os.getpid()}")
    own.write_text(str(os.getpid()))
    with suppress(FileExistsError):
        os.link(own, file)  # whoever sees the file sees all that is in it, and only one can make it
        os.kill(os.getpid(), signal.SIGSTOP)


def _set_stop(stages: Sequence[str], folder: Path) -> None:
    from pyspark import TaskContext

    from dbce_spark.files import parquet
    from dbce_spark.spark.run.progress import STAGE_PROPERTY

    def trapped(work: Callable[..., Any]) -> Callable[..., Any]:
        def then_stop(*arguments: Any, **named: Any) -> Any:
            done = work(*arguments, **named)
            task = TaskContext.get()
            stage = task and task.getLocalProperty(STAGE_PROPERTY)
            if stage and stage in stages:
                stop_once(folder / stage)
            return done

        return then_stop

    batches = [_BATCHES[stage] for stage in stages if stage in _BATCHES]
    targets: set[tuple[Any, str]] = {
        (import_module(f"dbce_spark.output.schemas.{module}"), name) for module, name in batches
    }
    if len(batches) < len(stages):
        targets.add((parquet.ParquetWriter, "write"))
    for owner, name in targets:
        setattr(owner, name, trapped(getattr(owner, name)))


def _set_deadly(ending: str) -> None:
    """Instead of parsing such a page, a process is killed, as the kernel does when memory is short."""
    from dbce_spark.archive.warc import Fetch
    from dbce_spark.config import DbceConfig
    from dbce_spark.dbce import pages
    from dbce_spark.model import Page, Reject
    from dbce_spark.spark.engine import sandbox

    def parse_fetch(one: Fetch, config: DbceConfig) -> Page | Reject:
        if one.capture.url.endswith(ending):
            os.kill(os.getpid(), signal.SIGKILL)
        return pages.parse_fetch(one, config)

    def parsed_pages(lot: Sequence[Fetch], config: DbceConfig, _: pages.KeepHtml) -> list[Page | Reject]:
        return [parse_fetch(one, config) for one in lot]

    vars(sandbox).update(parse_fetch=parse_fetch, parsed_pages=parsed_pages)


@cache
def _set_traps() -> None:
    if stages := os.environ.get(STOP_IN):
        _set_stop(stages.split(","), Path(os.environ[STOPPED_AT]))
    if ending := os.environ.get(DEADLY):
        _set_deadly(ending)


def worker(sock: socket.socket, authenticated: bool) -> int:
    """A forked worker. Only here: what the traps import starts threads, which do not outlive a fork."""
    _set_traps()
    return _spark_worker(sock, authenticated)


if __name__ == "__main__":
    vars(daemon).update(worker=worker)
    daemon.manager()
