"""Script for `spark-submit jobs/stream.py INPUT... --output DIR`; `dbce stream --help` lists the options."""

from dbce_spark.commands.cli import entry

if __name__ == "__main__":
    entry("stream")
