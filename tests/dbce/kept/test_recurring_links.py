"""Links behind a text that recur with the same few words are no content."""

import pytest

from dbce_spark.dbce.kept.recurring_links import recurring_links
from tests.support.builders import parsed

LONG = "a link that goes on for more than thirty characters"


def kept(html: str) -> list[str]:
    """List the texts of the blocks that stay, of all of a page."""
    blocks = parsed(html).blocks
    found = recurring_links(blocks)
    return [text for at, text in enumerate(blocks.text.split("\n")) if at not in found]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("<li>News of {0} <a href=/{0}>(more)</a>", ["News of {0}"]),
        ("<h2>Chapter {0}<a href=#{0}>\u00b6</a></h2>", ["Chapter {0}"]),
        ("<li>News by <a href=/ann>Ann</a>", ["News by Ann"]),
        ("<li>News of {0} <a href=/{0}>page 2</a>", ["News of {0} page 2"]),
        ("<li><a href=/{0}>Agenda</a>", ["Agenda"]),
        ("<li>News<br><br><a href=/{0}>" + LONG + "</a>", ["News", LONG]),
        ("<li>News<br><br>more", ["News", "more"]),
    ],
)
def test_recurring_links_go_and_others_stay(line: str, expected: list[str]) -> None:
    """A name that leads to one page stays, a number, a link that is all of its element or long, and what is no link."""
    html = "".join(line.format(day) for day in "abcd")

    assert [text.format(day) for day in "abcd" for text in expected] == kept(html)


def test_two_links_do_not_recur() -> None:
    """They recur by chance."""
    assert ["News of a", "more", "News of b", "more"] == kept(
        "".join(f"<li>News of {day}<br><br><a href=/{day}>more</a>" for day in "ab")
    )
