"""Facts that pages state of themselves."""

import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html

from dbce_spark.html.about import About, read_about
from dbce_spark.html.structure.addresses import Addresses

URL = "http://gazette.example/2014/05/18/spring"
CAPTURED = 1_420_070_400_000_000  # 2015-01-01


def about(html: str, url: str = URL) -> About:
    """Read a page that was captured on 1 January 2015."""
    return read_about(lxml_html.document_fromstring(html), Addresses(url), url, CAPTURED)


def meta(**values: str) -> str:
    """Write <meta> elements; `__` stands for a colon."""
    named = ((name.replace("__", ":"), value) for name, value in values.items())
    return "".join(f'<meta property="{name}" content="{value}">' for name, value in named)


@pytest.mark.parametrize(
    ("html", "expected", "place"),
    [
        ("<title>Spring is here - Gazette</title><h1>Spring is here</h1>", "Spring is here", "title"),
        (f"<title>Gazette</title>{meta(og__title='Spring is here')}<h1>Spring is here</h1>", "Spring is here", "card"),
        ("<title>Spring came early</title><h1>Gazette</h1><h1>Spring came late</h1>", "Spring came late", "h1"),
        (
            "<title>The spring market opens today</title><h1>Daily News</h1><h1>Our spring market was full</h1>",
            "Our spring market was full",
            "h1",
        ),
        (
            "<title>The spring market opens today</title><h1>Daily News</h1><h1>A walk past our market stalls</h1>",
            "The spring market opens today",
            "title",
        ),
        ("<title>Gazette</title><h1>Spring!</h1>", "Spring!", "h1"),
        ("<title>Gazette</title><p>x", "Gazette", "title"),
        ("<title>Breaking away</title><h1>GAZETTE</h1>", "Breaking away", "title"),
        ("<title>Breaking away</title><h1>Gazette</h1><h1>Spring!</h1>", "Spring!", "h1"),
        ("<h1>Gazette</h1>", "Gazette", "h1"),
        ("<title>Spring</title><h1>Spring<a href=#top>¶</a></h1>", "Spring", "h1"),
        ("<title>Spring</title><h1><a href=#top>Spring</a></h1>", "Spring", "h1"),
        (f"<title>Breaking away</title><h1>{'Spring ' * 50}</h1>", "Breaking away", "title"),
        ("<title>Spring came early</title><p class=POST-TITLE>Spring came late", "Spring came late", "class:title"),
        ("<title>Spring came</title><p itemprop=headline>Spring came late", "Spring came late", "itemprop:headline"),
        (f"<title>7</title>{meta(citation_title='Spring')}{meta(og__title='Late spring')}<p>x", "Spring", "card"),
        ("<title>x</title><h1><style>.a{}</style><svg>News</svg>Harbour<br>opens</h1>", "Harbour opens", "h1"),
        ("<title>x</title><h1>Harbour<span hidden> Copy link</span> opens</h1>", "Harbour opens", "h1"),
        ("<title>x</title><h1>Harbour opens <button>Copy</button></h1>", "Harbour opens", "h1"),
        ("<title>x</title><h1><button>Harbour opens</button></h1>", "Harbour opens", "h1"),
        ("<title>x</title><h1 hidden>Harbour opens</h1>", "Harbour opens", "h1"),
    ],
)
def test_title(html: str, expected: str, place: str) -> None:
    """The one that a heading repeats, or the heading itself, unless it is no more than the site's name."""
    found = about(html)

    assert (expected, f"title {place}") == (found.title, next(one for one in found.found_in if one.startswith("title")))


@pytest.mark.parametrize(
    ("title", "headings", "expected"),
    [
        ("Business - Harbour opens - The Gazette", "<h1>Business</h1><h1>Harbour opens</h1>", "Harbour opens"),
        ("Harbour opens - Economy and trade - The Gazette", "<h1>Harbour opens</h1><h2>Economy and trade</h2>", ""),
        ("Harbour opens - Boats - The Gazette", "<h1>Boats</h1><h1>Harbour opens</h1>", ""),
        ("The Gazette - Boats - Harbour opens", "<h1>Boats</h1><h1>Harbour opens</h1>", ""),
        ("Harbour opens - The Gazette of Spring", "<h1>The Gazette of Spring</h1><h1>Harbour opens</h1>", ""),
    ],
)
def test_the_section_before_a_title_is_none_of_it(title: str, headings: str, expected: str) -> None:
    """A longer heading behind it is the title; but no heading of a part of the page, or of the site at the end."""
    assert (expected or "Harbour opens") == about(f"<title>{title}</title>{headings}").title


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Spring is here | Gazette", "Spring is here"),
        ("GAZETTE » Spring is here", "Spring is here"),
        ("Spring came early - News - Gazette", "Spring came early - News"),
        ("Gazette: Spring is here", "Gazette: Spring is here"),
        ("Spring - at last – The Tribune", "Spring - at last"),
        ("The Tribune — Spring - at last", "Spring - at last"),
        ("Spring came early | The Tribune", "Spring came early | The Tribune"),
        ("Spring – The Daily", "Spring"),
        ("Spring came early |", "Spring came early"),
        ("» Spring came early", "Spring came early"),
        ("News - Spring - at last - The Tribune", "Spring - at last"),
        ("The Tribune - Spring - Spring - at last", "Spring - at last"),
        ("! - Winter is over", "! - Winter is over"),
        ("Spring-time", "Spring-time"),
    ],
)
def test_a_title_has_no_name_of_the_site(title: str, expected: str) -> None:
    """Neither one that is known, nor what stands beside a part that a heading has, the longest that the title begins
    with or the longest."""
    headings = "<h1>Gazette</h1><h2>Spring - at last</h2><h2>Spring</h2><h2>!</h2><h2>The Daily</h2>"

    assert expected == about(f"<title>{title}</title>{headings}").title


@pytest.mark.parametrize(
    ("title", "headings", "expected"),
    [
        ("老港口 今日开放_新闻中心_某网", "<h1>老港口 今日开放</h1>", "老港口 今日开放"),
        ("老港口 今日开放 -新闻频道-某网", "<h1>老港口 今日开放</h1>", "老港口 今日开放"),
        ("News｜老港口 今日开放--某网", "<h1>老港口 今日开放</h1><h1>热新闻</h1>", "老港口 今日开放"),
        ("老港口今日重新开放-某网", "<h1>某网首页</h1><h2>老港口今日重新开放</h2>", "老港口今日重新开放"),
        ("老港口今日重新开放-新闻中心", "<h1>港口重新开放</h1><h2>新闻中心</h2>", "港口重新开放"),
        ("老港口-今日开放_某网", "<h1>老港口-今日开放</h1><h2>老港口</h2>", "老港口-今日开放"),
        ("老港口-今日开放", "<h2>港口</h2>", "老港口-今日开放"),
    ],
)
def test_signs_in_a_title_touch_in_scripts_without_spaces(title: str, headings: str, expected: str) -> None:
    """The part that a heading has is the title there too; one of a few characters is a section's name."""
    assert expected == about(f"<title>{title}</title>{headings}").title


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (meta(author="Ada Lovelace"), "Ada Lovelace"),
        ("<meta name=author content='Ada Lovelace'>", "Ada Lovelace"),
        ("<b itemprop=publisher>Ada Lovelace</b>", ""),
        ("<p>by <b>Ada Lovelace</b> <i>a</i> <i>b</i> <i>c</i> <i>d</i>", ""),
        ('<script type="application/ld+json">{"author": [{"name": "Ada"}, {"name": "Bob"}]}</script>', "Ada, Bob"),
        ('<a rel="author" href="/x">Ada Lovelace</a>', "Ada Lovelace"),
        ('<div class="post-byline">Ada Lovelace | 3 May</div>', "Ada Lovelace"),
        ('<a href="/author/ada">Ada Lovelace</a>', "Ada Lovelace"),
        ("<p class=autor>Ada Lovelace", "Ada Lovelace"),
        ("<p>By Ada Lovelace, 3 May 2014", "Ada Lovelace"),
        ("<p>Von <b>Ada von Lovelace</b> am 3. Mai", "Ada von Lovelace"),
        ("<p>Text: Dr. Ada Lovelace", "Dr. Ada Lovelace"),
        ("<p>Text: Ada", "Ada"),
        ("<p><b>Autor:</b> <a href=x>Ada Lovelace</a></p>", "Ada Lovelace"),
        ("<p>An article by <i>Ada Lovelace</i> | 3 May", "Ada Lovelace"),
        ("<p>Posted on May 3, 2014 by Ada", "Ada"),
        ("<p>3.5.2014, von Ada Lovelace", "Ada Lovelace"),
        ("<p class=author>Posted on May 3, 2014 by Ada Lovelace", "Ada Lovelace"),
        ("<p class=author-box>Facebook</p><p class='vcard author'>of <b class=fn>ada</b>", "ada"),
        ("<a rel=author>contact</a><p>by Ada Lovelace", "Ada Lovelace"),
        ("<a href=/user/>Members</a>", ""),
        ("<p>By Monday", ""),
        ("<p>By the end of the day all had gone.", ""),
        ("<p>Bye Ada Lovelace", ""),
        ("<div class=comment><p>by Ada Lovelace</div>", ""),
        (f"{meta(author='The Press')}<a rel=author>Ada</a><p class=author>Ada", "Ada"),
        (meta(author="Gazette", og__site_name="Gazette"), "Gazette"),
        (f"{meta(author='Gazette', og__site_name='Gazette')}<p>by Ada Lovelace", "Ada Lovelace"),
        (meta(author="http://gazette.example/ada"), ""),
        ("<form><label class=author>Name</label></form>", ""),
        ("<div class=comment><b class=fn>Bob</b></div>", ""),
        ("<div class='post-author vcard'>from <b class=fn>ada</b></div>", "ada"),
        ("<table class=vcard><th class='fn org'>French Lick Resort</table>", ""),
        ("<div class=hrecipe><h1 class=fn>Apple Pie</h1></div>", ""),
        ("<p class=author>Ada Lovelace<time>14 May</time> <b>Dec 14</b></p>", "Ada Lovelace"),
        ("<div itemtype='http://schema.org/Answer'><b itemprop=author>Bob</b></div><b itemprop=author>Ada", "Ada"),
        ("<div><span>News</span> post by <a href=x>Ada Lovelace</a> on May 3; more", "Ada Lovelace"),
        ("<p>Harbours, <b>boats</b> written by <a href=x>Ada Lovelace</a>", ""),
        ('<script type="application/ld+json">{"@type": "ImageObject", "author": "Ada"}</script>', ""),
        (meta(author="Ada &amp;amp; Bob"), "Ada & Bob"),
        (meta(twitter__data1="Ada", og__type="article"), "Ada"),
        (meta(citation_author="Lovelace, Ada") + meta(citation_author="Bob B. Hill"), "Ada Lovelace, Bob B. Hill"),
        (meta(citation_author="Ada Lovelace") * 6, ", ".join(["Ada Lovelace"] * 6)),
        (meta(twitter__data1="In stock", og__type="product"), ""),
        ("<p>By <b>Ada Lovelace</b>, <b>Bob Hill</b>", "Ada Lovelace, Bob Hill"),
        ("<p>By <a rel=author>Ada Lovelace</a> and <a rel=author>Bob Hill</a>", "Ada Lovelace and Bob Hill"),
        (f"{meta(author='Ada Lovelace')}<p class=byline>Ada Lovelace and Bob Hill", "Ada Lovelace and Bob Hill"),
        (f"{meta(author='Ada Lovelace')}<p class=byline>Bob Hill and Cat Ray", "Ada Lovelace"),
        ("<p class=byline>ada@gazette.example", ""),
        ("<span class=review-author>Bob S.</span>", ""),
        ("<span class='comment-author vcard'>Bob S.</span>", ""),
        ("<div class='p1 hreview'><p class=author>Bob S.</p></div>", ""),
        ("<div id=reviews><p>by Bob Hill</p></div>", ""),
        ("<div itemprop=review><b itemprop=author>Bob</b></div><b itemprop=author>Ada", "Ada"),
        ("<div class='post category-reviews'><p class=author>Ada</p></div>", "Ada"),
        ("<div itemtype=http://schema.org/Review><p class=author>Ada</p></div>", "Ada"),
        ("<p class=byline>Ada Lovelace ada@gazette.example", "Ada Lovelace"),
        (meta(author="Ada Lovelace @ada"), "Ada Lovelace"),
        (meta(author="Ada Lovelace (ada@gazette.example)"), "Ada Lovelace"),
        ("<p class=author>Author: <a href=/author/ada>www.ada.example</a>", "www.ada.example"),
        (meta(author="HTTP://gazette.example/ada"), ""),
        ("<p class=writer>若本站收录的文章侵犯了您的权益，请联系我们删除侵权内容！", ""),
        ("<p class=writer>若本站收录的文章侵犯了您的权益请联系我们删除侵权内容", ""),
        ("<p class=writer>请联系我们。", ""),
        ("<p class=writer>Have you seen her?", ""),
        ("<p class=writer>孔德明、孔丘", "孔德明、孔丘"),
        (meta(author="Yahoo! News"), "Yahoo! News"),
        (
            "<p>By Ada Lovelace, Bob Hill, Cat Ray, Dan Lee and Eve Low</p>",
            "Ada Lovelace, Bob Hill, Cat Ray, Dan Lee and Eve Low",
        ),
        (
            f"{meta(author='Gazette Staff', dc__creator='Ada Lovelace, Bob Hill')}<p>By Ada Lovelace, and Bob Hill",
            "Ada Lovelace, Bob Hill",
        ),
    ],
)
def test_author(html: str, expected: str) -> None:
    """A name, in most places; the site's where there is no other, never a reader's."""
    assert expected == about(f"<title>t</title><body>{html}").author


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=http://www.gazette.example/author/ada>Ada Lovelace</a>", "Ada Lovelace"),
        ("<a href=//blogs.gazette.example/authors/ada>by Ada Lovelace</a>", "Ada Lovelace"),
        ("<a href=/author/ada>Ada</a>", "Ada"),
        ("<a href=/author/ada>More of her</a>", ""),
        ("<a href=https://bsky.example/author/ada>Ada Lovelace</a>", ""),
        ("<a href=https://cc.example/licenses/by/4.0/>Creative Commons Attribution</a>", ""),
        ("<a href=http://[/author/ada>Ada Lovelace</a>", ""),
        ("<a href=/user/login>Log In</a>", ""),
        ("<a href=/user/login>Log In</a><a href=/user/7>ada</a><p class=writer>Bob</p><p class=byline>ada", "ada"),
    ],
)
def test_author_by_a_link(html: str, expected: str) -> None:
    """On the same site, with the form of a name or its own address; the page of a user is but a sign."""
    assert expected == about(f"<title>t</title><body>{html}").author


def test_a_page_that_has_comments_is_none() -> None:
    """The class of its body may name them."""
    assert "Ada" == about("<html><title>t</title><body class=has-comments><p class=author>Ada").author


def test_no_item_of_a_page_gives_its_author() -> None:
    """Several items of a front or a list have different ones; the name before them is that of the page."""
    items = "".join(f"<li><h2>{'A headline ' * 9}</h2><b class=author>{name}</b>" for name in ("Ada", "Bob", "Eve"))

    assert ["", "Tom"] == [about(f"<title>t</title>{one}<ul>{items}").author for one in ("", "<p class=author>Tom</p>")]


@pytest.mark.parametrize(
    ("html", "url", "expected"),
    [
        (meta(article__published_time="2013-02-03T10:00:00Z"), URL, "2013-02-03"),
        ("<time datetime=2013-02-03>3 Feb</time>", URL, "2013-02-03"),
        ("<p>x", URL, "2014-05-18"),
        (meta(article__published_time="2016-02-03"), URL, "2014-05-18"),
        (meta(article__published_time="soon"), URL, "2014-05-18"),
        (meta(article__published_time="2014-05-17T00:00:00Z"), URL, "2014-05-18"),
        ("<p>x", "http://gazette.example/2016/05/18/x", ""),
        (meta(article__published_time="2015-01-01T14:00:00Z"), URL, "2015-01-01"),
        (meta(article__published_time="2015-01-01T20:00:00Z"), URL, "2014-05-18"),
        (meta(article__published_time="2015-01-02"), "http://gazette.example/", ""),
        (meta(article__published_time="2014-05-19T23:30:00-05:00"), URL, "2014-05-19"),
        (meta(article__published_time="2014-05-19T01:30:00Z"), URL, "2014-05-18"),
        (meta(article__published_time="2014-05-20T01:30:00Z"), URL, "2014-05-20"),
        (meta(article__published_time="2014-12-31T23:30:00Z"), "http://gazette.example/2015/01/01/x", "2015-01-01"),
        (meta(article__published_time="2015-01-01T00:30:00Z"), "http://gazette.example/2015/01/02/x", "2015-01-01"),
    ],
)
def test_date_is_never_after_the_capture(html: str, url: str, expected: str) -> None:
    """One that is after it is passed over; the day is that in the zone of the page."""
    assert expected == about(html, url).date


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("20140503/x", "2014-05-03"),
        ("2014/20140503-spring", "2014-05-03"),
        ("spring-20140503.html", "2014-05-03"),
        ("20140503", "2014-05-03"),
        ("20141303/x", ""),
        ("120140503/x", ""),
        ("201405031/x", ""),
        ("x?id=20140503", ""),
        ("2014/05/04/20140503", "2014-05-04"),
    ],
)
def test_a_day_in_the_path_of_the_url_needs_no_signs(path: str, expected: str) -> None:
    """Eight digits that are a day, and no part of a longer number."""
    assert expected == about("<p>x", f"http://gazette.example/{path}").date


def test_digits_in_the_url_correct_no_declared_day() -> None:
    """They may be those of a draft, while a day with slashes is of the publication."""
    declared = meta(article__published_time="2014-05-03T02:00:00Z")

    assert "2014-05-03" == about(declared, "http://gazette.example/20140502-spring").date


@pytest.mark.parametrize(
    ("html", "place"),
    [
        *((meta(**{name: "2014-05-03"}), f"meta:{name}") for name in ("publishdate", "publication_date", "date")),
        ("<meta name=parsely-pub-date content=2014-05-03T10:00:00Z>", "meta:parsely-pub-date"),
        ("<meta name=sailthru.date content=2014-05-03>", "meta:sailthru.date"),
        ("<meta name=citation_publication_date content=2014/5/3>", "meta:citation_publication_date"),
        ("<meta name=DCTERMS.created content=2014-05-03>", "meta:dcterms.created"),
        ("<span property='schema:dateCreated' content=2014-05-03>May</span>", "property:created"),
        ("<span property='dc:date dc:created' content=2014-05-03>May</span>", "property:published"),
        ("<span property=datePublished content=2014-05-03>May</span>", "property:published"),
        ("<div class=comment><span property='schema:dateCreated' content=2014-05-03></span></div>", ""),
        ("<b class=updated title=2014-05-03>May</b>", "class:updated"),
        (
            '<script type="application/ld+json">{"dateCreated": {"@type": "Date", "@value": "2014-05-03"}}</script>',
            "ld:datecreated",
        ),
    ],
)
def test_places_of_the_date(html: str, place: str) -> None:
    """Standards, and what other programs read."""
    found = about(f"<title>t</title><body>{html}", "http://gazette.example/")

    assert ("2014-05-03" if place else "", f"date {place}" if place else None) == (
        found.date,
        next((one for one in found.found_in if one.startswith("date")), None),
    )


def test_the_same_time_in_the_zone_of_the_page_has_the_day() -> None:
    """The one in UTC may be the next."""
    head = meta(article__published_time="2014-05-04T03:37:37+00:00")

    assert "2014-05-03" == about(f"{head}<time datetime='2014-05-03T23:37:37-04:00'>3 May</time>").date


def test_no_item_of_a_page_gives_its_date() -> None:
    """Several items of a list have different times in one place; that before them is of the page."""
    items = "".join(f"<li><h2>{'A headline ' * 9}</h2><time datetime=2014-05-0{day}></time>" for day in (1, 2, 3))
    own = "<p><time datetime=2014-04-01>1 April</time></p>"

    assert ["", "2014-04-01"] == [about(f"{one}<ul>{items}</ul>", "http://x.example/").date for one in ("<p>x", own)]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (meta(article__modified_time="2014-06-03T10:00:00Z"), "2014-06-03"),
        ('<script type="application/ld+json">{"dateModified": "2014-06-03"}</script>', "2014-06-03"),
        ("<time itemprop=dateModified datetime=2014-06-03></time>", "2014-06-03"),
        ("<time itemprop=dateModified>2014-06-03</time>", "2014-06-03"),
        ("<b class=dt-updated title=2014-06-03></b>", "2014-06-03"),
        (meta(og__updated_time="2014-06-03"), "2014-06-03"),
        (meta(article__modified_time="2014-05-17"), ""),
        (meta(article__modified_time="2015-01-01T10:00:00"), "2015-01-01"),
        (meta(article__modified_time="2015-01-02T10:00:00"), ""),
    ],
)
def test_the_day_of_the_last_change_is_not_before_that_of_publication(html: str, expected: str) -> None:
    """Nor after the capture; where it is before, one of both is wrong."""
    found = about(f"<body>{html}")

    assert ("2014-05-18", expected) == (found.date, found.modified)
    assert bool(expected) == any(one.startswith("modified ") for one in found.found_in)


SITE = {
    "description": "We sell boats",
    "image": {"url": "/logo.png"},
    "license": "http://l.example/",
    "keywords": "a, b",
}


@pytest.mark.parametrize(
    "kind", ["Person", "WebSite", "Organization", "HairSalon", ["Person", "Organization"], "http://schema.org/NGO"]
)
def test_what_is_said_of_the_site_is_not_the_page(kind: object) -> None:
    """Nor what is said of people; what an article says stays."""
    of_site, of_page = (
        f'<script type="application/ld+json">{json.dumps(SITE | {"@type": one})}</script>' for one in (kind, "Article")
    )
    found, article = about(f"<title>t</title>{of_site}"), about(f"<title>t</title>{of_page}")

    assert ("", "", "", ()) == (found.description, found.image, found.license, found.tags)
    assert ("We sell boats", "http://gazette.example/logo.png", "http://l.example/", ("a", "b")) == (
        article.description,
        article.image,
        article.license,
        article.tags,
    )


def test_the_rest() -> None:
    """Description, site, image, licence and tags, each with its place."""
    head = meta(og__description="D", og__site_name="Gazette", og__image="/i.png", keywords="a, b, a")
    found = about(f"<title>t</title>{head}<link rel=license href=http://l.example/>")

    assert ("D", "Gazette", "http://gazette.example/i.png") == (found.description, found.site_name, found.image)
    assert ("http://l.example/", ("a", "b")) == (found.license, found.tags)
    assert {"tags meta:keywords", "license rel:license", "image meta:og:image"} <= {*found.found_in}


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (meta(keywords="a b, c,"), ("a b", "c")),
        (meta(keywords="a,b") + meta(keywords="c") + meta(keywords="b,d"), ("a", "b", "c", "d")),
        (meta(keywords="a b; c;"), ("a b", "c")),
        (meta(keywords="a; b, c"), ("a; b", "c")),
        (meta(keywords="企业，安全、工作"), ("企业", "安全", "工作")),
        (meta(keywords="企业|安全"), ("企业", "安全")),
        (meta(keywords="میناء، أسماك؛ سوق"), ("میناء", "أسماك", "سوق")),
        ('<script type="application/ld+json">{"keywords": ["a, b", "c"]}</script>', ("a", "b", "c")),
        (meta(article__tag="a, b") + meta(article__tag="c; d"), ("a, b", "c; d")),
        ("<a rel=tag>a, b</a>", ("a", "b")),
    ],
    ids=["commas", "several lists", "semicolons", "both", "Chinese", "bars", "Arabic", "JSON-LD", "tags", "one tag"],
)
def test_a_list_of_keywords_is_parted_at_its_signs(html: str, expected: tuple[str, ...]) -> None:
    """Commas go first; a tag among others is one, whatever signs are in it."""
    assert expected == about(html).tags


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("&lt;p&gt;Spring &lt;b&gt;came&lt;/b&gt;&lt;br /&gt;late&lt;/p&gt;", "Spring came late"),
        ("&lt;p&gt;Spring came and was cut", "Spring came and was cut"),
        ("Spring&amp;nbsp;came &amp;amp; we&amp;#8217;re late", "Spring came & we’re late"),
        ("The &lt;p&gt; element, and ?a=1&amp;copy=2", "The <p> element, and ?a=1&copy=2"),
        ("&lt;p&gt;&lt;/p&gt;", "the next"),
    ],
)
def test_a_description_has_no_markup(content: str, expected: str) -> None:
    """HTML that was escaped twice is read as such; a tag that the text is about stays."""
    head = f"<title>t</title>{meta(description=content)}{meta(DC__description='the next')}"

    assert expected == about(head).description


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<link rel=license href=/terms>", "http://gazette.example/terms"),
        ("<a rel=license href=//l.example/by/>x</a>", "http://l.example/by/"),
        ("<a rel=license href=javascript:x>x</a>", ""),
        (meta(dc__rights="Copyright Gazette"), "Copyright Gazette"),
    ],
)
def test_license(html: str, expected: str) -> None:
    """A reference is resolved, a text stays."""
    assert expected == about(f"<title>t</title><body>{html}").license


@given(st.text(alphabet='<>/"=: {}[],metaldjsonauthorpcq', max_size=200))
def test_whatever_a_page_says_is_bounded(text: str) -> None:
    """And raises nothing."""
    found = about(f'<p>x<script type="application/ld+json">{text}</script><meta name=author content="{text * 9}">')

    assert len(found.author) <= 80


@pytest.mark.parametrize(
    "html",
    [
        "<i class=author>" * 1_500 + "word " * 1_000_000,
        "<i class=author>" * 1_500 + "<b></b>" * 50_000,
        f"<div class='comment {'a' * 1_000_000}'>" + "<i class=fn>word</i>" * 20_000,
    ],
    ids=["authors in authors", "elements in authors", "readers below a long class"],
)
def test_a_text_is_not_read_for_each_element_around_it(html: str) -> None:
    """Nor the class of an element for each one in it."""
    root = lxml_html.document_fromstring(html, parser=lxml_html.HTMLParser(huge_tree=True))
    began = process_time()
    read_about(root, Addresses(URL), URL, CAPTURED)

    assert process_time() - began < 5


def test_the_day_of_a_microformat_is_in_a_title() -> None:
    """hAtom's pattern for times that people read."""
    found = about("<abbr class='published' title='2014-05-03T10:00:00Z'>Saturday</abbr>", "http://gazette.example/")

    assert ("2014-05-03", ("date class:published",)) == (found.date, found.found_in)


@pytest.mark.parametrize("sign", [":", "."])
def test_dublin_core_has_colons_or_stops(sign: str) -> None:
    """Both forms are read, of the terms as of the older elements."""
    names = {"dcterms:creator": "Ann Lee", "DCTERMS:issued": "2014-05-03", "dc:description": "Of spring."}
    found = about("".join(f'<meta name="{key.replace(":", sign)}" content="{value}">' for key, value in names.items()))

    assert ("Ann Lee", "2014-05-03", "Of spring.") == (found.author, found.date, found.description)
