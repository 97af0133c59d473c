"""Label a cross in the workbench, its segments one after the other, its neighbours beside it (thesis 4.1)."""

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from dbce_spark.annotation.markup import cross_tasks
from dbce_spark.annotation.markup.cross_tasks import CrossTask
from dbce_spark.annotation.store import (
    annotator_accounts,
    neighbours,
    sheet_import,
    stored_pages,
    stored_submissions,
    workbench_store,
)
from dbce_spark.annotation.web import replay, replay_tickets, workbench_app
from dbce_spark.annotation.web.replay_tickets import Ticket
from dbce_spark.commands import cli
from reproductions import __main__ as reproductions
from tests.support.annotation_stores import DOT, PASSWORD, SETTINGS
from tests.support.builders import CONFIG, archive, http, record
from tests.support.workbench_browser import archived, expect_painted, kept, next_page, press, tags
from tests.support.workbenches import Served, served

NAMES = ("seal", "storm", "crane", "bell")
HIDDEN = "<p style='display: none'>Only for machines</p>"


def story(name: str, year: int, malice: str = "") -> str:
    """Return a page of one template: a menu and a foot that all share, and paragraphs of its own."""
    paragraphs = "".join(
        f"<p>{' '.join(f'{name}{year if at == 2 else at}{word}' for word in range(40))}</p>" for at in range(4)
    )
    menu = "".join(f"<li><a href='/{other}'>About {other} and more</a></li>" for other in NAMES)
    foot = "<address><i>Printed by the harbour office, all rights reserved.</i></address>"
    return (
        f"<html><head><link rel=stylesheet href=/style.css><title>All of {name}s</title></head><body><ul>{menu}</ul>"
        f"<div><h1>All of {name}s</h1>{paragraphs}{HIDDEN}{malice}</div>{foot}</body></html>"
    )


def crawl(path: Path, malice: str = "") -> str:
    """Write an archive of four pages of one site, each captured in three years, and what they load."""
    site = "http://harbour.example"
    records = [
        record(http(story(name, year, malice)), url=f"{site}/{name}.html", date=f"20{year}-01-01T00:00:00Z")
        for year in (10, 11, 12)
        for name in NAMES
    ]
    style = "h1 { color: #123456 } body { background: url(dot.png) }"
    loaded = [
        record(http(style, content_type="text/css"), url=f"{site}/style.css", date="2011-01-01T00:00:00Z"),
        record(http(DOT, content_type="image/png"), url=f"{site}/dot.png", date="2011-01-01T00:00:00Z"),
    ]
    return archive(path, *records, *loaded)


def taken(folder: Path, malice: str = "") -> tuple[str, CrossTask]:
    """Make a store of one cross, with what it loads, and ada; return it and the cross."""
    path, warc, file = (str(folder / name) for name in ("labels.db", "crawl.warc", "crosses.jsonl"))
    crawl(Path(warc), malice)
    choose = ["labels", "crosses", warc, "--output", file, "--urls-per-site", "1", "--crosses-per-url", "1"]
    assert cli.main(choose) == 0
    assert cli.main(["annotate", "take", path, file, "--archive", warc]) == 0
    opened = workbench_store.open_store(path)
    annotator_accounts.add(opened, "ada", SETTINGS, password=PASSWORD)
    opened.close()
    (cross,) = cross_tasks.read(file)
    return path, cross


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the store once: a copy of its files is another."""
    folder = tmp_path_factory.mktemp("filled")
    taken(folder)
    return folder


@pytest.fixture
def path(filled: Path, tmp_path: Path) -> str:
    """Return a copy of the store of that cross."""
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    return str(tmp_path / "labels.db")


@pytest.fixture
def cross(filled: Path) -> CrossTask:
    return next(cross_tasks.read(str(filled / "crosses.jsonl")))


@contextmanager
def sat_down(path: str, context: Any) -> Iterator[tuple[Served, Any]]:
    """Serve the workbench, and open a window in which ada has the cross before her."""
    with served(path) as one:
        yield one, next_page(context, one, "ada")


def neighbour(window: Any, arm: str) -> Any:
    """Return the frame of a neighbour, when it is ready."""
    frame = window.wait_for_selector(f"[data-of={arm}] iframe").content_frame()
    frame.wait_for_selector("[data-dbce-node]", state="attached")  # before, an empty page is loaded
    frame.wait_for_load_state()
    return frame


def click(window: Any, frame: str, selector: str, arrived: str) -> None:
    """Click into a frame, whose scale Playwright ignores, until an expression is true: Chromium loses a click that
    comes before it has drawn a scaled frame."""
    element = window.query_selector(frame)
    inner = element.content_frame()
    for _ in range(120):
        box = element.bounding_box()
        left, top, width = inner.evaluate(
            """selector => {
              const box = document.querySelector(selector).getBoundingClientRect();
              return [box.left, box.top, innerWidth];
            }""",
            selector,
        )
        scale = box["width"] / width
        window.mouse.click(box["x"] + scale * (left + 5), box["y"] + scale * (top + 5))
        window.wait_for_timeout(250)
        if window.evaluate(arrived):
            return


def test_a_cross_has_its_neighbours_in_the_store(path: str, cross: CrossTask, tmp_path: Path) -> None:
    """Each neighbour is in its arm, once, however often it is imported; its resources are copied."""
    given = [str(tmp_path / "crosses.jsonl")], [str(tmp_path / "crawl.warc")], CONFIG, SETTINGS
    first, again = (sheet_import.import_pages(name, *given) for name in (str(tmp_path / "other.db"), path))
    opened = workbench_store.open_store(path)
    found = neighbours.get(opened, cross.sheet.page)
    opened.close()

    assert "1 page added with 4 neighbours; 2 images, style sheets and frames copied with them" == str(first)
    assert (0, 0, 0) == (again.pages, again.neighbours, again.resources)
    assert [(one.arm, one.url) for one in found] == [(arm, near.url) for arm, near in cross.neighbours.items()]
    assert found[2].timestamp < found[3].timestamp


def test_a_block_of_the_page_has_its_place_in_each_neighbour(path: str, cross: CrossTask) -> None:
    """Each node of a block is on an element of the neighbour, where the template is the same."""
    opened = workbench_store.open_store(path)
    page = stored_pages.get(opened, cross.sheet.page)
    found = neighbours.get(opened, cross.sheet.page)
    opened.close()
    assert page is not None

    for one in found:
        numbered = {int(node) for node in re.findall(r'data-dbce-node="(\d+)"', one.html)}
        assert {*neighbours.same_places(page)} == numbered


def test_a_neighbour_and_what_it_loads_come_from_the_store(path: str, cross: CrossTask) -> None:
    """Each in its arm, with the ticket of the page; there is none in an arm that the page does not have."""
    opened = workbench_store.open_store(path)
    ticket = replay_tickets.sign(Ticket(cross.sheet.page, "http://localhost"), workbench_store.secret(opened))
    opened.close()
    client = replay.create(path, SETTINGS).test_client()
    found = {arm: client.get(f"/{ticket}/{arm}/page") for arm in (*cross.neighbours, "else")}
    style = [
        re.search(r'href="http://localhost(/[^"]*)"', one.text) for one in found.values() if one.status_code == 200
    ]
    loaded = [client.get(one[1].replace("&amp;", "&")) for one in style if one]

    assert [200, 200, 200, 200, 404] == [one.status_code for one in found.values()]
    for arm, one in cross.neighbours.items():
        assert f"<title>All of {urlsplit(one.url).path[1:-5]}s</title>" in found[arm].text
    assert [(200, "text/css")] * 4 == [(one.status_code, one.mimetype) for one in loaded]
    assert {f"/{ticket}/{arm}/loaded" for arm in cross.neighbours} == {one[1].partition("?")[0] for one in style if one}
    assert (
        404 == client.get(f"/{ticket}/else/loaded", query_string={"url": "http://harbour.example/dot.png"}).status_code
    )


def test_a_page_names_the_scenes_of_its_neighbours(path: str, cross: CrossTask) -> None:
    """A frame each, which no more than the page's own may leave its sandbox."""
    client = workbench_app.create(path, SETTINGS).test_client()
    csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/login").text)
    assert csrf is not None
    client.post("/login", data={"name": "ada", "password": PASSWORD, "csrf": csrf[1]})
    text = client.get(f"/pages/{cross.sheet.page}").text
    own = re.search(r'<iframe id="page" src="([^"]+)/page"', text)
    assert own is not None

    assert [f"{own[1]}/{arm}/page" for arm in cross.neighbours] == re.findall(r'data-src="([^"]+)"', text)
    assert [*cross.neighbours] == re.findall(r'data-of="(\w+)" hidden><iframe sandbox="allow-scripts" ', text)


@pytest.mark.browser
def test_a_cross_is_labelled_segment_by_segment_with_a_key_each(
    path: str, cross: CrossTask, tmp_path: Path, context: Any
) -> None:
    """The first segment is highlighted; a key tags it and the next comes; hidden ones are passed over. The submission
    is merged, and measured by the thesis's cases."""
    own = ("All", urlsplit(cross.sheet.url).path[1:5])
    expected = ["content" if text.startswith(own) else "boilerplate" for text in cross.sheet.texts]
    with sat_down(path, context) as (_, window):
        for at, (text, tag) in enumerate(zip(cross.sheet.texts, expected, strict=True)):
            if text != "Only for machines":
                assert at == window.evaluate("workbench.segment")
                press(window, "3" if tag == "content" else "1")
        assert expected == tags(window)
        expect_painted(window, expected)
        assert "all tagged" == window.inner_text("#count")
        kept(window)
        press(window, "Control+Enter")
        window.wait_for_url(re.compile(r"/$"))
    out = str(tmp_path / "out")
    merge = ["labels", "merge", str(tmp_path / "crosses.jsonl"), "--submissions", f"{out}/submissions.jsonl"]
    assert cli.main(["annotate", "export", path, "--output", out]) == 0
    assert cli.main([*merge, "--min-submissions", "1", "--min-pages", "1", "--output", out]) == 0
    thesis = ["labelled-crosses", str(tmp_path / "crosses.jsonl"), "--labels", f"{out}/merged.jsonl"]
    assert reproductions.main([*thesis, "--output", f"{out}/thesis.md"]) == 0

    assert [expected] == [[tag.word for tag in one.tags if tag is not None] for one in submissions(path)]
    assert "| harbour.example | T001 | 1 |" in Path(out, "thesis.md").read_text("utf-8")


@pytest.mark.browser
def test_the_neighbours_are_switched_by_key_and_by_click_and_show_the_same_place(path: str, context: Any) -> None:
    """One at a time, as it was archived, on a laptop's screen as wide as pages are made for; the same block is outlined
    in it; keys work from within it as well."""
    with sat_down(path, context) as (_, window):
        up = neighbour(window, "up")
        assert min(frame.evaluate("innerWidth") for frame in (archived(window), up)) >= 900
        for part in (".tools", "#page", "[data-of=up] iframe", ".status"):
            box = window.locator(part).bounding_box()
            assert (box["x"] + box["width"] <= 1366, box["y"] + box["height"] <= 768) == (True, True)
        up.wait_for_selector("li:first-child[data-dbce-aim]")
        assert "rgb(18, 52, 86)" == up.evaluate("getComputedStyle(document.querySelector('h1')).color")
        press(window, *"1111")
        up.wait_for_selector("h1[data-dbce-aim]")
        shown = []
        for pressed in ("b", "b", "Shift+B", "b", "b"):
            press(window, pressed)
            shown.append(window.get_attribute("[role=tab][aria-selected=true]", "data-arm"))
        window.click("[data-arm=prev]")
        prev = neighbour(window, "prev")
        prev.wait_for_selector("h1[data-dbce-aim]")
        assert ["down", "prev", "down", "prev", "next"] == shown
        assert 1 == window.locator("#beside iframe:visible").count()
        click(window, "[data-of=prev] iframe", "h1", "document.activeElement.title.startsWith('prev')")
        press(window, "3", "3")
        window.wait_for_function("() => workbench.marks.size === 6")
        prev.wait_for_selector("p[data-dbce-aim]")
        click(window, "#page", "address i", "workbench.segment === workbench.tags.length - 1")
        prev.wait_for_selector("address[data-dbce-aim]")

        assert {"boilerplate": 5, "content": 2} == {tag: n for tag, n in Counter(tags(window)).items() if tag}


@pytest.mark.browser
def test_a_neighbour_reaches_nothing_and_runs_nothing(
    tmp_path: Path, context: Any, listener: tuple[int, list[bytes]]
) -> None:
    """The four measures against archived pages are taken for each neighbour, too."""
    port, came = listener
    ran, live = "document.documentElement.setAttribute('data-ran', '1')", f"http://127.0.0.1:{port}"
    malice = (
        f"<script>{ran}; fetch('{live}/fetch')</script><img src='{live}/a.png' onerror=\"{ran}\">"
        f"<iframe src='{live}/frame'></iframe><form action='{live}/form'></form>"
        f"<a id=top target=_top href='{live}'>a</a>"
    )
    path, _ = taken(tmp_path, malice)
    with sat_down(path, context) as (one, window):
        kept(window)  # what the page hides is kept as it comes: a request of the workbench
        requested: set[str] = set()
        context.on("request", lambda request: requested.add(urlsplit(request.url).netloc))
        for arm in ("up", "down", "prev", "next"):
            window.click(f"[data-arm={arm}]")
            frame = neighbour(window, arm)
            frame.wait_for_selector("[data-dbce-aim]")
            frame.evaluate("document.getElementById('top').click()")
            assert ["null", None] == frame.evaluate("[self.origin, document.documentElement.getAttribute('data-ran')]")
        window.wait_for_timeout(500)

        assert window.url.startswith(f"{one.address}/pages/")
        assert requested <= {f"127.0.0.1:{one.replay_port}"}
    assert [] == came


def submissions(path: str) -> list[Any]:
    opened = workbench_store.open_store(path)
    try:
        return [*stored_submissions.read_submissions(opened)]
    finally:
        opened.close()
