"""Run scripts of the workbench in Node, which has no page around them."""

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest


def in_node(script: str, after: str, before: str = "") -> Any:
    """Return what a program prints as JSON that has a script of the workbench in its midst."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    text = (files("dbce_spark.annotation.web") / "static" / script).read_text("utf-8")
    command = [node, "--input-type=module", "-"]
    done = subprocess.run(command, input=f"{before}{text}{after}", capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
