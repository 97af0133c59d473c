"""The job that extends a collection: find what of the input is new, write an increment, and make it a version."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from dbce_spark.config import DbceConfig, unlike
from dbce_spark.errors import OutputError
from dbce_spark.files.timestamps import now
from dbce_spark.log import Log
from dbce_spark.output import output_reader
from dbce_spark.output.collection import RUN_FILE, Collection, Increment, Version
from dbce_spark.spark.jobs import extract_job
from dbce_spark.spark.run import prior_state, run_lock, staging
from dbce_spark.spark.run.plan import Plan
from dbce_spark.spark.run.run_request import RunRequest

COMPACT = "compact"
"""Why there is a version whose one increment stands for all before it."""

_COUNTS = ("page_files", "captures", "extractions", "relabelled")
_OF_A_RUN = ("input", "select", "fetch")
"""Sections from which no label follows, but for `input.site`; on all else increments must agree."""


def prepared(collection: Collection, request: RunRequest, config: DbceConfig) -> RunRequest | None:
    """Make the request for the next increment, without the files that earlier ones read; None if nothing is left.

    An increment that was ended just before it was made a version is made one first.

    Raises:
        OutputError: the collection was labelled otherwise, cannot be read, or is none.
    """
    latest = with_ended(collection)
    settings = _settings(request.plan(config))
    if latest:
        _check(collection, latest, settings)
    unread = collection.unread(latest, request.files)
    if not unread and not request.indexes:
        return None
    return replace(
        request,
        files=unread,
        output=collection.increment(_next(latest)),
        prior=prior_state.prior_state(collection, latest),
        settings=settings,
    )


def run(
    spark: SparkSession, collection: Collection, request: RunRequest, config: DbceConfig, log: Log | None = None
) -> dict[str, Any]:
    """Run all stages over what is new, and make the increment the next version. Returns the content of run.json.

    Raises:
        JobError, OutputError: as `extract_job.run`; or another run has extended the collection meanwhile.
    """
    report = extract_job.run(spark, request, config, log)
    commit(collection, int(Path(request.output).name))
    return report


def commit(collection: Collection, number: int) -> None:
    """Make the increment that a run has ended, all of it written, the next version, unless another run has found it so
    and done that.

    Raises:
        OutputError: another version was made meanwhile.
    """
    latest = collection.latest()
    if latest and number in (one.number for one in latest.increments):
        return
    if number != _next(latest):
        raise OutputError(
            f"{collection.folder} was changed meanwhile: version {_next(latest) - 1} is there; give the same command"
            " again"
        )
    report = _report(Path(collection.increment(number)))
    own, why = Increment(number=number, **{name: report[name] for name in _COUNTS}), report.get("why", "extract")
    increments = (*latest.increments, own) if latest and why != COMPACT else (own,)
    made = Version(
        number=number, made=now(), why=why, increments=increments, settings=report["settings"], format=report["format"]
    )
    collection.commit(made)


def _report(increment: Path) -> dict[str, Any]:
    """Read the run.json of an increment that no version has yet.

    Raises:
        OutputError: it is none.
    """
    path = increment / RUN_FILE
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        output_reader.check_form(report, (*_COUNTS, "settings", "format"))
    except ValueError as error:
        raise OutputError(
            f"{path} is no report of a run: {error}; no version has this increment yet: remove {increment}, and give"
            " the same command again"
        ) from error
    return report


def with_ended(collection: Collection) -> Version | None:
    """Return the newest version, to which an increment belongs that was ended just before it was made one."""
    latest = collection.latest()
    ended = collection.increment(_next(latest))
    if not Path(ended, RUN_FILE).exists():
        return latest
    commit(collection, _next(latest))
    if run_lock.is_held(ended) is False:  # killed before it had removed what it had staged
        staging.remove(ended)
    return collection.latest()


def _next(latest: Version | None) -> int:
    return latest.number + 1 if latest else 1


def _settings(made: Plan) -> dict[str, Any]:
    """Return what all labels follow from, the archives aside."""
    sections = {name: values for name, values in made.config.items() if name not in _OF_A_RUN}
    sections["input"] = {"site": made.config["input"]["site"]}
    sections["output"] = {"site_parts": made.config["output"]["site_parts"]}
    return {
        "config": sections,
        "classifier": made.classifier,
        "with_html": made.with_html,
        "versions": made.versions,
    }


def _check(collection: Collection, latest: Version, settings: dict[str, Any]) -> None:
    """Check that labels follow from the same settings, whatever the libraries, and that all parts are there."""
    found = output_reader.open_output(collection.folder)
    if differing := [*unlike(_labelled(latest.settings), _labelled(settings))]:
        raise OutputError(
            f"{collection.folder} was labelled with other settings: {'; '.join(differing)}. Give the same settings to"
            " extend it, or begin another collection"
        )
    found.check()
    prior_state.check_whole(collection, latest)
    prior_state.check_pending(collection, latest, found.run["rejects"])


def _labelled(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name != "versions"}
