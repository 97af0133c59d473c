"""Texts of elements as a page shows them."""

import pytest
from lxml import html as lxml_html

from dbce_spark.html.shown_text import shown_lines, shown_text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>Harbour<br>opens</h1>", "Harbour opens"),
        ("<h1><div>Harbour</div>opens</h1>", "Harbour opens"),
        ("<h1><a>Grateful Dead</a><span>Grateful Dead Live</span></h1>", "Grateful Dead Grateful Dead Live"),
        ("<h1><a><b>Ann Lee</b></a><i><b>Home</b></i></h1>", "Ann Lee Home"),
        ("<h1><a><b>Room</b></a>12</h1>", "Room12"),
        ("<h1>H<sub>2</sub>O and <b>h</b>arbours</h1>", "H2O and harbours"),
        ("<h1>Har<wbr>Bour</h1>", "HarBour"),
        ("<h1><svg><title>News</title></svg>News</h1>", "News"),
        ("<h1><style>.a{color:red}</style>The <script>x()</script>harbour\n opens</h1>", "The harbour opens"),
        ("<h1>Harbour</h1>opens", "Harbour"),
    ],
)
def test_text_is_read_as_it_is_shown(html: str, expected: str) -> None:
    """Words are apart where blocks, line breaks and a style sheet part them, and what is not shown is left out."""
    assert expected == shown_text(lxml_html.fragment_fromstring(html, create_parent="div")[0])


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>by Ann\nLee</p>", "by Ann Lee"),
        ("<p>Ann Lee<br>Editor</p>", "Ann Lee\nEditor"),
        ("<p><a>Ann Lee</a><span>Editor</span></p>", "Ann Lee\nEditor"),
        ("<p><a>Ann Lee</a> <span>Editor</span></p>", "Ann Lee Editor"),
        ("<p><a>Ann Lee</a> on May 3, 2014 for <b>us</b></p>", "Ann Lee\non May 3, 2014 for\nus"),
        ("<p><script>by</script>Ann Lee</p>", "Ann Lee"),
        ("<p>Ann Lee <time>Saturday</time></p>", "Ann Lee"),
    ],
)
def test_lines_part_a_name_from_what_stands_beside_it(html: str, expected: str) -> None:
    """Elements that touch have lines of their own, and so has text with a number; a time has none."""
    assert expected == shown_lines(lxml_html.fragment_fromstring(html))


def test_no_more_than_the_start_of_a_text_is_read() -> None:
    """Of one long text node, of many, and of elements without text."""
    long, many, empty = (lxml_html.fragment_fromstring(f"<p>{inner}</p>") for inner in (
        "word " * 100_000, "<b>word </b>" * 10_000, "<i></i>" * 10_000 + "word",
    ))  # fmt: skip

    assert (2_000, "") == (len(f"{shown_text(long)} "), shown_text(empty))
    assert len(shown_text(many)) < 2_000
