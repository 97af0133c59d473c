"""The parse of a page: HTML that gives no tree, and what keeps a parser busy."""

import pytest

from dbce_spark.html.dom import PageError
from dbce_spark.html.page import parse
from tests.support.builders import config, parsed


@pytest.mark.parametrize("html", [b"", b"   ", b"<!-- only a comment -->", b"\0\0"], ids=repr)
def test_page_without_an_element(html: bytes) -> None:
    """HTML without an element is refused, not crashed on."""
    with pytest.raises(PageError):
        parsed(html)


def nested(tag: str, times: int) -> bytes:
    return f"<{tag}>".encode() * times


def test_attributes_of_a_long_page() -> None:
    """On a page that is not trusted for its length, attributes are counted on each tag, however short."""
    settings = config("page.max_attributes=3", "page.trusted_bytes=20").page

    assert parse(b"<p a b c>words of it</p>", "", settings).flags == ()
    with pytest.raises(PageError, match="<p> has 4 attributes"):
        parse(b"<p a b c d>words of it</p>", "", settings)


@pytest.mark.parametrize(("levels", "expected"), [(2_046, ()), (2_047, ("deep",))])
def test_depth_at_which_the_parser_stops(levels: int, expected: tuple[str, ...]) -> None:
    """A page is flagged where text is lost, and not before; the text behind is lost as well."""
    page = parsed(b"<p>top</p>" + nested("div", levels) + b"<!-- -->" + nested("/div", levels) + b"<p>after</p>")

    assert expected == page.flags
    assert page.blocks.text == ("top" if expected else "top\nafter")
