"""Items with a box to tick."""

import pytest

from tests.support.structure import html_of, markdown_of


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("<li><input type=checkbox checked> done<li><input type=checkbox> open", "- [x] done\n- [ ] open"),
        ("<li lang=de><label> <input type=CheckBox disabled>a</label>", "- [ ] a"),
        ("<li><p><input type=checkbox checked><b>a</b> b<p>c", "- [x] **a** b\n\n  c"),
        ("<li><input type=checkbox disabled>a<ul><li>b</ul>", "- [ ] a\n  - b"),
    ],
    ids=["plain", "in a label", "in a paragraph", "above a list"],
)
def test_an_item_that_begins_with_a_box_has_it_in_markdown(items: str, expected: str) -> None:
    """Ticked or not."""
    assert expected == markdown_of(f"<ul>{items}</ul>")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("<li>a <input type=checkbox checked> b", "- a b"),
        ("<li><input type=radio checked> a", "- a"),
        ("<li><input type=checkbox hidden> a", "- a"),
        ("<li box=ticked>a", "- a"),
        ("<li><input type=checkbox><label>a</label><ul><li>b</ul>", "- a\n  - b"),
        ("<li><input type=checkbox><pre>a</pre>", "- \n  ```\n  a\n  ```"),
        ("<li>[x] a", "- \\[x\\] a"),
    ],
    ids=["within a text", "choice", "hidden", "attribute", "opens a list", "code", "text"],
)
def test_other_items_have_no_box(items: str, expected: str) -> None:
    """Whatever they hold."""
    assert expected == markdown_of(f"<ul>{items}</ul>")


def test_items_with_a_box_are_plain_in_html() -> None:
    """A box there would be a form."""
    assert '<ul><li lang="de">a</li></ul>' == html_of("<ul><li lang=de><input type=checkbox> a</ul>")
