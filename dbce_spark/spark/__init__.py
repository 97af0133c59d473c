"""The method on Spark: each module is one stage, each function that holds algorithm comes from `dbce_spark.dbce`."""
