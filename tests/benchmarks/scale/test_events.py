"""The event log has the times and bytes of each stage's tasks."""

import json
from typing import Any

from benchmarks.scale.events import Tasks, tasks
from dbce_spark.spark.run.progress import STAGE_PROPERTY


def begun(name: str, *stages: int) -> dict[str, Any]:
    return {"Event": "SparkListenerJobStart", "Stage IDs": [*stages], "Properties": {STAGE_PROPERTY: name}}


def ended(stage: int, milliseconds: int, shuffled: int, spilled: int) -> dict[str, Any]:
    metrics = {"Shuffle Write Metrics": {"Shuffle Bytes Written": shuffled}, "Disk Bytes Spilled": spilled}
    info = {"Launch Time": 5_000, "Finish Time": 5_000 + milliseconds}
    return {"Event": "SparkListenerTaskEnd", "Stage ID": stage, "Task Info": info, "Task Metrics": metrics}


def test_tasks_are_added_up_by_the_stage_of_the_job() -> None:
    """All Spark stages of one of the job's are one; the longest task is kept, and other events are passed over."""
    log = [
        {"Event": "SparkListenerLogStart"},
        begun("pages", 0),
        ended(0, 2_000, 0, 0),
        begun("sites", 1, 2),
        ended(1, 500, 70, 3),
        {"Event": "SparkListenerTaskEnd", "Stage ID": 1, "Task Info": {}},
        ended(2, 1_500, 30, 4),
    ]

    assert {
        "pages": Tasks(count=1, seconds=2.0, longest_seconds=2.0, shuffle_bytes=0, spilled_bytes=0),
        "sites": Tasks(count=2, seconds=2.0, longest_seconds=1.5, shuffle_bytes=100, spilled_bytes=7),
    } == tasks(map(json.dumps, log))
