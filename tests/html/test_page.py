"""Pages: what is kept of them, and what they are flagged or refused for."""

import pytest

from dbce_spark.html.page import NoText, parse
from tests.support.builders import config, lines, parsed


def test_head_is_out() -> None:
    """The title is no block, but is kept, its white space folded."""
    page = parsed("<html><head><title> A\n title </title><meta name=d content=x></head><body><p>text</p></body></html>")

    assert ("A title", "text") == (page.declared.title, page.blocks.text)


def test_title_outside_the_head() -> None:
    """A title in the wrong place is a title."""
    assert parsed("<html><body><p>text</p><title>late</title></body></html>").declared.title == "late"


def test_page_without_title() -> None:
    """A page needs none."""
    assert parsed("<p>text</p>").declared.title == ""


def test_page_without_a_word() -> None:
    """A page of scripts and pictures has no text."""
    with pytest.raises(NoText):
        parsed("<html><head><title>T</title></head><body><script>x</script><img src=a></body></html>")


def test_page_that_is_no_html() -> None:
    """Text without a tag is a page of one block."""
    assert lines("just words") == ["just words"]


@pytest.mark.parametrize("tag", ["div", "span", "b"])
def test_deep_page_is_flagged(tag: str) -> None:
    """Ten thousand elements in each other crash nothing; what the parser drops of them is said."""
    page = parsed(f"<p>top</p>{f'<{tag}>' * 10_000}bottom{f'</{tag}>' * 10_000}")

    assert "deep" in page.flags
    assert page.blocks.text.startswith("top")


def test_page_of_common_depth_is_not_flagged() -> None:
    """A few hundred levels are nothing unusual."""
    page = parsed("<div>" * 500 + "bottom" + "</div>" * 500)

    assert ((), "bottom") == (page.flags, page.blocks.text)


def test_lossy_charset_is_flagged() -> None:
    """Replaced bytes are said."""
    assert parsed(b"<p>\x81\xff\xff</p>", "shift_jis").flags == ("charset_errors",)


def test_long_page_is_flagged() -> None:
    """A page over `page.max_tokens` is cut into blocks, and said to be long."""
    limit = config("page.max_tokens=3").page

    assert ((), ("too_many_tokens",)) == (
        parse(b"<p>a b c", "", limit).flags,
        parse(b"<p>a b c d", "", limit).flags,
    )
