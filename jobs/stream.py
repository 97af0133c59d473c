"""Script for `spark-submit jobs/stream.py INPUT... --output DIR`; `dbce stream --help` lists the options."""

import sys

from dbce_spark.commands.cli import stream_main

if __name__ == "__main__":
    sys.exit(stream_main())
