"""The experiments of the thesis: extractors, counts, tables and figures, on small sets of our own."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

from dbce_spark.errors import ConfigError
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.extracting import joint_extractors
from dbce_spark.evaluation.scoring.metrics import rouge_l, words
from dbce_spark.model import Label
from reproductions.thesis import chapter4, gold_sample, plots, thesis_report
from reproductions.thesis.learned_cases import CASES
from reproductions.thesis.phases import PHASES
from reproductions.thesis.thesis_extractors import extract
from reproductions.thesis.truth import counts, text_node_labels
from tests.support.builders import CONFIG
from tests.support.fake_extractors import gold_pages, line, own_set, written

U, C, B = Label.UNDECIDED, Label.CONTENT, Label.BOILERPLATE
NAMES = ("seal", "storm", "crane", "bell", "ferry", "tide", "rope", "gull", "fog", "buoy", "eel", "net")


def prose(*names: object) -> str:
    """Twelve words that no other text has."""
    return " ".join(f"{''.join(map(str, names))}{place}" for place in range(12))


def story(name: str, version: int = 0, site: str = "harbour.example") -> dict[str, Any]:
    """A page of one template: a menu, a story with a paragraph that each version words anew, and a foot."""
    paragraphs = [*(prose(name, word) for word in NAMES[:5]), prose(name, "version", version)]
    menu = "".join(f"<li><a href='/{word}'>About {word} and more</a></li>" for word in NAMES)
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    foot = "<address><i>Printed by the harbour office, all rights reserved.</i></address>"
    return line(
        f"{site}/{name}/{version}",
        f"<html><body><ul>{menu}</ul><div><b></b><h1>{prose(name)}</h1>{body}</div>{foot}</body></html>",
        "\n".join([prose(name), *paragraphs]),
        site=site,
        url=f"http://{site}/{name}.html",
        url_key=f"{site}/{name}",
        date=f"20{10 + version}-01-01",
        dataset="series" if version else "sites",
    )


def sites(count: int = 3) -> list[dict[str, Any]]:
    """So many pages of two sites each."""
    return [story(name, site=site) for site in ("a.example", "b.example") for name in NAMES[:count]]


def series(count: int = 9) -> list[dict[str, Any]]:
    """So many snapshots of three pages each, a year apart."""
    return [story(name, version) for name in NAMES[:3] for version in range(1, count + 1)]


def cells(table: str) -> list[list[str]]:
    """The rows of a Markdown table, without its head."""
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]


@pytest.mark.parametrize("name", CASES)
def test_every_case_extracts_the_story(name: str, tmp_path: Path) -> None:
    """Between siblings the menu and the foot are gone, and each phase has its time: no learning, no time for it."""
    pages = gold_pages(tmp_path, [{**one, "dataset": "made"} for one in sites()])
    found = extract(pages, CONFIG, name)
    for page in pages:
        paragraphs, text = page.gold.splitlines()[1:], found[page.page_id].text
        assert text.endswith("\n".join(paragraphs))
        assert "About" not in text
    assert all(PHASES == tuple(one.seconds) for one in found.values())
    assert (name in ("T001", "T002")) == (sum(one.seconds["learn"] for one in found.values()) == 0)


@pytest.mark.parametrize("name", CASES)
def test_thin_learning_sets_are_no_error(name: str, tmp_path: Path) -> None:
    """A story of one node is outvoted by its neighbours where there are five; a page alone gets the fallback."""
    found = extract(gold_pages(tmp_path, own_set()), CONFIG, name)
    assert ("forty two storms" in found["story-1"].text) == (name in ("T001", "T002", "T006"))
    assert "grey seal" in found["alone"].text


@pytest.mark.parametrize("name", ["T001", "T002"])
def test_the_unlearned_cases_are_those_of_the_method(name: str, tmp_path: Path) -> None:
    """They give the words of `local.extract_pages` with that `label.by`."""
    pages = gold_pages(tmp_path, [{**fields, "dataset": "made"} for fields in [*sites(), *series()]])
    setting = joint_extractors.Setting(config=CONFIG, time_limit=2.0, workers=1, folds="", advance=lambda _: None)
    expected = {page_id: one.text.split() for page_id, one in joint_extractors.together(pages, setting, name).items()}
    assert expected == {page_id: one.text.split() for page_id, one in extract(pages, CONFIG, name).items()}


def test_a_page_without_a_word_is_an_error(tmp_path: Path) -> None:
    """It has no text and no time, and says why."""
    found = extract(gold_pages(tmp_path, [line("a", "<script>1</script>"), line("b")]), CONFIG, "T006")
    assert ("", "no_text: no word outside scripts, styles and forms") == (found["a"].text, found["a"].error)
    assert {0.0} == set(found["a"].seconds.values())
    assert "" == found["b"].error


def test_an_unknown_case_is_refused_with_the_available_ones() -> None:
    """There are six."""
    with pytest.raises(ConfigError, match=r"T007 is no test case of the thesis; known are T001, .*T006"):
        extract([], CONFIG, "T007")


def test_text_nodes_are_content_if_the_gold_holds_half_of_them() -> None:
    """One without a word is neither."""
    html = "<html><body><p>menu here</p><p>one two <b>***</b> three four five six</p></body></html>"
    assert [B, C, U, C] == text_node_labels(html, "one two three four").tolist()


def test_nodes_without_truth_are_not_counted() -> None:
    """And one that is left undecided is not in the text."""
    labels, truth = np.array([C, B, U, C, U, C], np.uint8), np.array([C, C, C, B, B, U], np.uint8)
    found = counts(labels, truth)
    assert (1, 2, 1, 1) == (found.tp, found.fn, found.fp, found.tn)


def test_samples_hold_groups_with_siblings_and_no_group_whole(tmp_path: Path) -> None:
    """A sample has the same pages whatever their order; none without two siblings."""
    fields = [*sites(12), *(story(name, site="c.example") for name in NAMES[:2])]
    pages = gold_pages(tmp_path, [{**one, "dataset": "made"} for one in fields])
    chosen = gold_sample.chosen(pages, 3)
    assert gold_sample.PER_GROUP == len(chosen) == len({page.url for page in chosen})
    assert 1 == len({page.group for page in chosen})
    assert 24 == len(gold_sample.chosen(pages, 100))


def measured(tmp_path: Path, fields: list[dict[str, Any]]) -> gold_sample.Sample:
    pages = gold_pages(tmp_path, [{**one, "dataset": "made"} for one in fields])
    return gold_sample.read(gold_sample.across_versions(pages), CONFIG)


def test_chapter_4_has_all_cases_with_scores_and_times(tmp_path: Path) -> None:
    """On a clean template every node is labelled right, and learning takes time where there is some."""
    found = {"made": chapter4.measure(measured(tmp_path, sites()), CONFIG)}
    rows = cells(chapter4.scores(found))
    assert list(CASES) == [row[1] for row in rows]
    assert ["6", "1.000"] == rows[0][2:4]
    times = {row[1]: row[2:] for row in cells(chapter4.times(found))}
    assert "0.0" == times["T002"][PHASES.index("learn")] != times["T006"][PHASES.index("learn")]


def test_pages_are_timed_one_by_one(tmp_path: Path) -> None:
    """The box plots of figures 4.4 to 4.6 have a time of each page and phase, and the elements of the captures that its
    cross compares: three pages of 38 elements."""
    found = chapter4.measure(measured(tmp_path, sites()), CONFIG)
    assert {114} == {page.elements for page in found["T001"]}
    assert all(page.seconds["prepare"] > 0 and page.seconds["learn"] > 0 for page in found["T006"])
    drawn = [*chapter4.figure_4_4({"made": found}), chapter4.figure_4_5(found, "made")]
    boxes = [len(etree.fromstring(svg.encode()).findall(".//{*}rect[@fill-opacity]")) for svg in drawn]
    assert [1, 1, len(PHASES) * len(CASES)] == boxes


def test_figures_are_svg_with_a_box_for_each_case(tmp_path: Path) -> None:
    """Figure 4.7 over all pages, figure 4.8 by set."""
    found = {name: chapter4.measure(measured(tmp_path, sites()), CONFIG) for name in ("one", "two")}
    boxes = {
        figure: len(etree.fromstring(svg.encode()).findall(".//{*}rect[@fill-opacity]"))
        for figure, svg in (("4.7", chapter4.figure_4_7(found)), ("4.8", chapter4.figure_4_8(found)))
    }
    assert {"4.7": 6, "4.8": 12} == boxes


def test_nodes_are_bars_by_set(tmp_path: Path) -> None:
    """Figure 4.3 has the counts of the table beside it: all nodes, the labelled ones, content, boilerplate."""
    found = {name: chapter4.measure(measured(tmp_path, sites()), CONFIG) for name in ("one", "two")}
    bars = etree.fromstring(chapter4.figure_4_3(found).encode()).findall(".//{*}rect[@fill-opacity]/{*}title")
    assert [row[3:] for row in cells(chapter4.nodes(found))] == 2 * [["120", "120", "42", "78"]]
    assert 2 * ["120", "120", "42", "78"] == [bar.text for bar in bars]


def test_bars_stand_on_the_axis_by_their_counts() -> None:
    """The plot is 240 pixels high, and its axis ends at a round number; a long one is in thousands. What has no count
    has no bar, and keeps its place."""
    root = etree.fromstring(
        plots.bars("Nodes", {"a": {"all": 150_000, "content": 50_000}, "b": {"content": 0}}).encode()
    )
    found = [(bar.get("y"), bar.get("height")) for bar in root.findall(".//{*}rect[@fill-opacity]")]
    assert [("94.0", "180.0"), ("214.0", "60.0"), ("274.0", "0.0")] == found
    assert {"0 k", "200 k", "all", "content"} <= {str(text.text) for text in root.iter("{*}text")}


def test_boxes_stand_at_the_quartiles() -> None:
    """From the second to the fourth of five values, in a plot 240 pixels high; a name may hold markup."""
    root = etree.fromstring(plots.boxes("A & B", {"<all>": {"T001": [0.0, 0.25, 0.5, 0.75, 1.0]}}).encode())
    box = root.find(".//{*}rect[@fill-opacity]")
    assert box is not None
    assert ("94.0", "120.0") == (box.get("y"), box.get("height"))
    assert {"A & B", "<all>"} <= {str(text.text) for text in root.iter("{*}text")}


def test_an_axis_ends_at_a_round_number_that_all_whiskers_stay_below() -> None:
    """Its ticks are as many as those of shares, and a box of milliseconds stands where its share of the top is."""
    groups = {"learn": {"T006": [0.0, 25.0, 50.0, 75.0, 100.0]}}
    root = etree.fromstring(plots.boxes("ms", groups, most=plots.most(groups)).encode())
    box = root.find(".//{*}rect[@fill-opacity]")
    assert box is not None
    assert (100.0, "94.0", "120.0") == (plots.most(groups), box.get("y"), box.get("height"))
    assert {"0", "20", "100"} <= {str(text.text) for text in root.iter("{*}text")}
    assert 1.0 == plots.most({"learn": {"T001": [0.0, 0.0], "T002": []}})


def test_the_report_holds_every_table_and_figure(tmp_path: Path) -> None:
    """Sets with series and without, in one document that is written to the output folder."""
    paths = [written(tmp_path, sites(), "sites.jsonl"), written(tmp_path, series(3), "series.jsonl")]
    report = thesis_report.write(thesis_report.Request(paths=paths, output=str(tmp_path / "out"), pages=6), CONFIG)
    assert report == (tmp_path / "out" / thesis_report.FILE).read_text(encoding="utf-8")
    rows = [row.split("|")[1:4] for row in report.splitlines() if row.startswith(("| sites | T001", "| series | T001"))]
    assert [["sites", "T001", "6"], ["series", "T001", "9"]] == [[cell.strip() for cell in row] for row in rows[:2]]
    assert 7 == report.count("<svg ")
    assert "| sites | 6 | 684 | 120 | 120 | 42 | 78 |" in report


@pytest.mark.data
def test_bit_patterns_find_nearly_all_content_of_real_pages(shared_data: Path) -> None:
    """T001 has a high recall of content and a high precision of boilerplate, as in table 4.2; T006 keeps both."""
    gold = datasets.read([str(shared_data / "gold" / "big9.jsonl.xz")])
    of = gold_sample.read(gold_sample.chosen(gold.sets["big9"], 10), CONFIG)
    found = {row[1]: row for row in cells(chapter4.scores({"big9": chapter4.measure(of, CONFIG)}))}
    for name in ("T001", "T006"):
        recall_of_content, precision_of_boilerplate = float(found[name][5]), float(found[name][7])
        assert recall_of_content > 0.9
        assert precision_of_boilerplate > 0.95


@pytest.mark.data
def test_extracted_texts_of_real_pages_are_like_their_gold(shared_data: Path) -> None:
    """All cases, on two groups of pages."""
    gold = datasets.read([str(shared_data / "gold" / "big9.jsonl.xz")])
    pages = gold_sample.chosen(gold.sets["big9"], 10)
    for name in CASES:
        found = extract(pages, CONFIG, name)
        assert np.mean([rouge_l(words(page.gold), words(found[page.page_id].text)).f1 for page in pages]) > 0.7
