"""Actions of people in a browser."""

from typing import Any

from tests.support.annotation_stores import PASSWORD
from tests.support.workbenches import Served

_LOOKS, _PAUSE = 300, 100
"""How often a state is looked for that comes by messages, and the milliseconds between: half a minute, which a slow
machine may need, and which passes in full only where a test fails."""


def log_in(context: Any, served: Served, name: str) -> Any:
    """A window in which somebody has logged in."""
    window = context.new_page()
    window.goto(f"{served.address}/login")
    window.fill("input[name=name]", name)
    window.fill("input[name=password]", PASSWORD)
    window.click("main button.primary")
    window.wait_for_url(f"{served.address}/")
    return window


def next_page(context: Any, served: Served, name: str) -> Any:
    """A window in which somebody has logged in, and has the next page, ready to be tagged."""
    window = log_in(context, served, name)
    window.goto(f"{served.address}/next")
    wait(window)
    return window


def wait(window: Any) -> None:
    """Until the archived page is there, and ready to be tagged."""
    window.wait_for_selector("body[data-ready=yes]", state="attached")


def kept(window: Any) -> None:
    """Until the server has all that was tagged."""
    window.wait_for_selector("body[data-kept=kept]", state="attached")


def press(window: Any, *keys: str) -> None:
    for key in keys:
        window.keyboard.press(key)


def submit(window: Any, times: int = 1) -> None:
    """Press the keys that submit the page, and wait for the page that follows."""
    before = window.url
    press(window, *["Control+Enter"] * times)
    window.wait_for_url(lambda url: url != before)


def tags(window: Any) -> list[str]:
    """Read the tags of the segments from the workbench."""
    found: list[str] = window.evaluate("workbench.tags")
    return found


def expect_painted(window: Any, expected: list[str]) -> None:
    """Wait until the archived page shows these tags, each node once, in its order: they reach its frame as messages,
    which come when it has time."""
    found = _painted(window)
    for _ in range(_LOOKS):
        if found == expected:
            break
        window.wait_for_timeout(_PAUSE)
        found = _painted(window)

    assert expected == found


def _painted(window: Any) -> list[str]:
    found: list[str] = archived(window).evaluate(
        """() => {
          const seen = new Map();
          for (const piece of document.querySelectorAll("dbce-segment")) {
            seen.set(piece.getAttribute("data-dbce-node"), piece.getAttribute("data-dbce-tag") || "");
          }
          return [...seen.values()];
        }"""
    )
    return found


def shown_texts(window: Any, selector: str) -> list[str]:
    """Read the texts of elements once all of them are drawn: `content-visibility: auto` leaves them empty until the
    frame after the one in which they come into view."""
    window.wait_for_function(
        "selector => [...document.querySelectorAll(selector)].every((one) => one.innerText)", arg=selector
    )
    found: list[str] = window.locator(selector).all_inner_texts()
    return found


def archived(window: Any) -> Any:
    """The frame of the archived page."""
    element = window.query_selector("#page")
    return element.content_frame()
