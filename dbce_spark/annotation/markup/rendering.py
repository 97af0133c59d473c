"""Render pages in a browser: where it puts every segment, how large its letters are, and whether it is seen.

Pages are shown by a headless Chromium without scripts and without the network: their own HTML decides, and the
resources archived with them, where they come out of a store.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dbce_spark.annotation.markup import segment_marks
from dbce_spark.annotation.markup.page_file import Sheet
from dbce_spark.errors import InputError, PlatformError, installs
from dbce_spark.files import jsonl
from dbce_spark.files.jsonl import Fields, field
from dbce_spark.model import digest

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Route

Box = tuple[float, float, float, float]
"""Left, top, width and height in pixels of the page, however far one has to scroll."""

WIDTH, HEIGHT = 1024, 768
"""Pixels of the window: what most people had when KrdWrd's pages were made; its screen-shots are 997 wide."""

_PATIENCE = 30_000
"""Milliseconds that a page may take to be shown; the mean one of canola takes some 200."""

PLACE = "http://page.invalid"
"""Origin under which the browser is given pages."""

_ARGUMENTS = ("--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
_MEASURE = """({element, attribute, before}) => {
  const runs = new Map();
  for (const piece of document.querySelectorAll(`${element}[${attribute}]`)) {
    if (!piece.getAttribute(attribute).startsWith(before)) continue;
    const number = Number(piece.getAttribute(attribute).slice(before.length));
    if (!runs.has(number)) runs.set(number, {boxes: [], font_size: 0, is_visible: false});
    const run = runs.get(number);
    const boxes = [...piece.getClientRects()].filter(box => box.width > 0 && box.height > 0);
    run.boxes.push(...boxes.map(box => [box.x + scrollX, box.y + scrollY, box.width, box.height]));
    run.font_size = Math.max(run.font_size, parseFloat(getComputedStyle(piece).fontSize) || 0);
    run.is_visible ||= piece.checkVisibility({opacityProperty: true, visibilityProperty: true})
      && boxes.some(box => box.right + scrollX > 0 && box.bottom + scrollY > 0);
  }
  const root = document.documentElement;
  return {width: root.scrollWidth, height: root.scrollHeight, runs: [...runs]};
}"""


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a request of the browser for a part of a page."""

    body: bytes
    content_type: str
    status: int = 200


@dataclass(frozen=True, slots=True)
class Pieces:
    """The elements of a page that hold its segments: by their name, and an attribute that has a number behind a
    text."""

    element: str
    attribute: str
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A page to be shown."""

    page: str  # its id
    address: str  # below PLACE
    answer: Callable[[str], Answer | None]  # to a URL; None: nothing is there
    pieces: Pieces
    numbers: Sequence[int]  # of each segment that of its pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedText:
    """The look of a segment."""

    boxes: tuple[Box, ...]  # one a line, and a piece of a line; none if it takes no room
    font_size: float  # pixels, of its largest letters
    is_visible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """The look of a page."""

    page: str
    width: float  # pixels
    height: float
    runs: tuple[RenderedText, ...]  # one a segment


UNSEEN = RenderedText(boxes=(), font_size=0.0, is_visible=False)


def render(scenes: Iterable[Scene], screenshots: str = "") -> Iterator[Rendering]:
    """Show each page in a browser, and yield how it looks. screenshots: a folder for a picture of each whole page, ""
    for none.

    Raises:
        PlatformError: there is no Playwright, or no Chromium.
        InputError: the browser gives up on a page.
    """
    with _context() as context:
        for scene in scenes:
            yield _shown(context, scene, screenshots)


def make_scene(sheet: Sheet) -> Scene:
    """Make the scene of a page by itself: what it loads is missing.

    Raises:
        PageError: its text is another one.
    """
    html, address = segment_marks.mark_segments(sheet), f"{PLACE}/"

    def answer(url: str) -> Answer | None:
        return Answer(html.encode("utf-8", "replace"), "text/html; charset=utf-8") if url == address else None

    pieces = Pieces("span", "class", segment_marks.CLASS)
    return Scene(page=sheet.page, address=address, answer=answer, pieces=pieces, numbers=range(len(sheet.segments)))


def picture_path(folder: str, page: str) -> str:
    """Return the path of the picture of a page: it leads nowhere but into the folder, whatever the page's id is."""
    return f"{folder}/{digest(page)[:16]}.png"


def write(path: str, renderings: Iterable[Rendering]) -> int:
    """Write renderings as JSON lines, and return how many they are."""
    return jsonl.write(path, map(_as_fields, renderings))


def read(path: str) -> Iterator[Rendering]:
    """Read the renderings in a file of JSON lines.

    Raises:
        InputError: it cannot be read, or a line is no rendering.
    """
    for place, fields in jsonl.read(path):
        try:
            runs = tuple(map(_run, field(fields, "runs", "a list", place)))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{place}: no rendering: {error}; give a file that `dbce labels render` wrote") from error
        yield Rendering(
            page=field(fields, "page", "a text", place),
            width=float(field(fields, "width", "a number", place)),
            height=float(field(fields, "height", "a number", place)),
            runs=runs,
        )


@contextmanager
def _context() -> "Iterator[BrowserContext]":
    """Start a browser for one page after the other, which runs no script of theirs."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise PlatformError(f"pages are shown by Playwright; {installs('render')}") from error
    with sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=browser_arguments())
        except Error as error:
            raise PlatformError(
                f"no Chromium starts here; install it, or run `playwright install chromium`: {error}"
            ) from error
        with browser:
            yield browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, java_script_enabled=False)


def browser_arguments() -> list[str]:
    """Return the arguments that Chromium is started with. Its sandbox is one more protection from a hostile page, but
    as root it refuses to start with it."""
    return [*_ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


def _shown(context: "BrowserContext", scene: Scene, screenshots: str) -> Rendering:
    """Show one page, and measure its segments."""
    from playwright.sync_api import Error

    def answer(route: "Route") -> None:
        found = scene.answer(route.request.url)
        if found is None:
            route.abort()
        else:
            route.fulfill(body=found.body, content_type=found.content_type, status=found.status)

    page = context.new_page()
    try:
        page.route("**/*", answer)
        response = page.goto(scene.address, timeout=_PATIENCE)
        if response is None or not response.ok:
            raise InputError(f"{scene.page}: there is nothing to show of it")
        found = page.evaluate(_MEASURE, asdict(scene.pieces))
        if screenshots:
            page.screenshot(path=picture_path(screenshots, scene.page), full_page=True, timeout=_PATIENCE)
    except Error as error:
        raise InputError(f"{scene.page}: Chromium cannot show it: {error}") from error
    finally:
        page.close()
    runs = {number: _run(run) for number, run in found["runs"]}
    return Rendering(
        page=scene.page,
        width=float(found["width"]),
        height=float(found["height"]),
        runs=tuple(runs.get(number, UNSEEN) for number in scene.numbers),
    )


def _run(measured: Mapping[str, Any]) -> RenderedText:
    return RenderedText(
        boxes=tuple((float(x), float(y), float(width), float(height)) for x, y, width, height in measured["boxes"]),
        font_size=float(measured["font_size"]),
        is_visible=bool(measured["is_visible"]),
    )


def _as_fields(rendering: Rendering) -> Fields:
    return {
        "page": rendering.page,
        "width": rendering.width,
        "height": rendering.height,
        "runs": [
            {
                "boxes": [[round(side, 1) for side in box] for box in run.boxes],
                "font_size": run.font_size,
                "is_visible": run.is_visible,
            }
            for run in rendering.runs
        ],
    }
