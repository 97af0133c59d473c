"""Start a browser, where there is one."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.chromium import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start a browser for the tests of a module, as those of others start their own."""
    with chromium() as started:
        yield started


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """Open a new browser context with the screen of a laptop."""
    made = browser.new_context(viewport={"width": 1366, "height": 768})
    made.set_default_timeout(60_000)
    yield made
    made.close()
