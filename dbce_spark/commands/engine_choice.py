"""The engine of `dbce extract`: plain Python or Spark."""

import argparse
from collections.abc import Sequence
from importlib.util import find_spec

from dbce_spark.commands.arguments import check_installed
from dbce_spark.commands.spark_options import is_submitted
from dbce_spark.config import DbceConfig
from dbce_spark.errors import ConfigError, PlatformError, installs
from dbce_spark.files import sources


def is_local(arguments: argparse.Namespace, config: DbceConfig, files: Sequence[str]) -> bool:
    """Return whether the plain engine does it: by `--engine`, or because the input is small and nothing asks for Spark.

    Raises:
        ConfigError: `--engine local` with an option that only Spark has.
    """
    asked = _spark_option(arguments)
    if arguments.engine == "local" and asked:
        raise ConfigError(f"--engine local and {asked} do not go together; leave one of them out")
    if arguments.engine != "auto" or asked:
        return bool(arguments.engine == "local")
    left = config.engine.local_bytes
    for path in files:  # of a remote one its size is a request: no more of them than it takes
        size = stored_size(path)
        left -= size
        if size < 0 or left < 0:
            return False
    return True


def _spark_option(arguments: argparse.Namespace) -> str | None:
    """Return an option that was given and that only Spark has."""
    of_spark = {
        "--collection": arguments.collection,
        "--index": arguments.index,
        "--limit": arguments.limit,
        "--staging": arguments.staging,
        "--master": arguments.master,
        "--spark": arguments.spark,
        "an --output in an object store": sources.is_remote(arguments.output or ""),
        "spark-submit": is_submitted(),
    }
    return next((name for name, value in of_spark.items() if value), None)


def check_spark(arguments: argparse.Namespace) -> None:
    """Check that PySpark is installed.

    Raises:
        PlatformError: it is not.
    """
    if arguments.engine == "auto" and not _spark_option(arguments) and find_spec("pyspark") is None:
        raise PlatformError(
            f"so large an input needs Spark (engine.local_bytes): {installs('spark')}, or give"
            " --engine local, which holds all pages in memory"
        )
    check_installed("spark", "pyspark")


def stored_size(path: str) -> int:
    """Return the bytes of a file: 0 of a local one that cannot be read, since a run has a reject for it, and -1 where
    a store does not say."""
    return sources.size_or(path, -1 if sources.is_remote(path) else 0)
