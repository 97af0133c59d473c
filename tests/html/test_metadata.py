"""Metadata that a page declares: where it is looked for, what is taken for it, and what is not."""

import json
import lzma
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.files.timestamps import EARLIEST, parse_date
from dbce_spark.html.about import read_about
from dbce_spark.html.dom import PageError, parse_tree
from dbce_spark.html.json_ld import MAX_JSON_CHARS
from dbce_spark.html.metadata import (
    AHEAD,
    MAX_CANDIDATES,
    MAX_URL_CHARS,
    declared,
    language_tag,
    metadata,
)
from dbce_spark.html.structure.addresses import Addresses
from dbce_spark.model import Metadata

URL = "http://example.org/a/b.html"


def micros(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


FETCHED = micros(datetime(2012, 6, 1, 12, tzinfo=UTC))
MAY = micros(datetime(2012, 5, 3, tzinfo=UTC))


def metadata_of(html: str, url: str = URL, timestamp: int = FETCHED) -> Metadata:
    utf8 = html.encode()
    return metadata(declared(parse_tree(utf8), utf8), url, timestamp)


def page(head: str, body: str = "<p>word", html: str = "<html>") -> str:
    return f"{html}<head>{head}<title>T</title></head><body>{body}</body></html>"


def graph(*nodes: object) -> str:
    data = {"@context": "https://schema.org", "@graph": nodes}
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def test_page_that_declares_nothing() -> None:
    """Fields that are not declared are empty, or None."""
    expected = Metadata(title="", declared_language="", published=None, modified=None, canonical_url=None)

    assert expected == metadata_of("<p>word<script>x</script>")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<title> A \n title </title><meta property=og:title content=Other>", "A title"),
        ("<title> </title><meta property=og:title content='The  other'>", "The other"),
        ("<meta name=DC.title content=Third>", "Third"),
        ("<body><svg><title>Icon</title></svg><p>word", ""),
        ("<body><svg><title>Icon</title></svg><p>word<title>Late</title>", "Late"),
        ("<title>A &lt;b> &amp; c</title>", "A <b> & c"),
        ("<meta name=title content='A title | Site'><title>A title</title>", "A title"),
    ],
    ids=["element", "blank element", "Dublin Core", "drawing", "in the body", "entities", "no standard"],
)
def test_title(html: str, expected: str) -> None:
    """The title is that of <title>; where it is missing or blank, what the page gives as its title elsewhere."""
    actual = metadata_of(html).title

    assert expected == actual


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (page("<meta http-equiv=content-language content=fr>", html="<html lang=de-at xml:lang=it>"), "de-AT"),
        (page("<meta http-equiv=content-language content=fr>", html="<html xml:lang=it>"), "it"),
        (page("<meta property=og:locale content=en_US><meta http-equiv=Content-Language content=fr>"), "fr"),
        (page("<meta http-equiv=content-language content='fr, de'><meta property=og:locale content=en_US>"), "en-US"),
        (page("<meta name=dcterms.language content=pl>"), "pl"),
        (page("", html="<html lang='{{lang}}'>"), ""),
        (page("<meta property=og:locale content=el_GR>", html="<html lang=''>"), "el-GR"),
    ],
    ids=["lang", "xml:lang", "pragma", "list of languages", "Dublin Core", "template", "empty"],
)
def test_declared_language(html: str, expected: str) -> None:
    """The root element is believed before the pragma, the pragma before Open Graph; junk is passed over."""
    actual = metadata_of(html).declared_language

    assert expected == actual


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EN", "en"),
        (" pt_br ", "pt-BR"),
        ("ZH-HANT-hk", "zh-Hant-HK"),
        ("zh-cmn-hans-cn", "zh-cmn-Hans-CN"),
        ("es-419", "es-419"),
        ("sl-ROZAJ-1994", "sl-rozaj-1994"),
        ("de-1AbC", "de-1abc"),
        ("EN-x-US", "en-x-us"),
        ("en-u-CA-GREGORY", "en-u-ca-gregory"),
        *((junk, "") for junk in ("", "english", "e", "en-", "-en", "en,fr", "en_US.UTF-8", "und", "x-default", "e1")),
    ],
)
def test_language_tags(text: str, expected: str) -> None:
    """A tag is written as RFC 5646 recommends; what is not well formed is none."""
    actual = language_tag(text)

    assert expected == actual


PUBLISHED = [
    page("<meta property=article:published_time content=2012-05-03>"),
    page("<meta name=article:published_time content=2012-05-03T00:00:00Z>"),
    page("<meta name=DC.date content=2012-05-03>"),
    page("<meta name=DCTERMS.issued content=2012-05-03>"),
    page("<meta property=dcterms:created content=2012-05-03>"),
    page("<meta name=dc.date.issued content=2012-05-03>"),
    page("<meta name=citation_publication_date content=2012/5/3>"),
    page("<meta name=citation_date content=2012/05/03>"),
    page("<meta property=schema:datePublished content=2012-05-03>"),
    page(graph({"@type": "Article", "datePublished": "2012-05-03"})),
    page("", body="<p>word" + graph({"@type": "WebSite"}, {"datePublished": "2012-05-03"})),
    page("", '<article itemtype="http://schema.org/Article"><p>word<meta itemprop=datePublished content=2012-05-03>'),
    page("", '<article itemtype="http://schema.org/Article"><p>word<time itemprop=datePublished>2012-05-03</time>'),
    page("", "<article><p>word <time pubdate datetime=2012-05-03>yesterday</time>"),
]
"""Pages that declare 3 May 2012, each in a standard of its own."""


@pytest.mark.parametrize("html", PUBLISHED)
def test_publication_date(html: str) -> None:
    """Every standard that has a word for the date of publication is understood, in the head and below it."""
    expected = (MAY, None)
    actual = (metadata_of(html).published, metadata_of(html).modified)

    assert expected == actual


@pytest.mark.parametrize("html", PUBLISHED)
def test_a_page_says_of_itself_what_it_declares(html: str) -> None:
    """`about` reads each place that the column `published` does."""
    found = read_about(parse_tree(html.encode()), Addresses(URL), URL, FETCHED)

    assert "2012-05-03" == found.date


def test_dates_of_the_site_are_not_the_page() -> None:
    """Nor those of its pictures, and of other articles."""
    others = [{"@type": kind, "datePublished": "2012-05-09"} for kind in ("WebSite", "ImageObject")]
    others += [{"@type": "Article", "headline": "Other", "datePublished": "2012-05-09"}]
    own = {"@type": "Article", "headline": "T", "datePublished": "2012-05-03"}

    assert metadata_of(page(graph(*others, own))).published == MAY


@pytest.mark.parametrize("name", ["lang", "title", "canonical", "pubdate", "ld:datepublished"])
def test_name_that_no_standard_has(name: str) -> None:
    """An element <meta> with the name of another element or of an attribute declares nothing."""
    value = {"lang": "en", "title": "A title"}.get(name, "2012-05-03")

    assert metadata_of("<p>word") == metadata_of(f"<meta name={name} content='{value}'><p>word")


@pytest.mark.parametrize(
    "html",
    [
        page("<meta property=article:modified_time content=2012-05-03>"),
        page("<meta name=dcterms.modified content=2012-05-03>"),
        page(graph({"dateModified": "2012-05-03T00:00:00+00:00"})),
        page(
            "", '<div itemtype="https://schema.org/Article"><time itemprop=dateModified datetime=2012-05-03>word</time>'
        ),
    ],
)
def test_date_of_change(html: str) -> None:
    """So is every one that has a word for the date of the last change."""
    expected = (None, MAY)
    actual = (metadata_of(html).published, metadata_of(html).modified)

    assert expected == actual


def test_dates_of_what_a_page_speaks_of() -> None:
    """The dates of comments and related pages, within what a script is about, are not the page's."""
    comment = {"@type": "Comment", "datePublished": "2012-05-09"}

    assert metadata_of(page(graph({"@type": "Article", "comment": [comment]}))).published is None
    assert (
        metadata_of(page(graph({"@type": "Article", "datePublished": "2012-05-03", "comment": [comment]}))).published
        == MAY
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2012", datetime(2012, 1, 1, tzinfo=UTC)),
        ("2012-05", datetime(2012, 5, 1, tzinfo=UTC)),
        ("20120503", datetime(2012, 5, 3, tzinfo=UTC)),
        ("20120503T101112Z", datetime(2012, 5, 3, 10, 11, 12, tzinfo=UTC)),
        ("2012-05-03T10:11", datetime(2012, 5, 3, 10, 11, tzinfo=UTC)),
        ("2012-05-03 10:11:12,5", datetime(2012, 5, 3, 10, 11, 12, 500_000, tzinfo=UTC)),
        ("2012-05-03T10:11:12.123456789Z", datetime(2012, 5, 3, 10, 11, 12, 123_456, tzinfo=UTC)),
        ("2012-05-03T10:11:12-0330", datetime(2012, 5, 3, 13, 41, 12, tzinfo=UTC)),
        ("2012-05-03T10:11:12+02", datetime(2012, 5, 3, 8, 11, 12, tzinfo=UTC)),
        ("2012-06-30T23:59:60Z", datetime(2012, 6, 30, 23, 59, 59, tzinfo=UTC)),
        ("Thu, 03 May 2012 10:11:12 GMT", datetime(2012, 5, 3, 10, 11, 12, tzinfo=UTC)),
        ("Thu, 03 May 2012 10:11:12 -0400", datetime(2012, 5, 3, 14, 11, 12, tzinfo=UTC)),
    ],
)
def test_date_formats(text: str, expected: datetime) -> None:
    """Dates come as ISO 8601 and as in mails, whole and in part; what they leave out is the first of its kind."""
    actual = parse_date(text)

    assert micros(expected) == actual


@pytest.mark.parametrize(
    "text",
    [
        *("", "yesterday", "201205", "1336003200", "2012-13-01", "2012-02-30", "2012-05-03T25:00", "03/05/2012"),
        *("2012-05-03T10:00+99:00", "0000-00-00", "2012-05-03T", "{{date}}", "2012--05", "٢٠١٢-٠٥-٠٣"),
    ],
)
def test_what_is_no_date(text: str) -> None:
    """A date that cannot be, or that could be another, is none."""
    assert parse_date(text) is None


@given(
    st.datetimes(datetime(1, 1, 2), datetime(9998, 12, 31)),
    st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)
def test_dates_come_back(at: datetime, zone: timezone) -> None:
    """A date that Python writes is read as the same microsecond, whatever its zone."""
    there = at.replace(tzinfo=zone)
    expected = micros(there)
    actual = parse_date(there.isoformat())

    assert expected == actual


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (EARLIEST - 1, None),
        (EARLIEST, EARLIEST),
        (FETCHED, FETCHED),
        (FETCHED + 1, FETCHED),
        (FETCHED + AHEAD, FETCHED),
        (FETCHED + AHEAD + 1, None),
    ],
)
@pytest.mark.parametrize("name", ["published", "modified"])
def test_dates_that_can_be(name: str, at: int, expected: int | None) -> None:
    """A date before there were pages is passed over; after the capture, it counts as that, or a zone later as none."""
    text = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)).isoformat()
    actual = getattr(metadata_of(page(f"<meta property=article:{name}_time content='{text}'>")), name)

    assert expected == actual


def test_next_date_stands_in_for_an_impossible_one() -> None:
    """The next date is taken where the first one cannot be."""
    head = "<meta property=article:published_time content=1970-01-01><meta name=dc.date content=2012-05-03>"

    assert metadata_of(page(head)).published == MAY


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<link rel=canonical href=http://example.org/x>", "http://example.org/x"),
        ("<link rel='Shortlink CANONICAL' href=' ../x?y=1 '>", "http://example.org/x?y=1"),
        ("<base href=/deep/down/><link rel=canonical href=x>", "http://example.org/deep/down/x"),
        ("<meta property=og:url content=//other.org/x>", "http://other.org/x"),
        ("<meta property=og:url content=/og><link rel=canonical href=/link>", "http://example.org/link"),
        ("<meta property=og:url content=/og><link rel=canonical href='{{url}}'>", "http://example.org/og"),
        ("<link rel=canonical href=''><link rel=canonical href=/second>", "http://example.org/second"),
        *(
            (f"<link rel=canonical href='{href}'>", None)
            for href in (
                "javascript:go()",
                "http://",
                "http://[x/",
                "http://a:b/",
                "http://a b/",
                "mailto:a@b.org",
                "/%7B{}",
            )
        ),
        (f"<link rel=canonical href='/{'x' * MAX_URL_CHARS}'>", None),
        ("<link rel=stylesheet href=/x>", None),
    ],
)
def test_canonical_url(head: str, expected: str | None) -> None:
    """The canonical URL is absolute, resolved as browsers do; what leads to no page is passed over."""
    actual = metadata_of(page(head)).canonical_url

    assert expected == actual


@pytest.mark.parametrize(("reference", "expected"), [("/a", None), ("http://a.example/", "http://a.example/")])
def test_nothing_is_relative_to_a_base_that_is_no_address(reference: str, expected: str | None) -> None:
    """One as long as a book; to join it with a reference takes as long."""
    head = f"<base href='http://b.example/{'a/' * 5_000}'><link rel=canonical href='{reference}'>"

    assert expected == metadata_of(page(head)).canonical_url


def test_broken_head() -> None:
    """Declarations that a parser moves out of a broken head are found all the same."""
    html = "<head><title>T</title><p>word</p><link rel=canonical href=/x><meta name=dc.date content=2012-05-03></head>"
    expected = ("http://example.org/x", MAY)
    actual = (metadata_of(html).canonical_url, metadata_of(html).published)

    assert expected == actual


@pytest.mark.parametrize(
    "script",
    [
        '{"datePublished": ',
        '{"datePublished": 7}',
        '"datePublished"',
        '["datePublished"]',
        '{"@graph": ["datePublished", null]}',
        '{"datePublished": ' + "[" * 100_000,
        '{"datePublished": ' + "9" * 5_000 + "}",
    ],
    ids=["cut", "a number", "a text", "a list", "no things", "deep", "a long number"],
)
def test_json_that_gives_no_date(script: str) -> None:
    """A script that is no JSON, or not what it should be, does not keep the next one from being read."""
    head = f'<script type="application/ld+json">{script}</script>{graph({"datePublished": "2012-05-03"})}'

    assert metadata_of(page(head)).published == MAY


def test_controls_in_json() -> None:
    """A line break within a string, which JSON does not allow and many write, is taken as it is."""
    script = '<script type="application/ld+json">{"name": "a\nb", "datePublished": "2012-05-03"}</script>'

    assert metadata_of(page(script + "<!-- schema.org -->")).published == MAY


def test_too_much_json() -> None:
    """JSON is read up to the limit of a page, and not behind it."""
    small, large = graph({"datePublished": "2012-05-03"}), graph({"name": "x" * MAX_JSON_CHARS})

    assert metadata_of(page(small + large)).published == MAY
    assert metadata_of(page(large + small)).published is None


def test_many_dates() -> None:
    """The first of a thousand dates are kept."""
    utf8 = page("", "<time pubdate datetime=2012-05-03>word</time>" * 1000).encode()

    assert len(declared(parse_tree(utf8), utf8).published) == MAX_CANDIDATES


_TAGS = ("html", "head", "body", "title", "meta", "link", "base", "time", "svg", "script", "div", "frameset")
_KEYS = ("property", "name", "itemprop", "http-equiv", "content", "rel", "href", "datetime", "lang", "xml:lang", "type")
_VALUES = st.one_of(
    st.sampled_from(
        [
            *("og:title", "og:url", "og:locale", "canonical", "dc.date", "datePublished", "article:modified_time"),
            *(
                "application/ld+json",
                "content-language",
                "2012-05-03",
                "2012-05-03T10:00:00+24:00",
                "http://[",
                "//",
                "?",
            ),
        ]
    ),
    st.text(st.characters(blacklist_characters="'", blacklist_categories=["Cs"]), max_size=12),
)
_SOUP = st.lists(
    st.one_of(
        st.builds(
            lambda tag, attributes: f"<{tag} {' '.join(attributes)} pubdate>",
            st.sampled_from(_TAGS),
            st.lists(st.builds("{}='{}'".format, st.sampled_from(_KEYS), _VALUES), max_size=4),
        ),
        st.sampled_from(_TAGS).map(lambda tag: f"</{tag}>"),
        st.sampled_from(['{"@context": "schema.org", "@graph": [{"datePublished": "', '"}]}', "[[", "word", "2012-05"]),
        st.text(max_size=8),
    ),
    max_size=20,
).map("".join)


@given(_SOUP, _VALUES, st.integers(-(10**17), 10**17))
def test_any_soup(soup: str, url: str, timestamp: int) -> None:
    """Whatever the HTML, the URL and the time, there is an answer, and its parts are what they should be."""
    utf8 = soup.encode("utf-8", "replace")
    try:
        root = parse_tree(utf8)
    except PageError:
        return
    found = metadata(declared(root, utf8), url, timestamp)

    assert found.declared_language == language_tag(found.declared_language)
    assert all(at is None or EARLIEST <= at <= timestamp for at in (found.published, found.modified))
    assert found.canonical_url is None or found.canonical_url.startswith(("http://", "https://"))
    assert found.title == " ".join(found.title.split())


@pytest.mark.data
def test_declared_languages_of_real_pages(shared_data: Path) -> None:
    """Most of 60 real pages in five languages declare the language they are written in."""
    with lzma.open(shared_data / "gold" / "daniel.jsonl.xz", "rt") as lines:
        pages = [json.loads(line) for _, line in zip(range(300), lines, strict=False)][::5]
    found = [(one["lang"], metadata_of(one["html"]).declared_language) for one in pages]
    right = sum(tag.split("-")[0] == lang for lang, tag in found if tag)

    assert right >= 0.8 * sum(bool(tag) for _, tag in found) > 10
