"""The report is one file that loads nothing."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbce_spark.evaluation.reporting import evaluation_report
from dbce_spark.evaluation.scoring import stream_course
from dbce_spark.evaluation.scoring.analysis import analyse
from dbce_spark.evaluation.scoring.node_scores import Confusion, NodeScoreRow
from tests.support.chromium import chromium
from tests.support.fake_extractors import gold_pages, line
from tests.support.page_scores import made_scores, page

DRAW = np.random.default_rng(8)
PAGES = [
    page(
        at,
        dataset=("one", "two")[at % 2],
        site=f"<{at}>",
        siblings=at % 3,
        snapshots=at % 2,
        tags=tuple(DRAW.dirichlet(np.ones(14))),
        complexity=at / 40,
    )
    for at in range(40)
]
F1 = {"first": DRAW.beta(9, 1, 40).tolist(), "<other>": DRAW.beta(4, 1, 40).tolist(), "third": [0.5] * 40}


def html() -> str:
    scores = made_scores(PAGES, F1)
    nodes = [NodeScoreRow(name, extractor, Confusion(1, 1, 1, 1)) for name in ("one", "two") for extractor in F1]
    return evaluation_report.html(analyse(scores, nodes), scores, ["One & all."], {"<other>": "contrasts/0/index.html"})


@pytest.fixture(scope="module")
def report() -> str:
    return html()


def test_a_report_holds_all_it_shows(report: str) -> None:
    """No script, no address but the name of SVG, and every name escaped."""
    assert ["http://www.w3.org/2000/svg"] == sorted(set(re.findall(r"https?://[^\"' ]+", report)))
    assert "<script" not in report
    assert "&lt;other&gt;" in report
    assert "<other>" not in report
    assert "One &amp; all." in report


def test_every_part_has_its_plot(report: str) -> None:
    """Standings, two pools by set, two lines, violins, cumulated, heat map, scatter and gold errors."""
    assert 10 == report.count("<svg")
    for name in ("standings", "sets", "siblings", "distributions", "pages", "metrics", "clusters", "gold", "misses"):
        assert f'<h2 id="{name}">' in report


def test_a_stream_is_drawn_by_the_number_of_the_page_in_its_domain(tmp_path: Path) -> None:
    """A dot for each extractor and range of numbers, and none for all pages together."""
    gold = gold_pages(tmp_path, [line(f"{at}", url=f"http://news.eu/{at}") for at in range(3)])
    scores = made_scores([page(at) for at in range(3)], {"dbce": [1.0, 0.5, 0.9], "urltree": [0.5, 0.5, 0.5]})
    course = stream_course.course(scores, {"made": gold})
    nodes = [NodeScoreRow("made", name, Confusion(1, 1, 1, 1)) for name in scores.extractors]
    written = evaluation_report.html(analyse(scores, nodes), scores, [], {}, course)

    assert ["urltree, documents 1: 0.500", "urltree, documents 2-4: 0.500"] == re.findall(
        "urltree, documents .*?(?=<)", written
    )
    assert "<th>2-4 (1 domain)</th>" in written


def test_the_worst_pages_are_linked(report: str) -> None:
    """Beside the report, so that the folder can be moved."""
    assert '<a href="contrasts/0/index.html">&lt;other&gt;</a>' in report


def test_every_page_is_in_the_picture(report: str) -> None:
    """Forty points in the last plot but one."""
    assert 40 == report.split("<svg")[-2].split("</svg>")[0].count("<circle")


def test_every_group_has_precision_recall_and_edit_distance(report: str) -> None:
    """A table for each pool by set, and for each property of pages: of sites with siblings here, all that differ."""
    assert 2 == report.count("<summary>Precision, recall and edit distance</summary>")
    for name in ("siblings", "snapshots", "complexity", "cluster"):
        assert f"<summary>Precision, recall and edit distance by {name}</summary>" in report
    assert "<th>complex: P</th><th>complex: R</th><th>complex: edit distance</th>" in report


def test_the_same_scores_give_the_same_bytes(report: str) -> None:
    """No date, no chance."""
    assert report == html()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it_without_a_word_and_without_sideways_scrolling(
    report: str, scheme: Any, tmp_path: Path
) -> None:
    """On a wide and on a narrow window; ink and paper differ in both schemes."""
    path = tmp_path / "report.html"
    path.write_text(report, encoding="utf-8")
    messages: list[str] = []
    with chromium() as browser:
        for width in (1280, 420):
            shown = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            shown.on("console", lambda message: messages.append(message.text))
            shown.goto(path.as_uri())
            assert width >= shown.evaluate("document.documentElement.scrollWidth")
            ink, paper = shown.evaluate(
                "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
            )
            dark, light = (sum(map(int, re.findall(r"\d+", colour))) for colour in (ink, paper))
            assert (scheme == "light") == (dark < light)
    assert [] == messages


def test_a_screen_reader_finds_one_main_part_and_the_values_of_plots(report: str) -> None:
    """A picture without a name is passed over with all that it holds; the values are titles of its dots."""
    assert 1 == report.count("<main>")
    assert 'role="img"' not in report
    assert '<svg xmlns="http://www.w3.org/2000/svg" role="group"' in report


@pytest.mark.browser
def test_words_of_plots_are_not_shrunk_on_a_phone(report: str, tmp_path: Path) -> None:
    """Plots are scrolled sideways in their box there: shrunk to its width, their words were four pixels high."""
    path = tmp_path / "report.html"
    path.write_text(report, encoding="utf-8")
    with chromium() as browser:
        shown = browser.new_page(viewport={"width": 390, "height": 844})
        shown.goto(path.as_uri())
        heights = [one.bounding_box()["height"] for one in shown.locator(".card > svg > text.plain:visible").all()]
        width = shown.evaluate("document.documentElement.scrollWidth")

    assert heights
    assert 8 <= min(heights)
    assert 390 == width
