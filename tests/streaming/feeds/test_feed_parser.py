"""Parse feeds of every kind, good and broken, from their bytes."""

import pytest

from dbce_spark.streaming.feeds.feed_item import Item
from dbce_spark.streaming.feeds.feed_parser import NotAFeed, parse

URL = "http://www.example.org/news/feed"
RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>F</title><ttl>30</ttl>
<item><title>A &amp;
 b</title><link>/a</link><description>&lt;p&gt;Of a&lt;/p&gt;</description>
<pubDate>Mon, 24 Oct 2011 08:00:00 GMT</pubDate></item></channel></rss>"""
ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>F</title>
<entry><title>A &amp; b</title><link rel="alternate" href="/a"/><link rel="self" href="/self"/>
<summary type="html">&lt;p&gt;Of a&lt;/p&gt;</summary><published>Mon, 24 Oct 2011 08:00:00 GMT</published></entry>
</feed>"""
RDF = """<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="x"><title>F</title></channel>
<item rdf:about="/a"><title>A &amp; b</title><link>/a</link><description>&lt;p&gt;Of a&lt;/p&gt;</description>
<dc:date>Mon, 24 Oct 2011 08:00:00 GMT</dc:date></item></rdf:RDF>"""
EXPECTED = Item(
    feed=URL,
    link="http://www.example.org/a",
    title="A & b",
    description="<p>Of a</p>",
    date="Mon, 24 Oct 2011 08:00:00 GMT",
)


@pytest.mark.parametrize(
    "text", [RSS, ATOM, RDF, RSS.replace("</channel></rss>", "")], ids=["rss", "atom", "rdf", "cut"]
)
def test_an_item_is_the_same_in_every_format(text: str) -> None:
    """RSS 2.0, Atom and RDF, and RSS that is cut off, give the same item, with an absolute link."""
    assert (EXPECTED,) == parse(text.encode(), "application/xml", URL, most_items=100).items


def test_a_feed_says_how_long_it_wants_to_be_left_alone() -> None:
    """The ttl of RSS is in minutes; Atom has none."""
    assert (1800.0, 0.0) == tuple(
        parse(text.encode(), "application/xml", URL, most_items=100).ttl_seconds for text in (RSS, ATOM)
    )


def test_charset_of_the_header_holds() -> None:
    """A feed in KOI8-R that only its HTTP header declares is read as that."""
    text = RSS.replace("A &amp;", "Вести &amp;").replace('<?xml version="1.0"?>', "")
    found = parse(text.encode("koi8-r"), "application/xml; charset=koi8-r", URL, most_items=100)

    assert "Вести & b" == found.items[0].title


@pytest.mark.parametrize("link", ["", "javascript:alert(1)", "file:///etc/passwd", "mailto:a@example.org"])
def test_an_item_without_a_page_of_the_web_is_none(link: str) -> None:
    """Only http and https are followed."""
    assert (
        ()
        == parse(RSS.replace("<link>/a</link>", f"<link>{link}</link>").encode(), "text/xml", URL, most_items=100).items
    )


@pytest.mark.parametrize("body", [b"", b"<html><p>Moved</p></html>", b"\0\1\2", b'{"version": "no feed"}'])
def test_what_is_no_feed_says_so(body: bytes) -> None:
    """A page in place of a feed is not an empty feed."""
    with pytest.raises(NotAFeed, match="is neither RSS nor Atom nor RDF"):
        parse(body, "text/html", URL, most_items=100)


def test_entities_of_a_feed_are_read_as_long_as_they_are_few() -> None:
    """A name for a sign is one; a long text that is named a thousand times would take all memory."""
    declared = RSS.replace("?><rss", '?>\n<!DOCTYPE rss [\n<!ENTITY c "{}">\n]>\n<rss')
    few = declared.format("(C)").replace("A &amp;", "A &c; &amp;")
    many = declared.format("C" * 5_000).replace("A &amp;", "&c; " * 1_000).replace("</channel></rss>", "")

    assert "A (C) & b" == parse(few.encode(), "application/xml", URL, most_items=100).items[0].title
    in_utf_16 = many.replace('"1.0"', '"1.0" encoding="utf-16"').encode("utf-16")
    for coded in (many.encode(), in_utf_16):
        with pytest.raises(NotAFeed, match=f"^{URL}: grows by its entities to more than 4194304 bytes$"):
            parse(coded, "application/xml", URL, most_items=100)


@pytest.mark.parametrize("coding", ["utf-8", "utf-16", "cp037"])
def test_a_feed_begins_soon(coding: str) -> None:
    """The library takes hours for the line ends that a server can send in a second, and lets nothing else run."""
    text = RSS.replace('"1.0"?>', f'"1.0" encoding="{coding}"?>' + "\n" * 20_000)
    with pytest.raises(NotAFeed, match=f"^{URL}: has 2[0-9]{{4}} bytes before its first element$"):
        parse(text.encode(coding), "application/xml", URL, most_items=100)


def test_an_item_may_have_nothing_but_its_link() -> None:
    """Each part that its feed lacks is empty; a feed of Atom has the day of a change for that of publication."""
    bare = b"<rss version='2.0'><channel><item><link>http://www.example.org/a</link></item></channel></rss>"
    (found,) = parse(bare, "text/xml", URL, most_items=100).items
    atom = ATOM.replace("published>", "updated>").encode()

    assert Item(feed=URL, link="http://www.example.org/a", title="", description="", date="") == found
    assert (EXPECTED,) == parse(atom, "application/xml", URL, most_items=100).items


def test_what_the_library_fails_on_is_no_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the feed and what went wrong."""

    def broken(*_: object, **__: object) -> None:
        raise LookupError("half a character")

    monkeypatch.setattr("feedparser.parse", broken)
    with pytest.raises(NotAFeed, match=f"^{URL}: LookupError: half a character$"):
        parse(RSS.encode(), "text/xml", URL, most_items=100)


def test_the_same_item_in_two_feeds_of_a_site_is_one() -> None:
    """An item's id depends on its site's domain, not on its feed or its link; on another site it differs."""
    ids = {
        Item(feed=feed, link=link, title="A", description="", date="").item_id
        for feed, link in ((URL, "x"), ("http://feeds.example.org/sport", "y"), ("http://example.com/", "x"))
    }

    assert 2 == len(ids)
