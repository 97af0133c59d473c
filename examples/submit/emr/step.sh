#!/usr/bin/env bash
# On the first machine of an EMR cluster: step.sh BUCKET INPUT... --output DIR ... submits by YARN, and waits.
set -euo pipefail

bucket=$1
shift
export ENVIRONMENT=/mnt/environment ARCHIVES=hdfs:///dbce JAVA_HOME=/usr/lib/jvm/java-17-amazon-corretto.x86_64
export HADOOP_CONF_DIR=/etc/hadoop/conf

work=$(mktemp --directory)
cd "$work"
aws s3 cp --recursive "$bucket/dbce/" .
sudo mkdir -p "$ENVIRONMENT"
sudo tar --extract --gzip --file environment.tar.gz --directory "$ENVIRONMENT"
hadoop fs -mkdir -p "$ARCHIVES"
hadoop fs -put -f environment.tar.gz spark-jars.zip "$ARCHIVES/"
mkdir project
tar --extract --gzip --file project.tar.gz --directory project
exec project/examples/submit/yarn.sh "$@"
