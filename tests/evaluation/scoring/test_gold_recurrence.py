"""How much of a page's gold most of its siblings have in the same place."""

from pathlib import Path

import pytest

from dbce_spark.evaluation.scoring import gold_recurrence
from tests.support.fake_extractors import gold_pages, line

FOOT = "<div class=foot>Quay seven</div>"


def shares(tmp_path: Path, *pages: tuple[str, str], **known: str) -> list[float]:
    """Measure pages of one site, each of HTML and gold."""
    lines = [line(str(at), html, gold, **{"site": "a.example", **known}) for at, (html, gold) in enumerate(pages)]
    return [*gold_recurrence.of_set(gold_pages(tmp_path, lines)).values()]


def story(word: str, foot: str = FOOT) -> tuple[str, str]:
    """A page of one word of its own, of which the gold has all."""
    return f"<h1>{word}</h1>{foot}", f"{word}\nQuay seven"


def test_words_that_most_siblings_have_are_counted(tmp_path: Path) -> None:
    """Two of the three words of each gold are on every page; what the gold leaves out counts for nothing."""
    pages = [story("one"), story("two"), (f"<h1>three</h1>{FOOT}", "three")]

    assert [2 / 3, 2 / 3, 0.0] == shares(tmp_path, *pages)


def test_half_of_the_siblings_are_not_most(tmp_path: Path) -> None:
    """Of two siblings one has the text: it may be chance. The page without it has nothing of them."""
    pages = [story("one"), story("two"), ("<h1>three</h1>", "three")]

    assert [0.0, 0.0, 0.0] == shares(tmp_path, *pages)


def test_a_text_in_another_place_does_not_recur(tmp_path: Path) -> None:
    """The siblings have it in a menu, this page in its story."""
    pages = [story("one", "<p>Quay seven</p>"), story("two", FOOT), story("three", FOOT)]

    assert [0.0, 0.0, 0.0] == shares(tmp_path, *pages)


def test_numbers_in_the_names_of_classes_are_no_other_place(tmp_path: Path) -> None:
    """A class with a number in it names one page's own element."""
    pages = [story(word, f'<div class="foot item{at}">Quay seven</div>') for at, word in enumerate("abc")]

    assert [2 / 3] * 3 == shares(tmp_path, *pages)


def test_one_sibling_tells_nothing(tmp_path: Path) -> None:
    """Two pages have much in common by chance."""
    assert [0.0, 0.0] == shares(tmp_path, story("one"), story("two"))


def test_captures_of_a_page_are_no_siblings(tmp_path: Path) -> None:
    """Three captures of one URL tell nothing of what the site repeats; with two other pages they are one sibling."""
    captures = [
        line(str(at), *story("one"), site="a.example", url_key="example,a)/", date=f"200{at}-01-01") for at in range(3)
    ]
    others = [line(word, *story(word), site="a.example") for word in ("two", "three")]

    assert {0.0} == {*gold_recurrence.of_set(gold_pages(tmp_path, captures)).values()}
    assert {2 / 3} == {*gold_recurrence.of_set(gold_pages(tmp_path, [*captures, *others])).values()}


def test_a_page_that_has_no_html_holds_nothing(tmp_path: Path) -> None:
    """It counts among the siblings of the others."""
    assert [0.0, 2 / 3, 2 / 3, 2 / 3] == shares(tmp_path, (" ", "none"), *map(story, ("one", "two", "three")))


@pytest.mark.parametrize(("share", "name"), [(0.0, "none"), (0.05, "up to 5 %"), (0.06, "over 5 %")])
def test_groups_by_hand(share: float, name: str) -> None:
    """Up to the bound gold counts as its own."""
    assert name == gold_recurrence.group(share)
