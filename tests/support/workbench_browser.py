"""Actions of people in a browser."""

from typing import Any

from tests.support.annotation_stores import PASSWORD
from tests.support.workbenches import Served


def log_in(context: Any, served: Served, name: str) -> Any:
    """A window in which somebody has logged in."""
    window = context.new_page()
    window.goto(f"{served.address}/login")
    window.fill("input[name=name]", name)
    window.fill("input[name=password]", PASSWORD)
    window.click("main button.primary")
    window.wait_for_url(f"{served.address}/")
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


def tags(window: Any) -> list[str]:
    """Read the tags of the segments from the workbench."""
    found: list[str] = window.evaluate("workbench.tags")
    return found


def painted(window: Any) -> list[str]:
    """And as the archived page shows it, each node once, in its order."""
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


def archived(window: Any) -> Any:
    """The frame of the archived page."""
    element = window.query_selector("#page")
    return element.content_frame()
