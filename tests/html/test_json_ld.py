"""JSON-LD of pages: what is of the page itself."""

import json
from time import process_time

import pytest
from lxml import html as lxml_html

from dbce_spark.html.json_ld import is_image, is_of_page, page_things, types_of

SPRING = {"@type": "NewsArticle", "headline": "Spring came &amp; went early", "author": "Ada"}
HARBOUR = {"@type": ["Article"], "headline": "The old harbour opens again", "author": "Bob"}
FISH = {"@type": "Article", "headline": "Fish", "author": "Eve"}
CRUMBS = {"@type": "BreadcrumbList"}


def authors(html: str, *things: object) -> list[str]:
    """List the authors of the things that are the page's, "" for one without."""
    root = lxml_html.document_fromstring(html)
    found = page_things(root, [json.dumps(thing) for thing in things])
    return [str(one.get("author", one["@type"])) for one in found if "@type" in one]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<title>The old harbour opens again - Gazette</title>", ["BreadcrumbList", "Bob"]),
        ("<title>Gazette</title><h1>Spring came <b>&amp;</b> went early!</h1>", ["BreadcrumbList", "Ada"]),
        ("<title>Gazette</title><h1>Harbour opens</h1>", ["BreadcrumbList", "Bob"]),
        ("<title>Gazette</title><h1>Opens</h1>", ["BreadcrumbList", "Ada", "Bob", "Eve"]),
        ("<title>Gazette</title><h1>The harbour opens again</h1>", ["BreadcrumbList", "Bob"]),
        ("<title>Gazette</title><h1>The old harbour</h1>", ["BreadcrumbList", "Bob"]),
        ("<title>Gazette of fish, boats and nets</title>", ["BreadcrumbList", "Ada", "Bob", "Eve"]),
        ("<title>Fish</title>", ["BreadcrumbList", "Eve"]),
    ],
)
def test_of_several_articles_the_one_of_the_heading_is_the_page(html: str, expected: list[str]) -> None:
    """By all or most of its words; where none is, all stay."""
    assert expected == authors(html, CRUMBS, SPRING, {"@graph": [HARBOUR, FISH]})


def test_a_single_article_is_the_page() -> None:
    """Whatever its headline."""
    assert ["BreadcrumbList", "Ada"] == authors("<title>Other</title>", CRUMBS, SPRING)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Article", {"article"}),
        (["Article", "schema:WebPage", 7], {"article", "webpage"}),
        ("https://schema.org/NewsArticle", {"newsarticle"}),
        (None, set()),
    ],
)
def test_types(written: object, expected: set[str]) -> None:
    """Their names, whatever address of the vocabulary is before them."""
    assert expected == types_of({"@type": written})


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Article", True),
        ("WebPage", True),
        ("Brand", True),
        ("Bakery", False),
        ("website", False),
        ("ImageObject", False),
    ],
)
def test_what_may_be_the_page(kind: str, expected: bool) -> None:
    """All but people, organizations, sites and pictures."""
    assert (expected, kind == "ImageObject") == (is_of_page({"@type": kind}), is_image({"@type": kind}))


def test_a_long_list_of_articles_takes_no_time() -> None:
    """Nor do thousands of headings."""
    things = [{"headline": f"Spring {number}"} for number in range(5_000)]
    root = lxml_html.document_fromstring("<title>Spring</title>" + "<h1>Spring came early</h1>" * 10_000)
    began = process_time()

    assert 5_000 == len(page_things(root, [json.dumps(things)]))
    assert 2 == len(page_things(root, [json.dumps(things[:2])]))
    assert process_time() - began < 1
