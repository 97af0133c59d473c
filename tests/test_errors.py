"""Errors that end a run."""

import re
from configparser import ConfigParser
from pathlib import Path

from dbce_spark.errors import installs

ROOT = Path(__file__).parents[1]


def test_an_extra_is_installed_from_a_checkout() -> None:
    """No index has the package."""
    assert "pip install '.[spark]' in the checkout of dbce-spark" == installs("spark")


def test_errors_name_extras_by_one_command() -> None:
    """Each is one of setup.cfg."""
    parsed = ConfigParser()
    parsed.read(ROOT / "setup.cfg", encoding="utf-8")
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "dbce_spark").rglob("*.py"))
    named = set(re.findall(r"installs\('(\w+)'\)", text))

    assert "spark" in named
    assert named <= set(parsed["options.extras_require"])
    assert "dbce-spark[" not in text
