"""The output of a run before and behind its stages: checked, emptied, swept. Needs no PySpark."""

from pathlib import Path
from typing import Any

from dbce_spark.config import DbceConfig
from dbce_spark.errors import OutputError
from dbce_spark.files import storage
from dbce_spark.files.sources import is_remote
from dbce_spark.log import Log
from dbce_spark.output import output_reader
from dbce_spark.output.collection import (
    CAPTURES,
    DIGESTS,
    DUPLICATES,
    EXTRACTIONS,
    INPUTS,
    MEMBERS,
    PAGES,
    PENDING,
    REJECTS,
    REMARKED,
    RUN_FILE,
    SUPERSEDED,
    Collection,
    check_outside,
)
from dbce_spark.spark.run import checkpoints, heartbeat, plan, run_lock, staging
from dbce_spark.spark.run.run_request import RunRequest

KEPT = (PAGES, MEMBERS, DIGESTS, SUPERSEDED, REMARKED, PENDING, INPUTS)
"""Names of what an increment has beside the tables of an output."""
TABLES = (EXTRACTIONS, DUPLICATES, CAPTURES, REJECTS)


def check(request: RunRequest, config: DbceConfig) -> None:
    """Check that a run may write its output.

    Raises:
        OutputError: the output holds something that may neither be replaced nor continued, or cannot be written, or
            lies where nothing can be staged, or another run is at work there.
    """
    output = request.output
    if is_remote(request.work):
        raise OutputError(
            f"{request.work} is no folder of a file system; give --staging DIR, which this machine and all workers have"
            " mounted"
        )
    if Collection(output).numbers():
        raise OutputError(f"{output} is a collection; `dbce extract ... --collection {output}` extends it")
    # An increment lies in its collection: that may lie in no other.
    for place in (str(Path(output).parents[2]),) if request.is_increment else (output, request.work):
        check_outside(place)
    run_lock.check_free(request.work)
    holds = storage.list_names(output)
    # Names alone prove nothing: who writes a book has a folder of pages, too. Staging alone, without a plan, is of a
    # run that was ended before it began.
    ours = {RUN_FILE, *_tables(request)} if RUN_FILE in holds or _is_begun(request) else set()
    # Looked at first: what holds something else is not replaced, and no other message may promise that.
    if foreign := sorted(holds - ours - {staging.FOLDER}):
        raise OutputError(
            f"{output} holds {foreign[0]}, which no run has written; --overwrite only replaces an output: give another"
            " --output"
        )
    request.goes_on(config)  # raises where a finished output, or another run, is there
    if is_remote(output):
        storage.check_bucket(output)


def _is_begun(request: RunRequest) -> bool:
    """Return whether a run was begun on the output, with whatever plan."""
    path = staging.path(request.work, staging.PLAN)
    if not request.staging:
        return Path(path).exists()
    begun = checkpoints.kept(path, dict[str, Any])  # runs on other outputs may have staged there, too
    return begun is not None and begun.get("output") == request.output


def identify(log: Log, request: RunRequest, config: DbceConfig) -> Log:
    """Give a log the id of its run: that of the run that it goes on with, if it does. Raises as `RunRequest.goes_on`
    does."""
    log.run_id, log.attempt = heartbeat.next_attempt(request.work, goes_on=request.goes_on(config))
    return log


def check_rows(output: str, report: dict[str, Any]) -> None:
    """Check that all parts are there: one that an earlier attempt wrote may be gone.

    Raises:
        OutputError: a table has not the rows that were counted.
    """
    try:
        output_reader.check_rows(output_reader.list_written(output), report)
    except OutputError as error:
        raise OutputError(f"{error}, with --overwrite") from error


def finish(request: RunRequest, log: Log, report: dict[str, Any]) -> None:
    """Write run.json, by which an output is finished, and remove what was staged. Raises as `check_rows` does."""
    output = request.output.rstrip("/")
    check_rows(output, report)
    storage.write_json(f"{output}/{RUN_FILE}", report)
    staging.remove(request.work)
    log_rejects(log, report)


def log_rejects(log: Log, report: dict[str, Any]) -> None:
    """Log the rejects of a run by reason, from its run.json."""
    counts = ", ".join(f"{count:,} {reason}" for reason, count in report["rejects"].items())
    figures = {name: report[name] for name in ("records_read", "rejects", "skipped")}
    log.write("rejects", f"rejects: {counts or 'none'}", figures)


def begin(request: RunRequest, config: DbceConfig) -> None:
    """Note the plan, and remove what lies at the output.

    The plan is the first to be there: if the run is ended in the midst of this, the output is still known as that of a
    run, which removes the rest when it goes on.
    """
    storage.write(staging.path(request.work, staging.BROKEN), staging.path(request.work, "").encode())
    plan.save(request.plan(config), request.work)
    Path(staging.path(request.work, staging.STATE)).unlink(missing_ok=True)
    storage.remove(f"{request.output.rstrip('/')}/{RUN_FILE}")
    go_on(request)


def go_on(request: RunRequest) -> None:
    """Remove what an earlier attempt has left that is of no use."""
    _forget_noted(request)
    sweep(request)


def _tables(request: RunRequest) -> tuple[str, ...]:
    return (*TABLES, *KEPT) if request.is_increment else TABLES


def forget(request: RunRequest, broken: str) -> None:
    """Remove a staged file that cannot be read, and all that was made of it. It is noted first: half of this would be a
    run that goes on with checkpoints whose tables are gone."""
    storage.write(staging.path(request.work, staging.BROKEN), broken.encode())
    _forget_noted(request)


def _forget_noted(request: RunRequest) -> None:
    """Remove what is noted as broken, if anything is: an earlier run may have been ended in the midst of that."""
    note = Path(staging.path(request.work, staging.BROKEN))
    if note.exists():
        staging.forget(request.work, note.read_text())
        for name in _tables(request):
            storage.remove(f"{request.output.rstrip('/')}/{name}")
        note.unlink()


def sweep(request: RunRequest) -> None:
    """Remove halves of files."""
    storage.sweep(staging.path(request.work, ""))  # other runs may stage in folders beside it
    storage.sweep(request.output)
