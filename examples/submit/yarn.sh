#!/usr/bin/env bash
# On a YARN cluster: `yarn.sh INPUT... --output DIR [--staging DIR]`, as for dbce extract, on a machine that has Hadoop's
# configuration and what pack.sh wrote:
#
#   ENVIRONMENT   environment.tar.gz, unpacked here: its Spark submits, whatever Spark the cluster has of its own
#   ARCHIVES      a folder of the cluster's file system with environment.tar.gz and spark-jars.zip, such as hdfs:///dbce
#   JAVA_HOME     of a Java 17 or newer, at the same path on every machine
set -euo pipefail

: "${ENVIRONMENT:?}" "${ARCHIVES:?}" "${JAVA_HOME:?}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=examples/submit/sizing.sh
. "$here/sizing.sh"

SPARK_HOME=$("$ENVIRONMENT/bin/python" -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)')
export SPARK_HOME
# Brings log4j2.properties: Spark's own prints a line a second.
export SPARK_CONF_DIR=$here/../../conf
# The driver runs in the cluster: who submits may go away, and YARN begins it a second time, which goes on.
exec "${SPARK_SUBMIT:-$SPARK_HOME/bin/spark-submit}" \
    --master yarn \
    --deploy-mode cluster \
    --name "dbce extract" \
    --properties-file "$here/../../conf/spark-defaults.conf" \
    "${SIZING[@]}" \
    --conf spark.yarn.archive="$ARCHIVES/spark-jars.zip" \
    --conf spark.yarn.maxAppAttempts=2 \
    --conf spark.yarn.appMasterEnv.JAVA_HOME="$JAVA_HOME" \
    --conf spark.executorEnv.JAVA_HOME="$JAVA_HOME" \
    --conf spark.pyspark.python=./environment/bin/python \
    --archives "$ARCHIVES/environment.tar.gz#environment" \
    "$here/../../jobs/extract.py" "$@"
