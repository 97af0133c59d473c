"""Stages of the main job, and the one wrapper around each: checkpoint, progress and account."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dbce_spark.spark.run import checkpoints, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.progress import Steps
from dbce_spark.spark.run.run_account import RunAccount


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage of the main job.

    `name` stands in the log and in run.json's seconds. `work` does it and returns a result, which is kept as a
    checkpoint if `kept_as` gives its type, and which `count` puts into the account. `applies` returns whether there is
    anything to do, `steps` the steps of the stage, if they are clear before it begins.
    """

    name: str
    work: Callable[[Run, RunAccount], Any]
    applies: Callable[[Run, RunAccount], bool] = field(default=lambda run, account: True)
    steps: Callable[[Run, RunAccount], Steps | None] = field(default=lambda run, account: None)
    kept_as: Any = None
    count: Callable[[Run, RunAccount, Any], None] = field(default=lambda run, account, result: None)


def run_stage(stage: Stage, run: Run, account: RunAccount) -> None:
    """Do a stage if it applies, once however often the run is begun again, and count its result."""
    if not stage.applies(run, account):
        return
    with run.progress.stage(stage.name, stage.steps(run, account)):
        if stage.kept_as is None:
            result = stage.work(run, account)
        else:
            kept_at = staging.done(run.work, stage.name)
            result = checkpoints.once(kept_at, stage.kept_as, lambda: stage.work(run, account))
    stage.count(run, account, result)
