"""Script for `spark-submit jobs/extract.py INPUT... --output DIR`; `dbce extract --help` lists the options."""

from dbce_spark.commands.cli import entry

if __name__ == "__main__":
    entry("extract")
