"""Errors that end a run."""

import pickle
import re
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

from dbce_spark.errors import ConfigError, Parameter, installs

ROOT = Path(__file__).parents[1]


def test_an_extra_is_installed_from_a_checkout() -> None:
    """No index has the package."""
    assert "pip install '.[spark]' in the checkout of dbce-spark" == installs("spark")


def test_an_error_names_parameters_by_their_options() -> None:
    """An option stands where the message names the parameter itself, and not where a value is the same word."""
    error = ConfigError(Parameter("port"), " and ", Parameter("replay_port"), " are both 'port'")

    assert "port and replay_port are both 'port'" == str(error)
    assert "--port and replay_port are both 'port'" == str(error.naming({"port": "--port"}))
    assert str(error) == str(pickle.loads(pickle.dumps(error)))


def test_pages_need_no_module_of_posix() -> None:
    """The functions of `import dbce_spark` work where there are neither locks of files nor processes that fork."""
    program = """
import os, signal, sys
sys.modules |= dict.fromkeys(("fcntl", "grp", "pwd", "resource", "termios"))
for module, name in (os, "fork"), (os, "register_at_fork"), (os, "killpg"), (signal, "SIGKILL"), (signal, "SIGPIPE"):
    delattr(module, name)
import dbce_spark
print(dbce_spark.extract("<title>Harbour</title><h1>The harbour</h1><p>opens again").title)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True)

    assert ("Harbour\n", "") == (done.stdout, done.stderr)


def test_errors_name_extras_by_one_command() -> None:
    """Each is one of setup.cfg."""
    parsed = ConfigParser()
    parsed.read(ROOT / "setup.cfg", encoding="utf-8")
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "dbce_spark").rglob("*.py"))
    named = set(re.findall(r"installs\('(\w+)'\)", text))

    assert "spark" in named
    assert named <= set(parsed["options.extras_require"])
    assert "dbce-spark[" not in text
