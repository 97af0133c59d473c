"""Features: measured of a page alone, whatever pages are beside it."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.classifier import context, features
from dbce_spark.dbce.classifier.features import Columns
from dbce_spark.dbce.classifier.layout import Layout
from dbce_spark.html.page import Parsed
from tests.support import small_classifier
from tests.support.builders import parsed
from tests.support.strategies import documents


def of_context(pages: Layout) -> Columns:
    """Features from scores that follow from the blocks."""
    return context.of_pages(pages, (pages.texts % np.uint64(1025)).astype(np.int64))


def measured(body: str, title: str = "T") -> Columns:
    return features.of_pages(Layout([parsed(f"<html><head><title>{title}</title></head><body>{body}</body></html>")]))


def assert_alone_as_together(pages: list[Parsed], of_pages: Callable[[Layout], Columns]) -> None:
    together = Layout(pages)
    columns = of_pages(together)
    for at, page in enumerate(pages):
        alone = of_pages(Layout([page]))
        start, end = together.starts[at], together.starts[at + 1]

        assert set(alone) == set(columns)
        for name, values in alone.items():
            assert values.tolist() == columns[name][start:end].tolist(), name


@pytest.mark.parametrize("of_pages", [features.of_pages, of_context], ids=["page", "context"])
@given(pages=st.lists(documents.map(parsed), min_size=1, max_size=5))
def test_pages_do_not_depend_on_those_beside_them(of_pages: Callable[[Layout], Columns], pages: list[Parsed]) -> None:
    """Bit for bit the same features, alone and among others."""
    assert_alone_as_together(pages, of_pages)


@pytest.mark.parametrize("of_pages", [features.of_pages, of_context], ids=["page", "context"])
def test_pages_of_the_sample_do_not_depend_on_those_beside_them(of_pages: Callable[[Layout], Columns]) -> None:
    """The same of pages as long and as deep as real ones."""
    assert_alone_as_together([one.parsed for one in small_classifier.examples()[:12]], of_pages)


@given(documents.map(parsed))
def test_every_block_has_every_feature(page: Parsed) -> None:
    """One number a block, none of them missing."""
    pages = Layout([page])
    for name, values in (features.of_pages(pages) | of_context(pages)).items():
        assert (len(page.blocks),) == values.shape, name
        assert np.isfinite(values).all(), name


@given(documents.map(parsed))
def test_shares_are_shares(page: Parsed) -> None:
    """Links, titles, digits and places lie between 0 and 1."""
    columns = features.of_pages(Layout([page]))
    for name in ("links", "place", "words_place", "titled", "of_title", "digits", "upper", "page_links", "slot_share"):
        assert 0 <= columns[name].min() <= columns[name].max() <= 1, name


def test_words_and_links() -> None:
    """Words and links are counted of a block, of its neighbours, and of the element above."""
    columns = measured("<div><p>one two <a href=/>three four</a></p><p>five</p></div><p>six seven eight</p>")

    assert [4, 1, 3] == columns["words"].tolist()
    assert [0.5, 0, 0] == columns["links"].tolist()
    assert [-1, 4, 1] == columns["words-1"].tolist()
    assert [1, 3, -1] == columns["words+1"].tolist()
    assert [5, 5, 8] == columns["words^1"].tolist()
    assert [0.4, 0.4, 0.25] == columns["links^1"].tolist()
    assert [0, 4, 5] == columns["words_before"].tolist()
    assert [4, 3, 0] == columns["words_behind"].tolist()


def test_signs_are_counted_in_a_block_and_around_it() -> None:
    """Count them, and divide those of an element around by its blocks."""
    columns = measured("<div><p>only $5</p><p>was €9 or £8</p></div><p>© 2024: all rights</p>")

    assert [1.0, 2.0, 0.0] == columns["currency"].tolist()
    assert [1.5, 1.5, 1.0] == columns["currency^1"].tolist()
    assert [0.0, 0.0, 1.0] == columns["rights"].tolist() == columns["years"].tolist()


def test_rights_that_stand_before_a_block_are_counted() -> None:
    """Behind a notice of rights stands the frame of the page."""
    assert [0.0, 0.0, 1.0] == measured("<p>a</p><p>© b</p><p>c</p>")["rights_before"].tolist()


def test_headline() -> None:
    """The block most like the title, and how far behind it the others are."""
    columns = measured("<p>menu</p><h1>The old bridge</h1><p>story</p>", "The old bridge - News")

    assert [-1, 0, 1] == columns["behind_headline"].tolist()
    assert [0, 1, 0] == columns["titled"].tolist()
    assert [0, 1, 0] == columns["heading"].tolist()


def test_text_density_is_kohlschuetters() -> None:
    """Words in all full lines of 80 characters to the number of these lines; the words of a shorter text."""
    text = " ".join(["abcd"] * 40)  # 199 characters: three lines
    columns = measured(f"<p>{text}</p><p>one two</p>")

    assert [pytest.approx(40 * 160 / 199 / 2), 2.0] == columns["density"].tolist()


def test_records_are_elements_that_repeat() -> None:
    """Three of a kind under one parent are a list, two are none."""
    columns = measured("<ul><li>a</li><li>b c</li><li>d</li></ul><div>e</div><div>f</div>")

    assert [3, 3, 3, 0, 0] == columns["records"].tolist()
    assert [pytest.approx(4 / 3)] * 3 + [0, 0] == columns["record_words"].tolist()


def test_copies_are_counted_on_one_page() -> None:
    """The same text twice, whatever elements it is in."""
    assert [2, 1, 2] == measured("<p>a b</p><p>c</p><div>a b</div>")["copies"].tolist()


def test_copies_but_for_numbers_are_counted_apart() -> None:
    """ "3 comments" and "17 comments" are alike."""
    columns = measured("<p>3 comments</p><p>17 comments</p><p>no comments</p>")

    assert [2, 2, 1] == columns["shape_copies"].tolist()
    assert [1, 1, 1] == columns["copies"].tolist()


def test_words_that_the_items_of_a_list_share() -> None:
    """Of each block the share of words that stand three times in its slot, and on half of its blocks."""
    columns = measured("<ul><li>price 3 in basket<li>price 4 in basket<li>price 5 in basket</ul><p>price</p>")

    assert [0.75, 0.75, 0.75, 0] == columns["slot_shared"].tolist()


def test_a_section_goes_from_its_heading_to_the_next() -> None:
    """Its words, links and blocks, and how far behind its heading a block stands."""
    columns = measured("<p>menu</p><h1>Old bridge</h1><p>one two</p><h2>Links</h2><p><a>a b</a></p><p><a>c</a></p>")

    assert [1, 4, 4, 4, 4, 4] == columns["section_words"].tolist()
    assert [0, 0, 0, 0.75, 0.75, 0.75] == columns["section_links"].tolist()
    assert [-1, 0, 1, 0, 1, 2] == columns["since_heading"].tolist()
    assert [-1, 2, 2, 1, 1, 1] == columns["section_heading_words"].tolist()


def test_buttons_times_and_labels_are_counted() -> None:
    """A block has those that begin in it."""
    columns = measured("<p><time>May</time> a</p><p><label>Name</label> <button>Buy</button> <button>Go</button></p>")

    assert [[1, 0], [0, 1], [0, 2]] == [columns[name].tolist() for name in ("times", "labels", "buttons")]


def test_readers_write_beside_a_field() -> None:
    """A text field and records with numbered ids."""
    columns = measured(
        "<p>story</p><div><div id=c-1>one</div><div id=c-2>two</div><div id=c-3>three</div><textarea></textarea></div>"
    )

    assert [0, 3, 3, 3] == columns["numbered_alike"].tolist()
    assert [-1, 0.25, 0.25, 0.25] == columns["numbered_share"].tolist()
    assert {0} == set(columns["fields_behind"].tolist())
