#!/usr/bin/env bash
# A cluster on Dataproc that extracts and goes away: submit.sh INPUT... --output gs://BUCKET/NAME --staging /mnt/dbce/NAME
#
#   BUCKET    gs://... for code; it has what pack.sh wrote under dbce/
#   REGION    of the cluster
#   SHARE     of Filestore, HOST:/NAME, mounted by all machines: what stages hand on (docs/operations.md)
set -euo pipefail

: "${BUCKET:?}" "${REGION:?}" "${SHARE:?}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster=dbce-$(date -u +%Y%m%d-%H%M%S)

gcloud storage cp "$here/initialize.sh" "$BUCKET/dbce/initialize.sh"
# Debian 12 has the Python and the Java that are wanted; three workers of two executors each, two of them spot.
gcloud dataproc clusters create "$cluster" \
    --region "$REGION" \
    --image-version 2.3-debian12 \
    --master-machine-type n2-standard-4 \
    --num-workers 2 \
    --worker-machine-type n2-standard-16 \
    --num-secondary-workers 1 \
    --secondary-worker-type spot \
    --initialization-actions "$BUCKET/dbce/initialize.sh" \
    --metadata "dbce-share=$SHARE" \
    --max-age 2d
trap 'gcloud dataproc clusters delete "$cluster" --region "$REGION" --quiet' EXIT

project=$(mktemp --suffix=.tar.gz)
git -C "$here/../../.." archive --format=tar.gz --output="$project" HEAD
gcloud compute scp "$project" "$cluster-m:project.tar.gz"
rm "$project"
# Words are quoted once for the shell there.
gcloud compute ssh "$cluster-m" --command "
    set -eu
    gcloud storage cp $BUCKET/dbce/environment.tar.gz $BUCKET/dbce/spark-jars.zip .
    mkdir environment project
    tar -xzf environment.tar.gz -C environment
    tar -xzf project.tar.gz -C project
    hadoop fs -mkdir -p hdfs:///dbce
    hadoop fs -put -f environment.tar.gz spark-jars.zip hdfs:///dbce/
    ENVIRONMENT=\$PWD/environment ARCHIVES=hdfs:///dbce JAVA_HOME=/usr/lib/jvm/java-17-openjdk-amd64 \
        HADOOP_CONF_DIR=/etc/hadoop/conf project/examples/submit/yarn.sh $(printf '%q ' "$@")"
