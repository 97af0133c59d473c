"""docs/tutorial.md is true: its commands are given in their order, and print what it says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dbce_spark.spark.engine.java import java_home
from tests.support.code_blocks import ROOT, Block
from tests.support.free_ports import free_port
from tests.support.tutorial import AFTERWARDS, TUTORIAL, answer, shown

pytestmark = [pytest.mark.docs, pytest.mark.spark]
_DBCE = f"#!{sys.executable}\nimport sys\nfrom dbce_spark.commands.cli import entry\nentry()\n"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all commands were given, by one shell; what block N of them printed is in `N.out`."""
    folder = tmp_path_factory.mktemp("tutorial")
    for name in ("conf", "jobs"):
        (folder / name).symlink_to(ROOT / name)
    command = folder / "bin" / "dbce"
    command.parent.mkdir()
    command.write_text(_DBCE)
    command.chmod(0o755)
    script = "set -euo pipefail\n" + "".join(step(nth, block) for nth, block in enumerate(TUTORIAL))
    (folder / "all.sh").write_text(script.replace("7077", str(free_port())))
    path = f"{command.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "JAVA_HOME": java_home()}
    ended = subprocess.run(["bash", "all.sh"], cwd=folder, env=environment, timeout=3600, check=False)
    assert 0 == ended.returncode, "\n".join(one.read_text() for one in sorted(folder.glob("*.out")))
    return folder


def step(nth: int, block: Block) -> str:
    """Run a block as a shell would. Packages are installed; a text must be printed by the block before it."""
    lines = [line for line in block.code.splitlines() if not line.startswith("pip ")]
    if block.kind == "python":
        lines = ["python - <<'THE_PROGRAM'", *lines, "THE_PROGRAM"]
    return "" if block.kind == "text" else "\n".join([f"exec > {nth}.out 2>&1", *lines, ""])


@pytest.mark.parametrize(
    "nth", [at for at, one in enumerate(TUTORIAL) if one.kind == "text"], ids=lambda at: str(TUTORIAL[at])
)
def test_a_command_prints_what_is_shown(nth: int, done: Path) -> None:
    """Its lines in their order with their figures, but for what is left out, and the moment of a run."""
    assert [] == shown(TUTORIAL[nth], (done / f"{nth - 1}.out").read_text().splitlines())


def test_a_cluster_gives_what_a_laptop_gave(done: Path) -> None:
    """The same bytes in all tables."""
    here, there = (
        {one.relative_to(done / name): one.read_bytes() for one in (done / name).rglob("*.parquet")}
        for name in ("extracted", "on-cluster")
    )

    assert here
    assert here == there


@pytest.mark.parametrize("block", AFTERWARDS, ids=str)
def test_what_other_pages_ask_is_answered(
    block: Block, done: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each program prints something, each query finds rows."""
    monkeypatch.chdir(done)
    assert answer(block, capsys)
