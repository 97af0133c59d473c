"""`python -m dbce_spark`: the command `dbce`."""

import sys

from dbce_spark.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
