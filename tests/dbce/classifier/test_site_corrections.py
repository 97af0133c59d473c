"""Corrections of a classifier by labels of some pages of a site."""

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark import extract
from dbce_spark.archive import warc
from dbce_spark.dbce import local, pages
from dbce_spark.dbce.classifier.classifier_file import load_classifier, save_classifier
from dbce_spark.dbce.classifier.site_corrections import (
    BLOCKS_OF_PAGE,
    MOST,
    PRIOR,
    LabelledPage,
    SiteCorrections,
    learn,
)
from dbce_spark.model import ID, TEXT, Page
from tests.support.annotation_stores import page as article
from tests.support.builders import capture, config

SITE = "geese.example"
CLASSIFIED = config("label.by=classifier")
MENU, STORY, ADVERT = 11, 12, 13
"""Slots of the pages below."""


def keys_of(slots: list[int], texts: list[int]) -> np.ndarray:
    keys = np.zeros((6, len(slots)), np.uint32)
    keys[ID], keys[TEXT] = slots, texts
    return keys


def labelled(slots: list[int], content: list[bool], scores: list[float], first_text: int = 0) -> LabelledPage:
    """A page of these slots, of which no other page has the texts."""
    odds = np.array(scores)
    return LabelledPage(
        site=SITE,
        keys=keys_of(slots, [first_text + at for at in range(len(slots))]),
        log_odds=np.log(odds / (1 - odds)),
        is_content=np.array(content),
        is_labelled=np.ones(len(slots), np.bool_),
    )


def of_story(number: int) -> LabelledPage:
    """A page whose advert the classifier takes for content."""
    return labelled([MENU, STORY, ADVERT], [False, True, False], [0.1, 0.9, 0.8], number * 100)


def shifts_of(pages: list[LabelledPage], slots: list[int], site: str = SITE) -> list[float]:
    found: list[float] = learn(pages).of_page(site, keys_of(slots, [9_000 + at for at in range(len(slots))])).tolist()
    return found


def test_a_slot_that_the_classifier_is_wrong_about_moves_most() -> None:
    """Each page with the same label moves it further; what it is right about moves a little, and its own way."""
    menu, story, advert = shifts_of([of_story(1)], [MENU, STORY, ADVERT])
    further = shifts_of([of_story(1), of_story(2), of_story(3)], [MENU, STORY, ADVERT])

    assert advert < -0.5 < menu < 0 < story < 0.5
    assert further[2] < advert


def test_other_sites_stay() -> None:
    """The same slots elsewhere say nothing."""
    assert [0.0] * 3 == shifts_of([of_story(1)], [MENU, STORY, ADVERT], "ponds.example")


@pytest.mark.parametrize(("foreign", "is_corrected"), [(2, False), (1, True)])
def test_a_page_of_another_template_stays(foreign: int, is_corrected: bool) -> None:
    """A page with three known slots in five is another template's; one with three in four is corrected."""
    shifts = shifts_of([of_story(1)], [MENU, STORY, ADVERT, *range(90, 90 + foreign)])

    assert is_corrected is any(shifts)
    assert [0.0] * foreign == shifts[3:]


def test_a_text_moves_further_than_its_slot() -> None:
    """The advert that was labelled is believed before others in its slot."""
    corrections = learn([of_story(1)])
    same = corrections.of_page(SITE, keys_of([MENU, STORY, ADVERT], [9_000, 9_001, 102]))
    other = corrections.of_page(SITE, keys_of([MENU, STORY, ADVERT], [9_000, 9_001, 9_002]))

    assert same[2] < other[2] < 0


def test_blocks_without_a_label_teach_nothing() -> None:
    """Nor do pages without any; nothing learned shifts nothing."""
    page = of_story(1)
    bare = LabelledPage(
        site=SITE,
        keys=page.keys,
        log_odds=page.log_odds,
        is_content=page.is_content,
        is_labelled=np.zeros(3, np.bool_),
    )

    assert not learn([bare]).sites
    assert not learn([]).sites
    assert [0.0] * 3 == SiteCorrections().of_page(SITE, page.keys).tolist()
    assert shifts_of([page], [MENU, STORY, ADVERT]) == shifts_of([page, bare], [MENU, STORY, ADVERT])


def test_a_page_of_which_only_a_mistake_is_labelled_corrects_that() -> None:
    """Its other blocks say which template it is of, and stay."""
    page = of_story(1)
    partly = replace(page, is_labelled=np.array([False, False, True]))
    menu, story, advert = shifts_of([partly], [MENU, STORY, ADVERT])

    assert (0.0, 0.0) == (menu, story)
    assert advert < -0.5


def test_many_blocks_of_a_page_count_as_few() -> None:
    """A table of a hundred cells teaches what one of three does."""
    few, many = (
        labelled([STORY] * count, [False] * count, [0.9] * count) for count in (BLOCKS_OF_PAGE, 40 * BLOCKS_OF_PAGE)
    )

    assert shifts_of([few], [STORY]) == pytest.approx(shifts_of([many], [STORY]))


def test_no_shift_is_larger_than_stated() -> None:
    """However many pages speak against the classifier."""
    pages = [labelled([STORY], [True], [0.0001], number) for number in range(200)]

    assert [MOST] == shifts_of(pages, [STORY])


@given(st.lists(st.tuples(st.sampled_from([0.02, 0.3, 0.5, 0.9]), st.booleans()), min_size=1, max_size=8))
def test_a_shift_is_that_of_the_highest_posterior(blocks: list[tuple[float, bool]]) -> None:
    """No other shift on a grid makes the labels of pages of one block, and the prior, more likely."""
    pages = [labelled([STORY], [content], [score], at) for at, (score, content) in enumerate(blocks)]
    (found,) = shifts_of(pages, [STORY])
    odds = np.array([one.log_odds[0] for one in pages])[:, None]
    signs = np.array([1 if content else -1 for _, content in blocks])[:, None]

    def surprise(shifts: np.ndarray) -> np.ndarray:
        value: np.ndarray = np.log1p(np.exp(-signs * (odds + shifts))).sum(axis=0) + PRIOR * shifts**2 / 2
        return value

    assert surprise(np.array([found]))[0] <= surprise(np.linspace(-MOST, MOST, 241)).min() + 1e-6


@given(st.randoms(use_true_random=False))
def test_the_order_of_pages_changes_nothing(random: Random) -> None:
    """Not the last bit."""
    odds = np.random.default_rng(3).random((9, 3))
    pages = [labelled([MENU, STORY, ADVERT], [False, True, False], [*one], 100 * at) for at, one in enumerate(odds)]
    shuffled = random.sample(pages, len(pages))

    assert learn(pages).names.tobytes() == learn(shuffled).names.tobytes()
    assert learn(pages).shifts.tobytes() == learn(shuffled).shifts.tobytes()


def classified(url: str) -> Page:
    """The page of an article, with the features that the classifier reads."""
    made = pages.parse_fetch(warc.Fetch(capture(url), article("Goose").encode()), CLASSIFIED)
    assert isinstance(made, Page)
    return made


def test_the_order_of_captures_of_one_page_changes_nothing() -> None:
    """Captures with the same blocks are told apart by what the classifier gave them: sums of floats have an order."""
    captures = [labelled([STORY], [at % 3 > 0], [0.1 + at / 13]) for at in range(11)]
    there, back = learn(captures), learn(captures[::-1])

    assert there.shifts.tobytes() == back.shifts.tobytes()


def test_a_corrected_classifier_is_read_back_and_labels_its_site_otherwise(tmp_path: Path) -> None:
    """Of two pages alike, that of the labelled site loses what was labelled boilerplate, and the other keeps it."""
    own, other = (classified(f"http://{site}/one") for site in (SITE, "ponds.example"))
    path = without_content(own, tmp_path)
    settings = config(f"label.classifier={path}", "label.by=classifier")
    before, after = (
        {one.page.capture.site: one.text for one in local.extract_pages([own, other], chosen)}
        for chosen in (CLASSIFIED, settings)
    )

    assert before[SITE] == before["ponds.example"] == after["ponds.example"] != ""
    assert "" == after[SITE]


def test_a_page_by_itself_is_corrected_too(tmp_path: Path) -> None:
    """It is compared with no other page, and its site is the labelled one all the same."""
    url = f"http://{SITE}/one"
    path = without_content(classified(url), tmp_path)

    assert extract(article("Goose"), url).text
    assert "" == extract(article("Goose"), url, classifier=path).text


def without_content(page: Page, folder: Path) -> Path:
    """A classifier with corrections by a page of which all is labelled boilerplate."""
    assert page.features
    everything = LabelledPage(
        site=SITE,
        keys=page.features.keys,
        log_odds=np.full(len(page.blocks), 7.0),
        is_content=np.zeros(len(page.blocks), np.bool_),
        is_labelled=np.ones(len(page.blocks), np.bool_),
    )
    path = folder / "corrected.npz"
    save_classifier(replace(load_classifier(""), corrections=learn([everything] * 9)), path)
    return path
