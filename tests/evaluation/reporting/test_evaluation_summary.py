"""The summary shows what was measured, and how it was weighed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dbce_spark.evaluation.reporting import evaluation_summary
from dbce_spark.evaluation.scoring import stream_course
from dbce_spark.evaluation.scoring.analysis import analyse
from dbce_spark.evaluation.scoring.node_scores import Confusion, NodeScoreRow
from tests.support.fake_extractors import gold_pages, line
from tests.support.page_scores import made_scores, page

PAGES = [page(at, dataset="one" if at < 3 else "two", site=str(at), siblings=3 * (at < 2)) for at in range(4)]
NODES = [
    NodeScoreRow(name, extractor, Confusion(2, 1, 1, 2)) for name in ("one", "two") for extractor in ("good", "bad")
]


def summary_text(notes: Sequence[str] = ()) -> str:
    scores = made_scores(PAGES, {"good": [1.0, 1.0, 1.0, 0.4], "bad": [0.0, 0.0, 0.0, 0.0]})
    return evaluation_summary.text(analyse(scores, NODES), notes)


def part(name: str) -> str:
    return summary_text().split(f"## {name}\n")[1].split("\n## ")[0]


def row(text: str, start: str) -> list[str]:
    (found,) = [one for one in text.splitlines() if one.startswith(f"| {start} |")]
    return found.strip("| ").split(" | ")


def test_the_first_table_by_hand() -> None:
    """Mean, median, share under 0.5 and the test against the first."""
    assert ["good", "0.850", "0.850"] == row(part("All pages"), "good")[:3]
    assert ["1.000", "25.0 %"] == row(part("All pages"), "good")[5:7]
    assert row(part("All pages"), "bad")[7].startswith("-0.850 (")
    assert "4 pages of 4 sites, of which none weighs more than 25.0 %; brackets by draws of pages" in part("All pages")


def test_one_page_has_a_mean_and_nothing_else() -> None:
    """No interval of one page, and no p of two: both would mean nothing."""
    (one, *_), rows = PAGES, {"good": [0.5], "bad": [0.0]}
    alone = evaluation_summary.text(analyse(made_scores([one], rows), NODES), [])
    line = row(alone.split("## All pages\n")[1].split("\n## ")[0], "bad")

    assert ["**0.000**", "", "0.000", "100.0 %", "-0.500", ""] == line[3:9]
    assert "" == row(part("All pages"), "bad")[8]


def test_pages_with_siblings_have_their_own_table() -> None:
    """The two that have three."""
    assert "2 pages of 2 sites" in part("Pages with at least 2 siblings")
    assert "**1.000**" in row(part("Pages with at least 2 siblings"), "good")[3]


def test_sets_stand_side_by_side() -> None:
    """With their number of pages; the best of each is bold."""
    table = part("F1 by set, all pages")
    assert ["extractor", "one (3)", "two (1)"] == row(table, "extractor")
    assert ["good", "**1.000**", "**0.400**"] == row(table, "good")


def test_the_best_other_is_of_all_but_the_first() -> None:
    """It is named where it has no column."""
    assert ["siblings", "0", "2", "2", "0.000 bad", "0.700", "0.000"] == row(
        part("F1 by what the pages are"), "siblings | 0"
    )


def test_nodes_of_all_sets_are_counted_together() -> None:
    """Two sets of six nodes."""
    assert ["good", "12", "0.667"] == row(part("Text nodes"), "good")[:3]


def test_every_table_names_its_weights() -> None:
    """And notes come before the tables, if there are some."""
    assert "those of one site together at most 5.0 %" in summary_text()
    assert "Every page weighs the same." in part("F1 by set, all pages")
    assert "draws.\n\n## All pages" in summary_text()
    assert "draws.\n\nOne is left out. So is another.\n\n## All pages" in summary_text(
        ["One is left out.", "So is another."]
    )


def test_the_course_of_a_stream_has_differences_to_the_first(tmp_path: Path) -> None:
    """By number of the page in its domain; one page has a difference without an interval."""
    gold = gold_pages(tmp_path, [line(f"{at}", url=f"http://news.eu/{at}") for at in range(3)])
    scores = made_scores([page(at) for at in range(3)], {"dbce": [1.0, 0.5, 0.9], "urltree": [0.5, 0.5, 0.5]})
    course = stream_course.course(scores, {"made": gold})
    written = evaluation_summary.text(analyse(scores, NODES), [], course).split("## Over the stream\n")[1]

    assert ["extractor", "1 (1)", "2-4 (2)", "all (3)"] == row(written.split("\n## ")[0], "extractor")
    assert ["less dbce", "1 (1 domain)", "2-4 (1 domain)", "all (1 domain)"] == row(written, "less dbce")
    (differences,) = [one for one in written.splitlines() if one.startswith("| urltree | -")]
    assert differences.startswith("| urltree | -0.500 | -0.200 (-0.400 to +0.000) | -0.300 (")


def test_misses_are_counted_by_their_first_words() -> None:
    """The rest behind the colon differs from page to page."""
    errors = (("", "timeout: no text after 1 s", "timeout: no text after 1 s", "crash: SIGSEGV"),)
    scores = replace(made_scores(PAGES, {"good": [1.0, 0.0, 0.0, 0.0]}), errors=errors)
    misses = evaluation_summary.text(analyse(scores, NODES), []).split("## Misses\n\n")[1]
    assert ["| one | good | 2 | timeout |", "| two | good | 1 | crash |"] == misses.splitlines()[2:]


def test_no_miss_is_stated() -> None:
    """The last part is never empty."""
    assert summary_text().endswith("## Misses\n\nNone.\n")
