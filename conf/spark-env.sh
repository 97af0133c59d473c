# Read by Spark's own scripts, as spark-defaults.conf and log4j2.properties are, where SPARK_CONF_DIR names this folder.
# shellcheck shell=bash

# Where the locale is not of UTF-8, as under cron, Java puts ? for letters beyond ASCII in arguments and names of files.
case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in
    *[Uu][Tt][Ff]8* | *[Uu][Tt][Ff]-8*) ;;
    *) export LC_ALL=C.UTF-8 ;;
esac

# Spark asks Java for an incubator module that nothing here uses, and Java warns of it on the terminal: the Java that `dbce` would take
# is not asked. Where this package is not to be found, or no Java that it knows, Spark takes what it takes.
case ${JAVA_HOME:-} in
    */dbce-spark/java-*) ;;
    *)
        if found=$("${PYSPARK_DRIVER_PYTHON:-${PYSPARK_PYTHON:-python3}}" -m dbce_spark.spark.engine.java 2>/dev/null); then
            export JAVA_HOME=$found
        fi
        unset found
        ;;
esac
