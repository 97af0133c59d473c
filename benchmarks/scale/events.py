"""Spark's event log: times and bytes of the tasks of each stage of the job."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dbce_spark.spark.run.progress import STAGE_PROPERTY

SETTINGS: Mapping[str, str] = {
    "spark.eventLog.enabled": "true",
    # One plain file: it is read once, right away.
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
}
"""Make Spark write the log, into the folder `spark.eventLog.dir`."""


@dataclass(slots=True)
class Tasks:
    """The tasks of one stage of the job, which has one or more of Spark's."""

    count: int = 0
    seconds: float = 0.0
    longest_seconds: float = 0.0
    shuffle_bytes: int = 0  # written
    spilled_bytes: int = 0  # to disk, because they did not fit in Java's memory

    def add(self, info: Mapping[str, Any], metrics: Mapping[str, Any]) -> None:
        seconds = (info["Finish Time"] - info["Launch Time"]) / 1000
        self.count += 1
        self.seconds += seconds
        self.longest_seconds = max(self.longest_seconds, seconds)
        self.shuffle_bytes += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
        self.spilled_bytes += metrics["Disk Bytes Spilled"]


def tasks(lines: Iterable[str]) -> dict[str, Tasks]:
    """Group the tasks by the stage of the job that they belong to, as `run.json` names it, in the order of the log.
    Tasks that were given up before they reported metrics are left out."""
    stages: dict[int, str] = {}
    found: dict[str, Tasks] = defaultdict(Tasks)
    for line in lines:
        event = json.loads(line)
        if event["Event"] == "SparkListenerJobStart":
            name = event["Properties"].get(STAGE_PROPERTY, "")
            stages |= dict.fromkeys(event["Stage IDs"], name)
        elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            found[stages[event["Stage ID"]]].add(event["Task Info"], event["Task Metrics"])
    return dict(found)
