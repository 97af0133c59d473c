"""Elements: those that leave no word, and those that begin and end a block."""

import pytest

from tests.support.builders import body


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>alert(1)</script>",
        "<style>p { color: red }</style>",
        "<noscript>please enable</noscript>",
        "<iframe src=x>frames needed</iframe>",
        "<template><p>not yet</p></template>",
        "<input type=hidden value=secret>",
        "<textarea>draft</textarea>",
        "<select><option>Monday</option></select>",
        "<datalist><option>Monday</option></datalist>",
        "<object data=x>no plugin</object>",
        "<svg><text>drawn</text></svg>",
        "<canvas>no canvas</canvas>",
        "<video>no video</video>",
        "<audio>no audio</audio>",
        "<!-- a comment <p>with tags</p> -->",
        "<?php echo 1 ?>",
    ],
)
def test_what_no_reader_sees_is_out(hidden: str) -> None:
    """Scripts, styles, embedded things and the machinery of forms leave no word, and the text behind them stays."""
    expected = ["before after"]
    actual = body(f"<p>before {hidden} after</p>")

    assert expected == actual


@pytest.mark.parametrize("void", ["<embed src=x>", "<input>", "<img>", "<wbr>", "<param>", "<source>", "<keygen>"])
def test_element_without_content_swallows_nothing(void: str) -> None:
    """Behind an element that is never closed, because it holds nothing, the text goes on."""
    assert body(f"<p>one {void} two</p><div>{void}<p>three</p></div>") == ["one two", "three"]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>one</p><p>two</p>", ["one", "two"]),
        ("<div>one<p>two</p>three</div>", ["one", "two", "three"]),
        ("<ul><li>one<li>two</ul>", ["one", "two"]),
        ("<table><tr><td>one<td>two</table>", ["one", "two"]),
        ("one<hr>two", ["one", "two"]),
        ("<h1>one</h1>two", ["one", "two"]),
        ("<form>one<fieldset><legend>two</legend>three</fieldset></form>", ["one", "two", "three"]),
    ],
)
def test_block_level_elements_cut(html: str, expected: list[str]) -> None:
    """Text ends where a block-level element begins or ends."""
    actual = body(html)

    assert expected == actual
