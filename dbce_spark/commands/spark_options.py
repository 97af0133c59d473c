"""The options of Spark, and how a command looks that spark-submit runs."""

import argparse
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from dbce_spark import log
from dbce_spark.errors import ConfigError

_IS_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The variable that spark-submit sets in the environment of the script that it runs."""
_SUBMIT_CLASS = "org.apache.spark.deploy.SparkSubmit"
_SECRET_SETTING = re.compile(r"^([^=\s]*(?:secret|password|token|access[.]?key)[^=\s]*)=.*", re.IGNORECASE | re.DOTALL)
"""Settings of which Spark shows no value either (spark.redaction.regex)."""


def add_spark(command: argparse.ArgumentParser) -> None:
    """Add the options for where and how Spark runs."""
    command.add_argument(
        "--master",
        metavar="URL",
        help="connect to this Spark master (default: that of the active session, or local[*])",
    )
    command.add_argument(
        "--spark", action="append", default=[], metavar="KEY=VALUE", dest="spark",
        help="set a property of Spark, such as spark.ui.enabled=true; may be repeated (under spark-submit give it"
        " --conf KEY=VALUE instead)",
    )  # fmt: skip


def spark_settings(given: Sequence[str]) -> dict[str, str]:
    """Return the settings of `--spark` by their keys.

    Raises:
        ConfigError: one is not KEY=VALUE, or would be ignored by Spark or spark-submit.
    """
    if given and is_submitted():
        raise ConfigError("--spark has no effect under spark-submit; give it --conf KEY=VALUE")
    pairs = [one.partition("=") for one in given]
    if wrong := next((one for one, (key, is_one, _) in zip(given, pairs, strict=True) if not (key and is_one)), None):
        raise ConfigError(f"--spark {wrong}: write KEY=VALUE, such as spark.ui.enabled=true")
    if foreign := next((key for key, *_ in pairs if not key.startswith("spark.")), None):
        raise ConfigError(f"--spark {foreign}: properties of Spark begin with spark., as spark.ui.enabled does")
    return {key: value for key, _, value in pairs}


def is_submitted() -> bool:
    """Return whether spark-submit runs this command."""
    return _IS_SUBMITTED in os.environ


def command_line() -> str:
    """Return this command as a shell has it; under spark-submit with its options, where the system shows them."""
    words = [*_submission(), *sys.argv] if is_submitted() else ["dbce", *sys.argv[1:]]
    return log.without_credentials(f"cd {shlex.quote(str(Path.cwd()))} && {shlex.join(words)}")


def _submission() -> list[str]:
    """Return the words by which the script was submitted; values that Spark itself would not show are left out."""
    conf, home = (os.environ.get(name, "") for name in ("SPARK_CONF_DIR", "SPARK_HOME"))
    own = ["env", f"SPARK_CONF_DIR={conf}"] if conf and conf != f"{home}/conf" else []
    try:  # the Java of spark-submit has begun this process
        java = Path(f"/proc/{os.getppid()}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
        options = java[java.index(_SUBMIT_CLASS) + 1 : -len(sys.argv)]
    except (OSError, ValueError):
        options = []
    return [*own, "spark-submit", *(_SECRET_SETTING.sub(r"\1=...", one) for one in options)]
