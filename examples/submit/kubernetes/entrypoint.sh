#!/usr/bin/env bash
# What Spark's pods begin with. Spark gives an executor one word, and the rest in the environment; any other command is run
# as it is.
set -euo pipefail

if [ "${1:-}" != executor ]; then
    exec "$@"
fi
jars=$(python -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent / "jars")')

# SPARK_JAVA_OPT_0, SPARK_JAVA_OPT_1, ...: an option each, which may have spaces.
options=()
for name in "${!SPARK_JAVA_OPT_@}"; do
    options+=("${!name}")
done

exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" "${options[@]}" "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" \
    -cp "${SPARK_CONF_DIR:-}:$jars/*:${SPARK_CLASSPATH:-}" \
    org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
    --driver-url "$SPARK_DRIVER_URL" \
    --executor-id "$SPARK_EXECUTOR_ID" \
    --cores "$SPARK_EXECUTOR_CORES" \
    --app-id "$SPARK_APPLICATION_ID" \
    --hostname "$SPARK_EXECUTOR_POD_IP" \
    --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" \
    --podName "$SPARK_EXECUTOR_POD_NAME"
