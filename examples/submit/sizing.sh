# What a run is given, for all recipes beside this file: sourced, never run. The figures are `python -m benchmarks cost`'s (docs/operations.md,
# "Cost of a large run") for 100 million captures within a day: 30 vCPUs, 5,734 partitions.
# shellcheck shell=bash disable=SC2034

: "${EXECUTORS:=5}"
: "${PARTITIONS:=5734}"
: "${FILE_PARTITION_BYTES:=188m}"

# An executor is 6 cores and 24 GB: one fits into a machine of 8 vCPUs and 32 GB, two into one of 16 and 64, with what YARN,
# Kubernetes and the operating system keep of it.
#   memory                  Java sorts and moves rows, and spills what it cannot hold
#   executor.pyspark.memory 3 GB for each of 6 Python workers, as in conf/spark-defaults.conf
#   memoryOverhead          Java's own, and what Arrow holds outside its heap
SIZING=(
    --conf spark.executor.instances="$EXECUTORS"
    --conf spark.executor.cores=6
    --conf spark.executor.memory=4g
    --conf spark.executor.pyspark.memory=18g
    --conf spark.executor.memoryOverhead=2g
    --conf spark.driver.memory=4g
    --conf spark.driver.memoryOverhead=1g
    --conf spark.sql.shuffle.partitions="$PARTITIONS"
    --conf spark.sql.files.maxPartitionBytes="$FILE_PARTITION_BYTES"
    # A machine that is taken away (spot, preemptible) hands its shuffles on before it goes.
    --conf spark.decommission.enabled=true
    --conf spark.storage.decommission.enabled=true
    --conf spark.storage.decommission.shuffleBlocks.enabled=true
    --conf spark.task.maxFailures=8
)
