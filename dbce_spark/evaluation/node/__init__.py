"""Extractors in JavaScript: one process of Node, fed page by page.

Their packages are pinned in package-lock.json, and installed with npm into a folder of their own:

    python -m dbce_spark.evaluation.node

That folder is `~/.cache/dbce-spark/node`, or where the environment variable DBCE_NODE_PACKAGES says.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

from dbce_spark.errors import PlatformError

OLDEST = 18
"""Of Node, the first version that jsdom 26 runs on."""

_HERE = Path(str(files(__name__)))
_LISTS = ("package.json", "package-lock.json")
_DOM = "jsdom"
"""The package by which all of them parse pages."""


def folder() -> Path:
    """Return the folder that the packages are installed in."""
    given = os.environ.get("DBCE_NODE_PACKAGES")
    return Path(given) if given else Path.home() / ".cache" / "dbce-spark" / "node"


def install() -> None:
    """Install the packages, in place of those there.

    Raises:
        PlatformError: npm is missing, or fails.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise PlatformError(f"npm is not installed; install Node {OLDEST} or newer, which brings it")
    folder().mkdir(parents=True, exist_ok=True)
    for name in _LISTS:
        shutil.copyfile(_HERE / name, folder() / name)
    done = subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder(), check=False)
    if done.returncode:
        (folder() / "package-lock.json").unlink()
        raise PlatformError(f"npm ci in {folder()} ended with {done.returncode}; see its output above")


def lacking() -> str:
    """Name what has to be installed before these extractors run; "" if nothing."""
    node = shutil.which("node")
    if node is None:
        return f"node is not installed; install Node {OLDEST} or newer"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if not version.startswith("v") or int(version[1:].split(".")[0]) < OLDEST:
        return f"{node} is of version {version or 'unknown'}; install Node {OLDEST} or newer"
    lock = folder() / "package-lock.json"
    if not lock.is_file() or lock.read_bytes() != (_HERE / "package-lock.json").read_bytes():
        return f"the packages of this version are not in {folder()}; run: python -m {__name__}"
    return ""


def versions(method: str) -> list[str]:
    """List the package of a method, and the one that parses for it, with their versions."""
    pinned = json.loads((_HERE / "package.json").read_text("utf-8"))["dependencies"]
    return [
        f"{name} {pinned[name]}" for name in sorted(pinned) if name.endswith(f"/{method}") or name in (method, _DOM)
    ]


class NodePage:
    """An extractor by one of the methods in serve.js.

    Raises:
        ImportError: Node cannot load it.
    """

    def __init__(self, method: str):
        command = ["node", str(_HERE / "serve.js"), str(folder()), method]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._seconds = 0.0
        if self._answer() is None:
            raise ImportError(f"node cannot load {method} from {folder()}; run: python -m {__name__}")

    def __call__(self, html: str, lang: str) -> str:
        """Extract the text.

        Raises:
            RuntimeError: what the method raised.
        """
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # that it is gone shows where its answer is missing
            self._process.stdin.write(json.dumps({"html": html}).encode() + b"\n")
            self._process.stdin.flush()
        answer = self._answer()
        if answer is None:
            self._follow()
        if answer["error"]:
            raise RuntimeError(answer["error"])
        return str(answer["text"])

    def clock(self) -> float:
        """Read the seconds of CPU that Node has taken, as of its last answer."""
        return self._seconds

    def _answer(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            return None
        answer: dict[str, Any] = json.loads(line)
        self._seconds = answer["seconds"]
        return answer

    def _follow(self) -> NoReturn:
        """End this process as Node ended, so that whoever waits for the page gets the reason, and starts anew."""
        code = self._process.wait()
        if code < 0:
            signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        os._exit(code)
