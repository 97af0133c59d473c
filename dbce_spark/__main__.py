"""`python -m dbce_spark`: the command `dbce`."""

from dbce_spark.commands.cli import entry

if __name__ == "__main__":
    entry()
