"""The report of a run that ends well: the content of run.json. Needs no PySpark."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbce_spark.config import DbceConfig
from dbce_spark.log import Log
from dbce_spark.output.collection import FORMAT
from dbce_spark.spark.run import heartbeat
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.run_request import RunRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The engine that did a run, on how many cores, in how many seconds by stage, and the versions of all in it."""

    engine: str
    cores: int
    seconds: Mapping[str, float]
    versions: Mapping[str, str]

    def speed(self, extracted: int) -> float:
        """Return pages a second and core, start aside."""
        working = sum(value for name, value in self.seconds.items() if name != "start")
        return round(extracted / working / self.cores, 2)


def report(request: RunRequest, config: DbceConfig, log: Log, account: RunAccount, effort: Effort) -> dict[str, Any]:
    """Put together all that run.json holds."""
    return {
        "engine": effort.engine,
        "run_id": log.run_id,
        "attempts": log.attempt,
        **heartbeat.of_process(request.work),
        **account.counts(),
        **(account.of_indexes() if request.indexes else {}),
        **({"settings": request.settings, "format": FORMAT} if request.is_increment else {}),
        "seconds": effort.seconds,
        "pages_per_second_per_core": effort.speed(account.extractions),
        "cores": effort.cores,
        "files": len(request.files) + len(account.selected.archives),
        "failed_files": account.failed_files(),
        "plan": request.plan(config).digest,
        "config": config.as_dict(),
        "versions": effort.versions,
    }
