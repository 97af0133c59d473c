"""Start a browser, where there is one."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

_ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Start a headless Chromium. Playwright allows no second driver in a process: tests of other modules start their
    own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("there is no chromium on the path")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=_ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def context(chromium: Any) -> Iterator[Any]:
    """Open a new browser context with the screen of a laptop."""
    made = chromium.new_context(viewport={"width": 1366, "height": 768})
    made.set_default_timeout(60_000)
    yield made
    made.close()
