"""How pages look: where a browser puts every segment, how large its letters are, and whether it is seen.

Pages are shown by a headless Chromium without scripts and without the network: what they say of themselves decides.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbce_spark.errors import InputError, PlatformError
from dbce_spark.groundtruth import lines, marks
from dbce_spark.groundtruth.lines import Fields, field
from dbce_spark.groundtruth.sheet import Sheet
from dbce_spark.model import digest

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Route

Box = tuple[float, float, float, float]
"""Left, top, width and height in pixels of the page, however far one has to scroll."""

WIDTH, HEIGHT = 1024, 768
"""Pixels of the window: what most people had when KrdWrd's pages were made; its screen-shots are 997 wide."""

_PATIENCE = 30_000
"""Milliseconds that a page may take to be shown; the mean one of canola takes some 200."""

_PLACE = "http://page.invalid/"
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
_MEASURE = """name => {
  const runs = new Map();
  for (const span of document.querySelectorAll(`span[class^="${name}"]`)) {
    const at = Number(span.className.slice(name.length));
    if (!runs.has(at)) runs.set(at, {boxes: [], font_size: 0, is_visible: false});
    const run = runs.get(at);
    const boxes = [...span.getClientRects()].filter(box => box.width > 0 && box.height > 0);
    run.boxes.push(...boxes.map(box => [box.x + scrollX, box.y + scrollY, box.width, box.height]));
    run.font_size = Math.max(run.font_size, parseFloat(getComputedStyle(span).fontSize) || 0);
    run.is_visible ||= span.checkVisibility({opacityProperty: true, visibilityProperty: true})
      && boxes.some(box => box.right + scrollX > 0 && box.bottom + scrollY > 0);
  }
  const root = document.documentElement;
  return {width: root.scrollWidth, height: root.scrollHeight, runs: [...runs]};
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a segment looks."""

    boxes: tuple[Box, ...]  # one a line, and a piece of a line; none if it takes no room
    font_size: float  # pixels, of its largest letters
    is_visible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """How a page looks."""

    page: str
    width: float  # pixels
    height: float
    runs: tuple[Run, ...]  # one a segment


UNSEEN = Run(boxes=(), font_size=0.0, is_visible=False)


def render(sheets: Iterable[Sheet], screenshots: str = "") -> Iterator[Rendering]:
    """How a browser shows each page. screenshots: a folder for a picture of each whole page, "" for none.

    Raises:
        PlatformError: there is no Playwright, or no Chromium.
        InputError: the browser gives up on a page, or its text is another one.
    """
    with _context() as context:
        for sheet in sheets:
            yield _shown(context, sheet, screenshots)


def write(path: str, some: Iterable[Rendering]) -> int:
    """Writes renderings as JSON lines, and returns how many they are."""
    count = 0

    def counted() -> Iterator[Fields]:
        nonlocal count
        for one in some:
            count += 1
            yield _as_fields(one)

    lines.write(path, counted())
    return count


def read(path: str) -> Iterator[Rendering]:
    """The renderings in a file of JSON lines.

    Raises:
        InputError: it cannot be read, or a line is no rendering.
    """
    for place, fields in lines.read(path):
        try:
            runs = tuple(map(_run, field(fields, "runs", "a list", place)))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{place}: no rendering: {error}; it must be of `labels render`") from error
        yield Rendering(
            page=field(fields, "page", "a text", place),
            width=float(field(fields, "width", "a number", place)),
            height=float(field(fields, "height", "a number", place)),
            runs=runs,
        )


@contextmanager
def _context() -> "Iterator[BrowserContext]":
    """A browser for one page after the other, that runs no script of theirs."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise PlatformError("pages are shown by Playwright; pip install dbce-spark[render]") from error
    with sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=[*_ARGUMENTS])
        except Error as error:
            raise PlatformError(
                f"no Chromium starts here; install it, or run `playwright install chromium`: {error}"
            ) from error
        yield browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, java_script_enabled=False)
        browser.close()


def _shown(context: "BrowserContext", sheet: Sheet, screenshots: str) -> Rendering:
    from playwright.sync_api import Error

    html = marks.marked(sheet)

    def answer(route: "Route") -> None:
        if route.request.url == _PLACE:
            route.fulfill(body=html, content_type="text/html; charset=utf-8")
        else:
            route.abort()

    page = context.new_page()
    try:
        page.route("**/*", answer)
        page.goto(_PLACE, timeout=_PATIENCE)
        found = page.evaluate(_MEASURE, marks.CLASS)
        if screenshots:
            page.screenshot(path=f"{screenshots}/{digest(sheet.page)[:16]}.png", full_page=True, timeout=_PATIENCE)
    except Error as error:
        raise InputError(f"{sheet.page}: Chromium gives up on it: {error}") from error
    finally:
        page.close()
    runs = {at: _run(run) for at, run in found["runs"]}
    return Rendering(
        page=sheet.page,
        width=float(found["width"]),
        height=float(found["height"]),
        runs=tuple(runs.get(at, UNSEEN) for at in range(len(sheet.segments))),
    )


def _run(of: Mapping[str, Any]) -> Run:
    return Run(
        boxes=tuple((float(x), float(y), float(width), float(height)) for x, y, width, height in of["boxes"]),
        font_size=float(of["font_size"]),
        is_visible=bool(of["is_visible"]),
    )


def _as_fields(one: Rendering) -> Fields:
    return {
        "page": one.page,
        "width": one.width,
        "height": one.height,
        "runs": [
            {
                "boxes": [[round(side, 1) for side in box] for box in run.boxes],
                "font_size": run.font_size,
                "is_visible": run.is_visible,
            }
            for run in one.runs
        ],
    }
