"""A headless Chromium, where there is one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()


@contextmanager
def chromium() -> Iterator[Any]:
    """Start Chromium, and end it behind the block; skip the test where it or its driver is missing.

    Playwright allows no second driver in a process: blocks follow each other.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("there is no chromium on the path")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=_ARGUMENTS)
        yield started
        started.close()
