"""Every night the crawls of all days that have ended and are not extracted: FOLDER/inbox/2026-11-22 becomes
FOLDER/extracted/2026-11-22. A crawl that comes late is taken the night after: its folder is moved into the inbox
when it is whole.

With spark-submit by the connection `spark_default`, whose host is the master: Airflow then knows the driver, follows it
in the cluster, and ends it with its task. A task that was killed goes on when it is tried again, since the same command
does. FOLDER is where Airflow's workers, the driver and all executors have it (DBCE_FOLDER); the package is installed
where the executors run, and the checkout lies in DBCE_PROJECT.
"""

import json
import os
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import DAG, CronDataIntervalTimetable, task

FOLDER = os.environ.get("DBCE_FOLDER", "/srv/dbce")
PROJECT = os.environ.get("DBCE_PROJECT", "/opt/dbce")
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
"""The name of a folder that is the crawl of a day."""

# Where spark-submit finds log4j2.properties and spark-env.sh: without them 1,700 lines of Spark's go to the log of the
# task. The operator's own `env_vars` do not go with a cluster that runs the driver.
os.environ.setdefault("SPARK_CONF_DIR", f"{PROJECT}/conf")


@task
def find_new(last_day: str) -> list[list[str]]:
    """List the crawls up to a day that are not extracted yet, each as the arguments of its extraction; later ones may
    not be whole."""
    days = sorted(one.name for one in Path(FOLDER, "inbox").iterdir() if one.is_dir() and DAY.fullmatch(one.name))
    outputs = {day: f"{FOLDER}/extracted/{day}" for day in days if day <= last_day}
    return [
        [f"{FOLDER}/inbox/{day}", "--output", output]
        for day, output in outputs.items()
        if not Path(output, "run.json").exists()
    ]


@task
def account(arguments: list[str]) -> dict[str, Any]:
    """Return the counts of a day's records, to be shown with the run in Airflow."""
    run = json.loads(Path(arguments[2], "run.json").read_text(encoding="utf-8"))
    return {name: run[name] for name in ("records_read", "extractions", "rejects", "failed_files")}


with DAG(
    "dbce_daily",
    schedule=CronDataIntervalTimetable("30 2 * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # Two days never overlap.
    max_active_runs=1,
    doc_md=__doc__,
):
    new = find_new("{{ ds }}")
    extract = SparkSubmitOperator.partial(
        task_id="extract",
        application=f"{PROJECT}/jobs/extract.py",
        properties_file=f"{PROJECT}/conf/spark-defaults.conf",
        name="dbce {{ ds }}",
        retries=3,
        retry_delay=timedelta(minutes=10),
        execution_timeout=timedelta(hours=20),
        # One crawl after the other.
        max_active_tis_per_dagrun=1,
    ).expand(application_args=new)
    extract >> account.expand(arguments=new)
