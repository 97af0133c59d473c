"""Properties of a page, from its line and from its HTML."""

from pathlib import Path

import pyarrow.parquet as pq

from dbce_spark.evaluation.scoring import facts
from tests.support.fake_extractors import gold_pages, line, own_set


def test_facts_of_our_own_set(tmp_path: Path) -> None:
    """Siblings by the group, the year from the date, the gold's part of the page from both texts."""
    lines = [*own_set(), line("dated", "<p>one two three four</p>", "one five", wayback_ts="20090102030405")]
    found = {one.page_id: one for one in facts.measure(gold_pages(tmp_path, lines))}
    story, dated = found["story-0"], found["dated"]
    assert (3, 0, "", "en", 0.0) == (story.siblings, story.snapshots, story.era, story.lang, story.gold_error)
    assert (0, "2009", 0.5, 0.5) == (dated.siblings, dated.era, dated.gold_error, dated.complexity)
    assert ("harbour.example", "made/dated") == (story.unit, dated.unit)


def test_a_language_that_no_set_names_is_that_of_the_gold(tmp_path: Path) -> None:
    """The one that a set names stays as it is."""
    gold = "Der Hafen ist wieder offen, und die ersten Schiffe legen am neuen Kai an. " * 3
    lines = [line("named", "<p>one", gold, lang="en"), line("unnamed", "<p>one", gold)]

    assert ["en", "de"] == [one.lang for one in facts.measure(gold_pages(tmp_path, lines))]


def test_captures_of_one_url_are_snapshots(tmp_path: Path) -> None:
    """Three captures of a page have two others each."""
    lines = [line(str(at), site="a.example", url_key="example,a)/", date=f"200{at}-01-01") for at in range(3)]
    assert [2, 2, 2] == [one.snapshots for one in facts.measure(gold_pages(tmp_path, lines))]


def test_the_gold_of_three_pages_recurs(tmp_path: Path) -> None:
    """Half of each page's gold is the address that all three have below."""
    html = "<p>story {0} of the harbour</p><div class=foot>Quay 7, Harbour</div>"
    lines = [
        line(str(at), html.format(at), f"story {at} of the harbour\nQuay 7, Harbour\nopen now", site="a.example")
        for at in range(3)
    ]
    assert [3 / 8] * 3 == [one.gold_recurrence for one in facts.measure(gold_pages(tmp_path, lines))]


def test_a_page_without_html_has_nothing(tmp_path: Path) -> None:
    """No words, no tags; all of its gold is an error."""
    (found,) = facts.measure(gold_pages(tmp_path, [line("empty", " ", "one")]))
    assert (0.0, 1.0, (0.0,) * 14) == (found.complexity, found.gold_error, found.tags)


def test_facts_are_written_a_row_a_page(tmp_path: Path) -> None:
    """The file has every column of every page."""
    measured = facts.measure(gold_pages(tmp_path, own_set()))
    facts.write(str(tmp_path / "pages.parquet"), measured)
    rows = pq.read_table(tmp_path / "pages.parquet").to_pylist()
    assert facts.SCHEMA.names == list(rows[0])
    assert [(one.page_id, one.complexity, list(one.tags)) for one in measured] == [
        (row["page_id"], row["complexity"], row["tags"]) for row in rows
    ]
