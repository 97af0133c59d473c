"""Pages that libxml2 reads otherwise than browsers do: no word of them is lost."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.html.dom import PageError, parse_tree
from dbce_spark.html.elements import DROPPED_TAGS
from dbce_spark.html.structure.kept_text import text_nodes
from tests.support.builders import parsed

UNREAD = DROPPED_TAGS | {"title"}
PARTS = (
    "<html> </html> <head> </head> <body> </body> <meta> <title>t</title> <script>s</script> <!--c--> <unknown>"
    " </unknown> <bgsound> <div> </div> <p> </p> <b> </b> <a> </a> <table> <tr> <td> </table> <ul> <li> </ul> <br>"
).split()
HTML = st.lists(st.sampled_from(PARTS) | st.integers(0, 99).map(" w{} ".format), max_size=14).map("".join)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<html><body><p>one</p></body></html><p>two</p>", ["one", "two"]),
        ("<html><body><p>one</p></body></html> two </html><div>three</div>", ["one", "two", "three"]),
        ("<html></html><html><head><title>A title</title></head><body>one</body></html>", ["one"]),
        ("<html><body>one</body></html><p>\x0btwo</p>", ["one", "two"]),
        ("<meta name=a><html><head><bgsound src=b></head><body>one</body></html>", ["one"]),
        ("<html><head><unknown>one <b>two</b></unknown></head><body>three</body></html>", ["one two", "three"]),
        ("<html><head><unknown><script>var a</script></unknown></head><body>one</body></html>", ["one"]),
        ("<html><frameset><frame src=a></frameset></html><noframes>one</noframes>", ["one"]),
    ],
)
def test_what_stands_outside_of_the_body_is_read(html: str, expected: list[str]) -> None:
    """It stands behind </html>, or in the head behind an element that is none."""
    assert expected == parsed(html).blocks.text.split("\n")


@given(HTML)
def test_no_word_is_lost_that_a_browser_shows(html: str) -> None:
    """The words are at least those of a parser that follows the standard."""
    try:
        ours = Counter(" ".join(text for *_, text in text_nodes(parse_tree(html.encode()))).split())
    except PageError:
        ours = Counter()
    shown = Counter(" ".join(texts_of_turbohtml(turbohtml.parse(html))).split())

    assert Counter() == shown - ours


def texts_of_turbohtml(node: Any) -> Iterator[str]:
    for child in node.children:
        if isinstance(child, turbohtml.Text):
            yield child.text
        elif isinstance(child, turbohtml.Element) and child.tag not in UNREAD:
            yield from texts_of_turbohtml(child)
