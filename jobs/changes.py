"""Script for `spark-submit jobs/changes.py COLLECTION --output DIR`; `dbce changes --help` lists the options."""

from dbce_spark.commands.cli import entry

if __name__ == "__main__":
    entry("changes")
