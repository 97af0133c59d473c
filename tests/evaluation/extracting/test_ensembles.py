"""Ensembles keep leaves with enough votes, or with votes that meant content on other sites."""

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from dbce_spark.errors import ConfigError
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracted_texts import Texts
from dbce_spark.evaluation.extracting import ensembles
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.extracting.ensembles import (
    LEARNED,
    NAMES,
    SELECTIONS,
    THIRTEEN,
    combine,
    is_name,
    members,
    named,
)
from dbce_spark.evaluation.extracting.peers import PEERS
from tests.support.fake_extractors import gold_pages, line

MENU, STORY, ADVERT = "Home", "A grey seal came ashore.", "Buy now!"
PAGE = f"<html><body><div>{MENU}</div><p>{STORY}</p><div>{ADVERT}</div></body></html>"


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grow few trees: what is tested shows with them."""
    monkeypatch.setattr(ensembles, "TREES", 12)


def given(texts: Mapping[str, Sequence[str]], pages: Sequence[GoldPage]) -> Texts:
    """Return texts by extractor, one a page, as extractors give them; each took a second."""
    return {
        name: {"made": {page.page_id: Extracted(text, 1.0, "") for page, text in zip(pages, some, strict=True)}}
        for name, some in texts.items()
    }


def combined(
    names: Sequence[str], pages: Sequence[GoldPage], texts: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Combine one set by ensembles: the texts of its pages in their order."""
    made = combine(names, {"made": pages}, given(texts, pages))
    return {name: [of["made"][page.page_id].text for page in pages] for name, of in made.items()}


def sites(folder: Path, count: int) -> list[GoldPage]:
    """Make `count` pages, each of a site of its own, whose gold is the story."""
    return gold_pages(folder, [line(f"p{at}", PAGE, STORY, site=f"{at}.example") for at in range(count)])


def test_a_leaf_needs_as_many_votes_as_the_name_has(tmp_path: Path) -> None:
    """Five members hold the story, three the menu, one the advert: em_1_5 to em_5_5 drop one after the other."""
    texts = [f"{MENU} {STORY} {ADVERT}", f"{MENU} {STORY}", f"{STORY} {MENU}\n{STORY}", STORY, STORY]
    pages = gold_pages(tmp_path, [line("a", PAGE, STORY)])
    by_name = combined(
        [f"em_{least}_5" for least in range(1, 6)],
        pages,
        {name: [text] for name, text in zip(SELECTIONS[5], texts, strict=True)},
    )
    menu, story, advert = ([text for [text] in by_name.values() if part in text] for part in (MENU, STORY, ADVERT))
    assert (3, 5, 1) == (len(menu), len(story), len(advert))
    assert f"{MENU}\n{STORY}\n{ADVERT}" == by_name["em_1_5"][0]
    assert STORY == by_name["em_5_5"][0]


@pytest.mark.parametrize("name", ["em_0_5", "em_6_5", "em_2_1", "em_2", "em_x_y", "em_2_5_1"])
def test_names_of_no_ensemble_are_refused(name: str) -> None:
    """The error lists the ensembles that there are."""
    assert is_name(name)
    with pytest.raises(ConfigError, match=rf"--extractors {name}: .*em_"):
        named(name)


def test_an_extractor_behind_the_name_votes_too(tmp_path: Path) -> None:
    """Five members hold the story and the sixth the menu: one vote keeps both, two the story alone, and six nothing. A
    classifier that sees the sixth learns to go by it where it alone is right."""
    pages = sites(tmp_path, 4)
    texts = {name: [STORY] * 4 for name in SELECTIONS[5]} | {"dbce": [MENU] * 4}
    found = combined(["em_1_5+dbce", "em_2_5+dbce", "em_6_5+dbce"], pages, texts)
    assert [f"{MENU}\n{STORY}", STORY, ""] == [found[f"em_{least}_5+dbce"][0] for least in (1, 2, 6)]
    whole = {member: [f"{MENU} {STORY} {ADVERT}"] * 4 for member in THIRTEEN}
    assert [STORY] * 4 == combined(["ensemble-rf+dbce"], pages, {**whole, "dbce": [STORY] * 4})["ensemble-rf+dbce"]


@pytest.mark.parametrize("name", ["em_2_5+", "ensemble-rf+a+b+c+d", "em_7_5+dbce", "em_2_5++dbce"])
def test_an_ensemble_has_few_members_behind_its_name(name: str) -> None:
    """No empty name, and no more votes asked for than there are members."""
    assert is_name(name)
    with pytest.raises(ConfigError, match=rf"--extractors {re.escape(name)}: "):
        named(name)


def test_members_are_listed_once() -> None:
    """Table 5.1 has five, eight with them, and the learned ones thirteen."""
    counts = [len(members(names)) for names in (["em_2_5"], ["em_3_5", "em_2_5"], ["em_4_8", "em_2_5"], NAMES)]
    assert [5, 5, 8, 13] == counts
    assert (*SELECTIONS[5], "dbce") == members(["em_2_5+dbce+bte"])


def test_members_are_extractors_that_run_by_themselves() -> None:
    """Each of them is a peer of that name."""
    assert set(THIRTEEN) <= {name for name in PEERS if not is_name(name)}


def test_a_member_that_did_not_run_is_named(tmp_path: Path) -> None:
    """The error names the members to add."""
    texts = {name: [STORY] for name in SELECTIONS[5] if name not in ("bte", "readability")}
    with pytest.raises(ConfigError, match="em_2_5: made of bte, readability too; add them to --extractors"):
        combined(["em_2_5"], gold_pages(tmp_path, [line("a", PAGE, STORY)]), texts)


def test_members_that_missed_a_page_have_no_vote(tmp_path: Path) -> None:
    """Their text is empty; the others decide, and the seconds of all are counted."""
    pages = gold_pages(tmp_path, [line("a", PAGE, STORY)])
    texts = {name: [STORY if name in ("bte", "trafilatura") else ""] for name in SELECTIONS[5]}
    combined_texts = combine(["em_2_5", "em_3_5"], {"made": pages}, given(texts, pages))
    assert (STORY, "") == (combined_texts["em_2_5"]["made"]["a"].text, combined_texts["em_3_5"]["made"]["a"].text)
    assert 5 <= combined_texts["em_3_5"]["made"]["a"].seconds < 6


def test_a_page_that_cannot_be_parsed_is_a_miss(tmp_path: Path) -> None:
    """With lxml's reason, for every kind of ensemble, and the other pages have their texts."""
    pages = gold_pages(
        tmp_path, [line(str(at), PAGE, STORY, site=f"{at}.example") for at in range(3)] + [line("no", "")]
    )
    texts = {name: [STORY, STORY, STORY, ""] for name in THIRTEEN}
    combined_texts = combine(["em_2_5", *LEARNED], {"made": pages}, given(texts, pages))
    assert [["", "", "", "lxml: no element found"]] * 3 == [
        [of["made"][page.page_id].error for page in pages] for of in combined_texts.values()
    ]


@pytest.mark.parametrize("name", LEARNED)
def test_classifiers_learn_whom_to_believe(name: str, tmp_path: Path) -> None:
    """Twelve members hold the whole page and one the story: a classifier learns to go by that one."""
    pages = sites(tmp_path, 4)
    texts = {member: [f"{MENU} {STORY} {ADVERT}"] * 4 for member in THIRTEEN} | {"justext": [STORY] * 4}
    assert {name: [STORY] * 4} == combined([name], pages, texts)


@pytest.mark.parametrize("name", LEARNED)
def test_nothing_is_learned_from_a_page_of_the_same_site(name: str, tmp_path: Path) -> None:
    """On one site votes mean the opposite: its five pages are labelled by two others, those by the five, all wrong."""
    odd = [line(f"odd{at}", PAGE, f"{MENU} {ADVERT}", site="odd.example") for at in range(5)]
    fair = [line(f"fair{at}", PAGE, STORY, site=f"fair{at}.example") for at in range(2)]
    texts = {member: [STORY] * 7 for member in THIRTEEN}
    expected = [STORY] * 5 + [f"{MENU}\n{ADVERT}"] * 2
    assert {name: expected} == combined([name], gold_pages(tmp_path, odd + fair), texts)


@pytest.mark.parametrize("name", LEARNED)
def test_both_classes_weigh_the_same(name: str, tmp_path: Path) -> None:
    """A vote that is right on 2 leaves in 6, where 2 leaves in 26 are content, is believed."""
    menu = "".join(f"<div>menu {at}</div>" for at in range(20))
    wrong = "".join(f"<div>Advert {at}</div>" for at in range(4))
    html, gold = f"<body>{menu}{wrong}<p>A seal</p><p>came ashore</p></body>", "A seal came ashore"
    pages = gold_pages(tmp_path, [line(str(at), html, gold, site=f"{at}.example") for at in range(3)])
    taken = " ".join(f"Advert {at}" for at in range(4)) + f" {gold}"
    texts = {member: [taken] * 3 for member in THIRTEEN}
    assert [taken.split()] * 3 == [text.split() for text in combined([name], pages, texts)[name]]


def test_the_same_votes_give_the_same_texts(tmp_path: Path) -> None:
    """A forest too, whose votes and gold here contradict each other from page to page."""
    draw = random.Random(5)
    parts = [MENU, STORY, ADVERT, f"{MENU} {STORY}", f"{STORY} {ADVERT}"]
    lines = [line(str(at), PAGE, draw.choice(parts), site=f"{at}.example") for at in range(20)]
    texts = {member: draw.choices(parts, k=20) for member in THIRTEEN}
    pages = gold_pages(tmp_path, lines)
    first, again = (combined(["ensemble-rf"], pages, texts) for _ in range(2))
    assert first == again
    assert len(set(first["ensemble-rf"])) > 3


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([line(str(at), PAGE, STORY, site="one.example") for at in range(3)], "untrained: all pages are of one site"),
        ([line(str(at), PAGE, "") for at in range(3)], "untrained: the other sites have leaves of one class"),
    ],
)
def test_where_nothing_can_be_learned_pages_are_misses(
    lines: list[dict[str, str]], message: str, tmp_path: Path
) -> None:
    """One site, or no content anywhere: no text, and the reason."""
    pages = gold_pages(tmp_path, lines)
    texts = given({member: [STORY] * 3 for member in THIRTEEN}, pages)
    of_pages = combine(["ensemble-lr"], {"made": pages}, texts)["ensemble-lr"]["made"]
    assert [("", message)] * 3 == [(one.text, one.error) for one in of_pages.values()]
