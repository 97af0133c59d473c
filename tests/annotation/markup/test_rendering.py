"""Measure where Chromium puts segments, on pages that may want to do other things as well."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dbce_spark.annotation.markup import page_file, rendering, segment_marks
from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.annotation.markup.rendering import RenderedText, Rendering, render
from dbce_spark.commands.cli import main
from dbce_spark.errors import InputError
from dbce_spark.html.dom import PageError
from tests.support.annotation_stores import page as story
from tests.support.builders import archive, http, record

HTML = """<html><head><style>body {{ margin: 0; font-size: 16px }} h1 {{ font-size: 40px }} .far {{ position: absolute;
left: -5000px }}</style></head><body onload="document.body.textContent = ''"><h1>Title</h1>
<p style="width: 200px">{line}</p>
<p style="display: none">Hidden</p><p style="opacity: 0">Clear</p><p class="far">Away</p><img src="http://127.0.0.1:9/x.png">
<script>document.body.textContent = ''</script></body></html>"""
LINE = "A line that is much too long for its box and so is broken into several"


def page(html: str, *texts: str) -> Sheet:
    starts = [sum(len(one) + 1 for one in texts[:at]) for at in range(len(texts))]
    spans = tuple(SegmentSpan("/html[1]", start, start + len(one)) for start, one in zip(starts, texts, strict=True))
    return Sheet(page="p/1", html=html, text="\n".join(texts), segments=spans)


SHEET = page(HTML.format(line=LINE), "Title", LINE, "Hidden", "Clear", "Away")


@pytest.mark.parametrize(("user", "is_open"), [(0, True), (1000, False)])
def test_sandbox_is_open_only_for_root(monkeypatch: pytest.MonkeyPatch, user: int, is_open: bool) -> None:
    """Pages are hostile: the browser keeps its sandbox wherever it starts with it."""
    monkeypatch.setattr(os, "geteuid", lambda: user)

    assert is_open == ("--no-sandbox" in rendering.browser_arguments())


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Renderings come out of a file of JSON lines as they went in, places to a tenth of a pixel."""
    run = RenderedText(boxes=((1.5, 2.0, 3.0, 4.5),), font_size=16.0, is_visible=True)
    one = Rendering(page="p", width=1000.0, height=2000.0, runs=(run, rendering.UNSEEN))
    path = str(tmp_path / "rendering.jsonl")

    assert rendering.write(path, [one]) == 1
    assert list(rendering.read(path)) == [one]


def test_a_line_that_is_no_rendering_is_named(tmp_path: Path) -> None:
    """The error names the file and the line."""
    path = tmp_path / "rendering.jsonl"
    path.write_text(json.dumps({"page": "p", "width": 1, "height": 1, "runs": [{"boxes": [[1]]}]}), encoding="utf-8")

    with pytest.raises(InputError, match=r"rendering\.jsonl:1: no rendering"):
        list(rendering.read(str(path)))


def test_a_text_of_another_page_is_refused() -> None:
    """A text that is not the page's own would give boxes of other words."""
    with pytest.raises(PageError, match="the text is not the page's"):
        segment_marks.mark_segments(replace(SHEET, html="<p>Other</p>"))


def _browser() -> None:
    pytest.importorskip("playwright", reason="Playwright is not installed")
    if not shutil.which("chromium"):
        pytest.skip("chromium is not on the PATH")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Rendering, Path]:
    _browser()
    folder = tmp_path_factory.mktemp("screenshots")
    (one,) = render([rendering.make_scene(SHEET)], str(folder))
    return one, folder


@pytest.mark.browser
def test_every_segment_has_its_boxes(shown: tuple[Rendering, Path]) -> None:
    """A title is one large line above a paragraph of several; an element that is not displayed has no box."""
    title, line, hidden, *_ = shown[0].runs

    assert (len(title.boxes), title.font_size, line.font_size) == (1, 40.0, 16.0)
    assert len(line.boxes) >= 3
    assert max(box[2] for box in line.boxes) <= 200
    assert title.boxes[0][1] < line.boxes[0][1] < line.boxes[-1][1]
    assert hidden.boxes == ()


@pytest.mark.browser
def test_what_nobody_sees_is_known(shown: tuple[Rendering, Path]) -> None:
    """Text that is not displayed, has no colour, or lies left of the page is unseen; no script has changed any of
    it."""
    assert [run.is_visible for run in shown[0].runs] == [True, True, False, False, False]


@pytest.mark.browser
def test_a_page_of_a_store_looks_as_its_archived_styles_say(tmp_path: Path) -> None:
    """A style sheet from the archive gives one letter size for the headline and hides the footer; without the store the
    page has neither."""
    _browser()
    styled = "<link rel=stylesheet href=/style.css>"
    style = "h1 { font-size: 77px } footer { display: none }"
    path, out = str(tmp_path / "labels.db"), str(tmp_path / "out")
    source = archive(
        tmp_path / "a.warc",
        record(http(story("A styled page", head=styled)), url="http://geese.example/"),
        record(http(style, content_type="text/css"), url="http://geese.example/style.css"),
    )
    assert main(["annotate", "add", path, "--archive", source]) == 0
    assert main(["annotate", "export", path, "--output", out]) == 0
    for given, target in (([f"{out}/pages.jsonl"], f"{out}/bare.jsonl"), (["--store", path], f"{out}/full.jsonl")):
        assert main(["labels", "render", *given, "--output", target]) == 0
    (bare,), (full,) = (list(rendering.read(f"{out}/{name}.jsonl")) for name in ("bare", "full"))
    texts = next(page_file.read(f"{out}/pages.jsonl")).texts
    headline, footer = texts.index("A styled page"), texts.index("All rights reserved")

    assert (bare.page, len(bare.runs)) == (full.page, len(full.runs))
    assert (32.0, 77.0) == (bare.runs[headline].font_size, full.runs[headline].font_size)
    assert (True, False) == (bare.runs[footer].is_visible, full.runs[footer].is_visible)


@pytest.mark.browser
def test_a_page_that_is_not_there_is_refused() -> None:
    """A missing page is an error, since otherwise all of it would be unseen."""
    _browser()
    missing = replace(rendering.make_scene(SHEET), answer=lambda _: rendering.Answer(b"gone", "text/html", 404))

    with pytest.raises(InputError, match="p/1: there is nothing to show of it"):
        list(render([missing]))


def test_nothing_to_show_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command with neither pages nor a store is an error."""
    assert main(["labels", "render", "--output", str(tmp_path / "out.jsonl")]) == 2
    assert "there is nothing to show" in capsys.readouterr().err


@pytest.mark.browser
def test_a_picture_is_kept_of_the_whole_page(shown: tuple[Rendering, Path]) -> None:
    """The picture is a PNG, under a name that leads nowhere whatever the page's id is."""
    (picture,) = shown[1].iterdir()

    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) == rendering.picture_path(str(shown[1]), "p/1")
