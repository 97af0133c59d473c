"""The parse of a page: HTML that gives no tree, and what keeps a parser busy."""

import pytest

from dbce_spark.html.dom import PageError, parse_tree
from dbce_spark.html.page import parse
from tests.support.builders import config, parsed


@pytest.mark.parametrize("html", [b"", b"   ", b"<!-- only a comment -->", b"\0\0"], ids=repr)
def test_page_without_an_element(html: bytes) -> None:
    """HTML without an element is refused, not crashed on."""
    with pytest.raises(PageError):
        parsed(html)


def test_attributes_of_a_long_page() -> None:
    """On a page that is not trusted for its length, attributes are counted on each tag, however short."""
    settings = config("page.max_attributes=3", "page.trusted_bytes=20").page

    assert parse(b"<p a b c>words of it</p>", "", settings).flags == ()
    with pytest.raises(PageError, match="<p> has 4 attributes"):
        parse(b"<p a b c d>words of it</p>", "", settings)


@pytest.mark.parametrize(("levels", "expected"), [(2_046, ()), (2_047, ("deep",))])
def test_depth_at_which_the_parser_stops(levels: int, expected: tuple[str, ...]) -> None:
    """A page is flagged where text is lost, and not before; the text behind is lost as well."""
    page = parsed(b"<p>top</p>" + b"<div>" * levels + b"<!-- -->" + b"</div>" * levels + b"<p>after</p>")

    assert expected == page.flags
    assert page.blocks.text == ("top" if expected else "top\nafter")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (b"<frameset><frame src=a><noframes><body><p>one</p><p>two</p></body></noframes></frameset>", "one\ntwo"),
        (b"<frameset><frameset><frame src=a></frameset><NOFRAMES>one</NOFRAMES></frameset>", "one"),
        (b"<body><p>one</p><noframes><p>This page has frames.</p></noframes></body>", "one"),
        (b"<body><p>one</p><noembed><p>This page has music.</p></noembed></body>", "one"),
    ],
    ids=["of a page of frames", "of frames in frames", "beside other text", "noembed"],
)
def test_text_for_readers_without_frames(html: bytes, expected: str) -> None:
    """Text in <noframes> is read where a page has no other, without its tags; that in <noembed> is not."""
    assert expected == parsed(html).blocks.text


@pytest.mark.parametrize(
    "html",
    [
        b"<p>one</p><style type='text/css' />p { margin: 0 }</style><p>two</p>",
        b"<p>one</p><SCRIPT />if (a<b) var a = 1;</SCRIPT><p>two</p>",
        b"<p>one</p><script src=a /><p>two</p><script src=b></script>",
        b"<p>one</p><script src=a /><style /><p>two</p>",
    ],
    ids=["style", "script", "meant, before another", "meant, before none"],
)
def test_slash_at_the_end_of_a_script(html: bytes) -> None:
    """The content of a script or style whose start tag ends in a slash is no text, and text behind an empty one is."""
    assert parsed(html).blocks.text == "one\ntwo"


def test_many_empty_scripts_take_no_square_of_time() -> None:
    """The search for an end tag stops at the next start tag."""
    html = b"<p>one</p>" + b"<script /><style />" * 20_000 + b"<script " * 20_000

    assert parse_tree(html).findtext("body/p") == "one"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<html><head><title>Our house<body><p>one</p></html>", "Our house"),
        ("<TITLE class=t>Our house<title></head><body><p>one</p>", "Our house"),
        ("<title>Our &lt;house></title><p>one", "Our <house>"),
    ],
)
def test_a_title_that_never_ends_ends_before_the_next_tag(html: str, expected: str) -> None:
    """It would be all of the page."""
    page = parsed(html)

    assert (expected, "one") == (page.declared.title, page.blocks.text)


def test_a_title_among_the_text_is_read_as_browsers_read_it() -> None:
    """Up to its end, if it has one."""
    assert "one\ntwo <b>three" == parsed(b"<p>one</p><title>two <b>three").blocks.text


def test_attributes_behind_a_title_that_never_ends_are_counted() -> None:
    """They are attributes once the title has an end."""
    settings = config("page.max_attributes=3", "page.trusted_bytes=20").page

    with pytest.raises(PageError, match="<p> has 4 attributes"):
        parse(b"<title>Our house<p a b c d>words of it</p>", "", settings)
