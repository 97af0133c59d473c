"""Characters that nobody sees, in the text of a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.html.invisible_characters import drop_invisible
from tests.support.builders import body


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("Donau&shy;dampf&#173;schiff&#xAD;\u00adfahrt &shyx", ["Donaudampfschifffahrt \u00adx"]),
        ("\ufeffone&#65279; &#xFEFF;two", ["one two"]),
        ("https://\u200bwww.example.&#8203;org", ["https://www.example.org"]),
        ("one \u200b two<p>&#x200B;</p><p>\ufeff \u00ad</p>", ["one two"]),
        ("\u0e44\u0e17\u0e22\u200b\u0e19\u0e35\u0e49\u200bx", ["\u0e44\u0e17\u0e22\u200b\u0e19\u0e35\u0e49\u200bx"]),
        ("x\u200b\u672c\u200b\u200by", ["x\u200b\u672c\u200by"]),
        ("a\u200cb\u200dc", ["a\u200cb\u200dc"]),
        ("one &#&shy;27; two", ["one two"]),
    ],
)
def test_invisible_characters_are_in_no_word(html: str, expected: list[str]) -> None:
    """Nor are they blocks; a space of no width stays where it parts words of scripts without spaces."""
    assert expected == body(f"<p>{html}")


def test_tags_keep_their_characters() -> None:
    """The name of a file may have a soft hyphen."""
    html = "<img src='Scherm\u00adafbeelding.png' alt='\ufeff'>a\u00ad\u00adb <i\u200b>\u00ad".encode()

    assert "<img src='Scherm\u00adafbeelding.png' alt='\ufeff'>ab <i\u200b>".encode() == drop_invisible(html)


@given(st.text("<>a\u0e01 \u00ad\u200b\ufeff"))
def test_nothing_else_is_dropped(text: str) -> None:
    """All other characters stay in their order."""
    visible = str.maketrans("", "", "\u00ad\u200b\ufeff")

    assert text.translate(visible) == drop_invisible(text.encode()).decode().translate(visible)
