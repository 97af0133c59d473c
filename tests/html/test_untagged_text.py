"""Text without a tag, under the name of HTML."""

import pytest

from tests.support.builders import parsed
from tests.support.structure import markdown_of

README = "# Words\n\nCounts words:\n\n    words <file>\n"
CODE = "#include <stdio.h>\n\nint main() {\n  return a<b;\n}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (README, README.strip()),
        (CODE, CODE),
        ('{"a": 1,\r\n "b": [2]}\r\n', '{"a": 1,\n "b": [2]}'),
        ("de\t119\nvan\t71", "de\t119\nvan\t71"),
        ("Write to <ann@a.example> &amp; Bob", "Write to <ann@a.example> & Bob"),
    ],
)
def test_text_without_a_tag_keeps_its_lines(text: str, expected: str) -> None:
    """As code in <pre>, with the signs of what looks like tags."""
    page = parsed(text)

    assert (expected, ["/html[1]/body[1]/pre[1]"]) == (page.blocks.text, page.blocks.xpaths)
    assert f"```\n{expected}\n```" == markdown_of(text)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("one\ntwo<BR>three", "one two\nthree"),
        ("one\n<!-- two -->three", "one three"),
        ("<?xml version='1.0'?>\n<words>one\ntwo", "one two"),
        ("<word>one\ntwo</word>", "one two"),
        ("one two &amp; three\n", "one two & three"),
    ],
)
def test_html_is_read_as_html(html: str, expected: str) -> None:
    """If a tag, a comment or a declaration is in it; and so is a line alone, which loses nothing."""
    page = parsed(html)

    assert (expected, "/html[1]/body[1]") == (page.blocks.text, page.blocks.xpaths[0].removesuffix("/p[1]"))
