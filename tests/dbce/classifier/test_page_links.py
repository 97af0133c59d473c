"""Links: where they lead, seen from the URL of their page."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbce_spark.dbce.classifier import page_links
from dbce_spark.dbce.classifier.features import UNKNOWN, Columns
from dbce_spark.dbce.classifier.layout import Layout
from dbce_spark.html.metadata import MAX_URL_CHARS
from tests.support.builders import parsed
from tests.support.strategies import documents

HERE = "http://www.museum.example/halls/amber?lang=en"


def measured(body: str, url: str = HERE, head: str = "") -> Columns:
    return page_links.of_pages(Layout([parsed(f"<html><head>{head}</head><body>{body}</body></html>", url=url)]))


def kinds_of(href: str, url: str = HERE, head: str = "") -> set[str]:
    columns = measured(f'<p><a href="{href}">word</a></p>', url, head)
    return {kind for kind in page_links.KINDS if columns[f"link_{kind}"].tolist() == [1.0]}


@pytest.mark.parametrize(
    ("href", "kinds"),
    [
        ("#top", {"nowhere"}),
        ("javascript:void(0)", {"nowhere"}),
        ("mailto:keeper@museum.example", {"nowhere"}),
        ("https://www.port.example/", {"out"}),
        ("//port.example/halls/amber", {"out"}),
        ("http://shop.museum.example/", {"elsewhere"}),
        (HERE, {"same"}),
        ("https://museum.example/halls/amber?lang=en#map", {"same"}),
        ("?lang=de", {"query", "like"}),
        ("?page=2", {"query"}),
        ("/", {"root"}),
        ("http://museum.example", {"root"}),
        ("/halls", {"above"}),
        ("./", {"above"}),
        ("..", {"root"}),
        ("amber/beads", {"below"}),
        ("/halls/amber/beads", {"below"}),
        ("copper?lang=de", {"beside", "like"}),
        ("copper", {"beside"}),
        ("../halls/./copper", {"beside"}),
        ("../" * 50 + "halls", {"above"}),
        ("/visit/hours?lang=en", {"elsewhere", "like"}),
        ("/visit", {"elsewhere"}),
    ],
)
def test_a_link_has_the_kinds_of_where_it_leads(href: str, kinds: set[str]) -> None:
    """By host, path, query and shape; "www.", the scheme and the fragment do not count."""
    assert kinds == kinds_of(href)


def test_links_are_relative_to_the_base_that_a_page_declares() -> None:
    """As a browser resolves them."""
    assert {"root"} == kinds_of("..", head='<base href="/visit/">')
    assert {"out"} == kinds_of("hours", head='<base href="http://port.example/visit/">')


def test_a_dot_alone_leads_to_the_folder_of_the_page() -> None:
    """With the slash behind it, as a browser resolves it."""
    assert {"same"} == kinds_of(".", "http://museum.example/halls/")


def test_a_base_that_is_longer_than_any_url_does_not_count() -> None:
    """A page could repeat it in each of a hundred thousand links."""
    far = f"http://port.example/{'a' * MAX_URL_CHARS}/"

    assert {"beside"} == kinds_of("copper", head=f'<base href="{far}">')


def test_two_links_to_one_place_are_repeated() -> None:
    """In any spelling."""
    columns = measured(
        '<p><a href="copper">one</a></p><p><a href="/halls/copper#b">two</a></p><p><a href="tin">x</a></p>'
    )

    assert [1.0, 1.0, 0.0] == columns["link_repeated"].tolist()


def test_of_a_page_without_a_url_only_what_needs_none_is_known() -> None:
    """Repeated links, and those that lead nowhere."""
    columns = measured('<p><a href="/halls">one</a></p>', url="")

    assert [0.0] == columns["link_repeated"].tolist() == columns["link_nowhere"].tolist()
    assert {UNKNOWN} == {columns[f"link_{kind}"][0] for kind in page_links.KINDS if kind not in ("repeated", "nowhere")}


@pytest.mark.parametrize("url", ["http://a3f.invalid/9.html", "http://museum.example/made-up.invalid/9.html"])
def test_nothing_is_learned_from_a_url_that_is_made_up(url: str) -> None:
    """Neither of its host nor of its path."""
    columns = measured('<p><a href="/halls">one</a></p>', url)

    assert [UNKNOWN] == columns["link_elsewhere"].tolist() == columns["in_path"].tolist()


def test_a_page_without_a_url_has_the_one_that_it_declares() -> None:
    """In its canonical link; so does one whose own is too long."""
    declared = '<link rel="canonical" href="http://museum.example/halls/amber-7.html">'

    assert {"beside"} == kinds_of("/halls/copper", "", declared)
    assert {"beside"} == kinds_of("/halls/copper", f"http://port.example/{'a' * MAX_URL_CHARS}", declared)
    assert {"beside", "like"} == kinds_of("/halls/tin-12.html", "", declared)


def test_shares_are_of_the_links_around_a_block() -> None:
    """Of those in the block and in the elements around it; UNKNOWN where there are none."""
    body = '<ul><li><a href="/halls/amber/a">a</a></li><li><a href="/visit">b</a></li></ul><div><p>text</p></div>'
    columns = measured(body)

    assert [1.0, 0.0, UNKNOWN] == columns["link_below"].tolist()
    assert [0.5, 0.5, UNKNOWN] == columns["link_below^1"].tolist()


def test_words_of_the_url_and_of_the_description_are_found_in_blocks() -> None:
    """Words of the URL count with a capital too, as a heading has them."""
    head = '<meta name="description" content="Beads and combs">'
    columns = measured("<h1>Amber halls</h1><p>Beads and rings</p>", head=head)

    assert [1.0, 0.0] == columns["in_path"].tolist()
    assert [0.0, 2 / 3] == columns["in_description"].tolist() == columns["of_description"].tolist()


@given(st.lists(st.text("ab/.?#:&= %é\\[]@", max_size=12), max_size=6), st.sampled_from([HERE, "", "http://x"]))
def test_any_target_is_counted(hrefs: list[str], url: str) -> None:
    """Each link has one place among those that exclude each other, on pages with any URL."""
    page = parsed("<p>word</p>" + "".join(f'<p><a href="{href}">word</a></p>' for href in hrefs), url=url)
    columns = page_links.of_pages(Layout([page]))

    for values in columns.values():
        assert (len(page.blocks),) == values.shape
        assert np.isfinite(values).all()
    if url:
        sides = [columns[f"link_{kind}"] for kind in page_links.KINDS if kind not in ("like", "repeated")]
        linked = columns["link_nowhere"] >= 0
        assert [1.0] * int(linked.sum()) == np.sum(sides, axis=0)[linked].round(9).tolist()


@settings(max_examples=30)
@given(st.lists(documents.map(lambda html: parsed(html, url=HERE)), min_size=1, max_size=4))
def test_links_of_a_page_do_not_depend_on_those_beside_it(pages: list) -> None:  # type: ignore[type-arg]
    """Bit for bit the same features, alone and among others."""
    together, starts = page_links.of_pages(Layout(pages)), Layout(pages).starts
    for at, page in enumerate(pages):
        for name, values in page_links.of_pages(Layout([page])).items():
            assert values.tolist() == together[name][starts[at] : starts[at + 1]].tolist(), name
