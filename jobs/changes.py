"""Script for `spark-submit jobs/changes.py COLLECTION --output DIR`; `dbce changes --help` lists the options."""

import sys

from dbce_spark.commands.cli import changes_main

if __name__ == "__main__":
    sys.exit(changes_main())
