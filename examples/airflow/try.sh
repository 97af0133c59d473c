#!/usr/bin/env bash
# Runs the DAG on the sample archive, of which one day comes late, by a real Airflow in an environment of its own: try.sh BIN FOLDER
#
# BIN has uv, and a Python with this project; FOLDER, which is made anew, takes Airflow, its database and all output.
set -euo pipefail

bin=$(cd "$1" && pwd)
folder=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
day=2026-11-22

rm -rf "$folder"
mkdir -p "$folder/srv/inbox"
folder=$(cd "$folder" && pwd)
# Its own PySpark client, which it brings, is another version: the two do not share an environment.
"$bin/uv" venv --quiet --python "$bin/python" "$folder/venv"
"$bin/uv" pip install --quiet --python "$folder/venv/bin/python" 'apache-airflow==3.3.*' 'apache-airflow-providers-apache-spark==6.*'
late=2026-11-20
"$bin/python" -m benchmarks sample-archive "$folder/srv/inbox/$day" --pages 20

JAVA_HOME=$("$bin/python" -m dbce_spark.spark.engine.java)
export JAVA_HOME
export AIRFLOW_HOME=$folder/home
export AIRFLOW__CORE__DAGS_FOLDER=$here
export AIRFLOW__CORE__LOAD_EXAMPLES=false
# A local master tries a task again only if it is set to (docs/operations.md, "Workers that die").
export AIRFLOW_CONN_SPARK_DEFAULT='{"conn_type": "spark", "host": "local[2,4]", "extra": {"spark-binary": "spark-submit"}}'
export DBCE_FOLDER=$folder/srv
DBCE_PROJECT=$(cd "$here/../.." && pwd)
export DBCE_PROJECT
export PATH=$bin:$PATH PYSPARK_PYTHON=$bin/python

"$folder/venv/bin/airflow" db migrate >"$folder/migrate.log" 2>&1
"$folder/venv/bin/airflow" dags test dbce_daily "$day" 2>&1 | tee "$folder/run.log"

test -e "$DBCE_FOLDER/extracted/$day/run.json"
if grep -E 'INFO (SparkContext|TaskSetManager)|incubator modules' "$folder/run.log"; then exit 1; fi
# A second run of the day has nothing to do, nor one before the day of a crawl; a crawl that comes late is taken by the next.
"$folder/venv/bin/airflow" dags test dbce_daily "$day" >"$folder/again.log" 2>&1
cp -r "$folder/srv/inbox/$day" "$folder/srv/inbox/$late"
"$folder/venv/bin/airflow" dags test dbce_daily 2026-11-19 >"$folder/early.log" 2>&1
test ! -e "$DBCE_FOLDER/extracted/$late"
"$folder/venv/bin/airflow" dags test dbce_daily 2026-11-23 >"$folder/late.log" 2>&1
test -e "$DBCE_FOLDER/extracted/$late/run.json"
test ! -e "$DBCE_FOLDER/extracted/2026-11-23"
echo "The DAG was run: $folder/run.log"
