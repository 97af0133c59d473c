"""The pages that an extractor does worst on are shown with what it missed."""

import re
from pathlib import Path

import pytest

from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.reporting import contrasts
from dbce_spark.model import Label
from dbce_spark.report import overlay
from dbce_spark.report.overlay import difference
from tests.support.page_scores import made_scores
from tests.support.page_scores import page as facts_of

HTML = "<body><div>Home News</div><p>The first <b>half</b> of it</p><p>and the second one</p><script>x</script></body>"
GOLD = "The first half of it\nand the second one"


def gold_page(page_id: str, html: str = HTML) -> GoldPage:
    return GoldPage(
        dataset="one",
        page_id=page_id,
        url="http://a.example/",
        site="a.example",
        group="a.example",
        url_key=page_id,
        timestamp=0,
        lang="en",
        page_type="",
        html=html,
        gold=GOLD,
    )


def test_a_page_is_shown_with_the_text_nodes_that_both_hold() -> None:
    """The menu is too much, the second paragraph is missed."""
    found = contrasts.of_page(gold_page("1"), "Home News\nThe first half of it")
    texts = [found.text[start:end].strip() for start, end in found.spans]

    assert texts == ["Home News", "The first", "half", "of it", "and the second one"]
    assert [label is Label.CONTENT for label in found.reference] == [False, True, True, True, True]
    assert [label is Label.CONTENT for label in found.given] == [True, True, True, True, False]
    assert (difference(found).missed, difference(found).added) == (4, 2)


@pytest.mark.parametrize("control", ["\f", "\x1f", "&#12;", "\x01", "\0"])
def test_a_control_character_ends_no_report(control: str) -> None:
    """A page whose text has one is read as extractors get it: the tree of a page to be coloured takes none."""
    found = contrasts.of_page(gold_page("1", HTML.replace("second one", f"second {control} one")), "and the second one")

    assert "and the second " in overlay.page_html(found)


def test_the_worst_pages_of_each_extractor_are_written(tmp_path: Path) -> None:
    """Each in a folder that the report can link, whatever the extractor is called; those of an earlier run are gone."""
    facts = [facts_of(at, dataset="one") for at in range(3)]
    scores = made_scores(facts, {"<a/b>": [0.9, 0.1, 0.5]})
    some = [gold_page(fact.page_id) for fact in facts]
    texts = {"<a/b>": {"one": {one.page_id: Extracted("", 0.0, "") for one in some}}}

    places = contrasts.write(str(tmp_path), scores, {"one": some}, texts, count=2)

    index = (tmp_path / places["<a/b>"]).read_text("utf-8")
    assert ["1", "2", "0"] == [page.page_id for page in contrasts.worst(scores, {"one": some}, "<a/b>")]
    assert len(re.findall(r'<a href="[0-9a-f]{16}\.html">', index)) == 2

    contrasts.write(str(tmp_path), scores, {"one": some}, texts, count=1)
    assert len([*(tmp_path / places["<a/b>"]).parent.iterdir()]) == 2


def test_a_page_without_an_element_is_passed_over(tmp_path: Path) -> None:
    """It is the worst of all, and there is nothing to colour; the next page is shown in its place."""
    facts = [facts_of(at, dataset="one") for at in range(3)]
    scores = made_scores(facts, {"any": [0.0, 0.5, 0.9]})
    some = [gold_page("0", "<!-- nothing -->"), gold_page("1"), gold_page("2")]
    texts = {"any": {"one": {one.page_id: Extracted("", 0.0, "") for one in some}}}

    places = contrasts.write(str(tmp_path), scores, {"one": some}, texts, count=1)

    assert ">one 1</a>" in (tmp_path / places["any"]).read_text("utf-8")
