"""The units for systemd, as systemd itself reads them."""

import re
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNITS = ROOT / "examples/systemd"

pytestmark = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed: units are read by systemd alone"
)


def analyze(*words: str | Path) -> tuple[int, str]:
    done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def installed(tmp_path: Path) -> list[Path]:
    """Install the units for a project that lies here: systemd checks that the programs it is to start exist."""
    for unit in UNITS.iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/dbce", str(ROOT)))
    return sorted(tmp_path.iterdir())


def test_units_are_valid(installed: list[Path]) -> None:
    """systemd finds no unknown setting, no value that it cannot read, and nothing that is not there."""
    assert (0, "") == analyze("verify", "--man=no", *installed)


def test_a_misspelt_setting_is_found(installed: list[Path]) -> None:
    """The check above can fail: a setting that systemd does not know is reported."""
    service = next(unit for unit in installed if unit.name == "dbce.service")
    service.write_text(service.read_text().replace("MemoryMax", "MemoryMaximum"))

    assert "MemoryMaximum" in analyze("verify", "--man=no", *installed)[1]


def test_the_service_is_little_exposed(installed: list[Path]) -> None:
    """By systemd's own count of what a service could do to its machine: 0 is nothing, 10 is everything, 2 is `OK`."""
    service = next(unit for unit in installed if unit.name == "dbce.service")
    printed = analyze("security", "--offline=true", "--no-pager", service)[1]
    level = re.search(r"Overall exposure level for dbce.service: ([0-9.]+)", printed)

    assert level is not None, printed
    assert float(level[1]) < 2


def test_the_timer_begins_every_night() -> None:
    """The time is one that systemd knows, and comes again after a day."""
    timer = ConfigParser()
    timer.read(UNITS / "dbce.timer")
    code, printed = analyze("calendar", "--iterations=2", timer["Timer"]["OnCalendar"])

    assert 0 == code, printed
    assert 2 == len(re.findall(r"02:30:00 UTC", printed)), printed
