"""Every night the crawl of the day that has ended: FOLDER/inbox/2026-11-22 becomes FOLDER/extracted/2026-11-22.

With spark-submit by the connection `spark_default`, whose host is the master: Airflow then knows the driver, follows it
in the cluster, and ends it with its task. A task that was killed goes on when it is tried again, since the same command
does. FOLDER is where Airflow's workers, the driver and all executors have it (DBCE_FOLDER); the package is installed
where the executors run, and the checkout lies in DBCE_PROJECT.
"""

import json
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import DAG, CronDataIntervalTimetable, task

FOLDER = os.environ.get("DBCE_FOLDER", "/srv/dbce")
PROJECT = os.environ.get("DBCE_PROJECT", "/opt/dbce")
CRAWL = FOLDER + "/inbox/{{ ds }}"
OUTPUT = FOLDER + "/extracted/{{ ds }}"
ARGUMENTS = ["--output", OUTPUT]

# Where spark-submit finds log4j2.properties and spark-env.sh: without them 1,700 lines of Spark's go to the log of the
# task. The operator's own `env_vars` do not go with a cluster that runs the driver.
os.environ.setdefault("SPARK_CONF_DIR", f"{PROJECT}/conf")


@task.short_circuit
def is_new(crawl: str, output: str) -> bool:
    """Return whether there is a crawl of that day that is not extracted yet."""
    return Path(crawl).is_dir() and not Path(output, "run.json").exists()


@task
def account(output: str) -> dict[str, Any]:
    """Return the counts of the day's records, to be shown with the run in Airflow."""
    run = json.loads(Path(output, "run.json").read_text(encoding="utf-8"))
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
    extract = SparkSubmitOperator(
        task_id="extract",
        application=f"{PROJECT}/jobs/extract.py",
        application_args=[CRAWL, *ARGUMENTS],
        properties_file=f"{PROJECT}/conf/spark-defaults.conf",
        name="dbce {{ ds }}",
        retries=3,
        retry_delay=timedelta(minutes=10),
        execution_timeout=timedelta(hours=20),
    )
    is_new(CRAWL, OUTPUT) >> extract >> account(OUTPUT)
