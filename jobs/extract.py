"""Script for `spark-submit jobs/extract.py INPUT... --output DIR`; `dbce extract --help` lists the options."""

import sys

from dbce_spark.commands.cli import extract_main

if __name__ == "__main__":
    sys.exit(extract_main())
