#!/usr/bin/env bash
# A cluster on EMR that extracts and goes away: submit.sh INPUT... --output s3://BUCKET/NAME --staging /mnt/dbce/NAME
#
#   BUCKET        s3://... for code and logs; it has what pack.sh wrote under dbce/
#   FILE_SYSTEM   of EFS, mounted by all machines: what stages hand on (docs/operations.md)
#   SUBNET        of the machines, which EFS and S3 can be reached from
set -euo pipefail

: "${BUCKET:?}" "${FILE_SYSTEM:?}" "${SUBNET:?}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

project=$(mktemp --suffix=.tar.gz)
trap 'rm -f "$project"' EXIT
git -C "$here/../../.." archive --format=tar.gz --output="$project" HEAD
aws s3 cp "$project" "$BUCKET/dbce/project.tar.gz"
aws s3 cp "$here/bootstrap.sh" "$BUCKET/dbce/bootstrap.sh"
aws s3 cp "$here/step.sh" "$BUCKET/dbce/step.sh"

# A word of the step for each of ours, as JSON.
words=$(python3 -c 'import json, sys; print(json.dumps(sys.argv[1:]))' "$BUCKET/dbce/step.sh" "$BUCKET" "$@")
# Three workers of two executors each; spot, since what is finished stays finished. Spark comes with the environment: EMR's own
# may be older than what is supported.
aws emr create-cluster \
    --name "dbce extract" \
    --release-label emr-7.5.0 \
    --applications Name=Hadoop \
    --use-default-roles \
    --ec2-attributes "SubnetId=$SUBNET" \
    --instance-groups \
        InstanceGroupType=MASTER,InstanceType=m6i.xlarge,InstanceCount=1 \
        InstanceGroupType=CORE,InstanceType=m6i.4xlarge,InstanceCount=1 \
        InstanceGroupType=TASK,InstanceType=m6i.4xlarge,InstanceCount=2,BidPrice=OnDemandPrice \
    --bootstrap-actions "Path=$BUCKET/dbce/bootstrap.sh,Args=[$FILE_SYSTEM]" \
    --log-uri "$BUCKET/logs/" \
    --steps "[{\"Type\": \"CUSTOM_JAR\", \"Name\": \"dbce extract\", \"ActionOnFailure\": \"TERMINATE_CLUSTER\", \"Jar\": \"s3://elasticmapreduce/libs/script-runner/script-runner.jar\", \"Args\": $words}]" \
    --auto-terminate
