"""Archived pages can do nothing in their frames, as a browser sees it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbce_spark.report import write_report
from tests.support.chromium import chromium
from tests.support.colour_contrast import contrast
from tests.support.report_outputs import HOSTILE, crawl, write_archive, write_output

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start a headless Chromium."""
    with chromium() as started:
        yield started


@pytest.fixture
def hostile(tmp_path: Path, listener: tuple[int, list[bytes]]) -> Path:
    """Write a report on an archive of hostile pages."""
    extra = HOSTILE.replace("PORT", str(listener[0]))
    archive = write_archive(tmp_path / "hostile.warc.gz", crawl(extra=extra))
    return write_report(str(write_output(tmp_path / "output", [archive])), str(tmp_path / "report"), pages=3).parent


def test_hostile_pages_run_nothing_and_load_nothing(
    browser: Any, hostile: Path, listener: tuple[int, list[bytes]]
) -> None:
    """No dialog opens, no title changes, no frame navigates and nobody is called, though every link is clicked."""
    sent: list[str] = []
    dialogs: Any = []
    for path in sorted(hostile.rglob("*.html")):
        page = browser.new_page()
        page.on("requestfinished", lambda request: sent.append(request.url))
        page.on("requestfailed", lambda request: None if request.failure == "csp" else sent.append(request.url))
        page.on("dialog", lambda dialog: dialogs.append(dialog.message) or dialog.dismiss())
        page.goto(path.as_uri())
        title = page.title()
        for frame in page.frames[1:]:
            for place in frame.locator("a, button, input").all():
                place.dispatch_event("click")
        page.wait_for_timeout(150)
        assert title == page.title() != "taken"
        assert path.as_uri() == page.url
        assert {"about:srcdoc"} >= {frame.url for frame in page.frames[1:]}
        page.close()
    assert [] == dialogs
    assert [] == [url for url in sent if not url.startswith("file:")]
    assert [] == listener[1]


def test_frames_show_the_page_in_colours(browser: Any, finished: Path, tmp_path: Path) -> None:
    """The frame shows the archived page with its content green and its boilerplate red."""
    folder = write_report(str(finished), str(tmp_path / "report"), pages=3).parent
    page = browser.new_page()
    page.goto((folder / "pages/01.html").as_uri())
    frame = page.frames[1]
    colours = {
        words: frame.get_by_text(words).evaluate("element => getComputedStyle(element).backgroundColor")
        for words in ("number0 stands here", "Home of the site")
    }
    page.close()
    assert {"number0 stands here": "rgb(185, 230, 180)", "Home of the site": "rgb(243, 184, 179)"} == colours


def test_tables_can_be_read_on_a_phone(browser: Any, finished: Path, tmp_path: Path) -> None:
    """No page is wider than 390 px, tables of sites and templates are not either, and the names in them are whole."""
    folder = write_report(str(finished), str(tmp_path / "report"), pages=1).parent
    page = browser.new_page(viewport={"width": 390, "height": 844})
    widths = set()
    for path in sorted(folder.rglob("*.html")):
        page.goto(path.as_uri())
        widths.add(page.evaluate("document.documentElement.scrollWidth"))
    page.goto((folder / "index.html").as_uri())
    tables = [page.locator(f"#{name} ~ .table").first for name in ("sites", "templates")]
    hidden = [table.evaluate("element => element.scrollWidth - element.clientWidth") for table in tables]
    names = [table.get_by_text("large.example", exact=True).first.bounding_box() for table in tables]
    page.close()

    assert {390} == widths
    assert [0, 0] == hidden
    assert all(name["height"] < 40 for name in names)


def test_the_pages_of_a_cross_stay_readable_on_a_phone(browser: Any, finished: Path, tmp_path: Path) -> None:
    """Each page of a cross is at least 220 px wide, and its figures are not cut off; the others are scrolled to."""
    folder = write_report(str(finished), str(tmp_path / "report"), pages=1).parent
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((folder / "pages/01-cross.html").as_uri())
    widths = [box.bounding_box()["width"] for box in page.locator(".cross .pane").all()]
    cut = [box.evaluate("one => one.scrollHeight - one.clientHeight") for box in page.locator(".cross .about").all()]
    page.close()

    assert 2 < len(widths)
    assert 220 <= min(widths)
    assert {0} == set(cut)


def test_a_page_is_printed_with_all_its_text_and_its_colours(browser: Any, finished: Path, tmp_path: Path) -> None:
    """On paper nothing is scrolled, so that boxes are as high as their text, and the colours of labels are kept."""
    folder = write_report(str(finished), str(tmp_path / "report"), pages=1).parent
    page = browser.new_page(viewport={"width": 800, "height": 300})
    page.emulate_media(media="print")
    page.goto((folder / "pages/01.html").as_uri())
    hidden = page.locator(".pane .text.plain").evaluate("one => one.scrollHeight - one.clientHeight")
    kept = "one => getComputedStyle(one).printColorAdjust"
    colours = {
        page.locator(".chip.content").first.evaluate(kept),
        page.frames[1].get_by_text("number0 stands here").evaluate(kept),
    }
    page.close()

    assert 0 == hidden
    assert {"exact"} == colours


def test_arms_that_lack_a_text_are_dark_enough_to_be_read(browser: Any, finished: Path, tmp_path: Path) -> None:
    """The names of the arms that lack a text have a contrast of 4.5 or more, and are not read out like the others."""
    folder = write_report(str(finished), str(tmp_path / "report"), pages=1).parent
    page = browser.new_page()
    page.goto((folder / "pages/01.html").as_uri())
    lacking = page.locator(".arms i:not(.on)").first
    colours = lacking.evaluate("one => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]")
    hidden = lacking.get_attribute("aria-hidden")
    page.close()

    assert 4.5 <= contrast(*colours)
    assert "true" == hidden
