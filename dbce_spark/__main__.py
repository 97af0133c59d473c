"""`dbce`, and `python -m dbce_spark`: the command as a process."""

import sys
from signal import SIGINT


def entry() -> None:
    """Run `dbce`. Ctrl-C ends it quietly also while its modules are loaded."""
    try:
        from dbce_spark.commands import cli
    except KeyboardInterrupt:
        sys.exit(128 + SIGINT)
    cli.entry()


if __name__ == "__main__":
    entry()
