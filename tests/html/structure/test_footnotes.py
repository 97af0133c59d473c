"""Footnotes and the numbers that lead to them."""

import pytest

from tests.support.structure import html_of, markdown_of

NOTES = "<ol><li id=fn1>note one <a href=#r1>↩</a></li><li id=fn2>note two <a href=#r2>↩</a></li></ol>"


@pytest.mark.parametrize(
    "html",
    [
        f"<p>a<sup id=r1><a href=#fn1>1</a></sup> b<sup id=r2><a href=#fn2>[2]</a></sup></p>{NOTES}",
        "<p>a<sup>1</sup> b<sup>2</sup></p><p><sup>1</sup> note one</p><p><sup>2</sup> note two</p>",
        "<p>a<a name=r1 href=#n1>1</a> b<a name=r2 href=#n2>2</a></p>"
        "<p><a name=n1 href=#r1>1</a> note one</p><p><a name=n2 href=#r2>2</a> note two</p>",
        "<p>a<sup>1</sup> b<sup>2</sup></p><p><b>1.</b> note one</p><p><b>2.</b> note two</p>",
        "<p>a<a href=#n1>1</a> b<a href=#n2>2</a></p>"
        "<ol><li><span id=n1></span>note one</li><li><span id=n2></span>note two</li></ol>",
        "<p>a<a href=#n1>1</a> b<a href=#n2>[2]</a></p><p id=n1>1. note one</p><p id=n2>[2] note two</p>",
        "<p>a<a href=#n1>1</a> b<a href=#n2>2</a></p>"
        "<div><a id=n1>1.</a><div>note one</div></div><div><a id=n2>2.</a><div>note two</div></div>",
        "<p>a<label for=n1>1</label><input id=n1> b<label for=n2>2</label><input id=n2></p>"
        "<div><sup><a id=n1 href=#r1>1</a></sup> <p>note one</div>"
        "<div><sup><a id=n2 href=#r2>2</a></sup> note two</div>",
        "<p>a<sup>1</sup> b<sup>2</sup></p><ol><li id=note-1>note one<li id=note-2>note two</ol>",
        "<p>a<sup><a href='javascript:;'>1</a></sup> b<sup><a href='javascript:;'>2</a></sup></p>"
        "<div id=note-1><a href='javascript:;'>1</a>. note one</div><div id=note-2>2. note two</div>",
    ],
    ids=[
        *("linked list", "superscripts", "named anchors", "bold numbers", "empty targets"),
        *("numbers in the text", "numbered anchors", "labels", "list without links", "ids"),
    ],
)
def test_footnotes_are_marked_at_both_ends(html: str) -> None:
    """The links back to the text go."""
    assert "a[^1] b[^2]\n\n[^1]: note one\n\n[^2]: note two" == markdown_of(html)


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("<p id=n>1 First note.", "First note."),
        ("<p id=n>1&nbsp;First <i>note</i>.", "First *note*."),
        ("<div id=n><p>1</p><p>First note.</div>", "\n\n    First note."),
        ("<p id=n>10 first notes.", "10 first notes."),
        ("<p id=n>1st note.", "1st note."),
        ("<p id=n>1<i>st</i> note.", "1*st* note."),
        ("<ol><li id=n>1 Corinthians 13</ol>", "1 Corinthians 13"),
        ("<p id=n><sup>1</sup> 1 Corinthians 13", "1 Corinthians 13"),
    ],
    ids=[
        "space",
        "other space",
        "end of an element",
        "other number",
        "letters",
        "element",
        "in a numbered list",
        "behind it",
    ],
)
def test_a_note_that_begins_with_its_plain_number_shows_it_once(note: str, expected: str) -> None:
    """A number behind it is of the text; so is one in a numbered list, which shows those of its items itself."""
    assert f"a[^1]\n\n[^1]: {expected}" == markdown_of(f"<p>a<sup><a href=#n>1</a></sup></p>{note}")


def test_a_number_that_leads_to_a_section_is_a_link() -> None:
    """Tables of contents have such."""
    written = markdown_of("<p><a href=#s>1</a> b</p><div id=s><h2>c</h2><p>d e</p></div>")

    assert written.startswith("[1](http://a.example/b/c#s) b")


def test_superscripts_beside_a_list_of_other_things_are_no_footnotes() -> None:
    """Its ids do not count, or the blocks do not begin with their numbers."""
    written = markdown_of("<p>10<sup>2</sup></p><ol><li id=step-a>one<li id=step-b>two</ol>")

    assert "10<sup>2</sup>\n\n1. one\n2. two" == written
    assert "10<sup>2</sup>\n\none two" == markdown_of("<p>10<sup>2</sup></p><div id=part2>one two</div>")


def test_html_links_both_ends() -> None:
    """By ids of its own."""
    written = html_of(f"<p>a<sup><a href=#fn1>1</a></sup></p>{NOTES}")

    assert '<a class="footnote-ref" href="#fn1">1</a>' in written
    assert '<a class="footnote" id="fn1">1</a>note one' in written


@pytest.mark.parametrize(
    "back",
    [
        "<b>^</b> <a href=#r1><sup>a</sup></a> <a href=#r2><sup>b</sup></a>",
        "<span>^ <a href=#r1>a</a>, <a href=#r2>b</a></span>",
        "^ <a href=#r1>1.0</a> <a href=#r2>1.1</a>",
        "<p><a href=#r1>a</a> <a href=#r2>Back</a>",
    ],
)
def test_links_back_go_however_they_are_named(back: str) -> None:
    """With the sign before them; a link to another place stays."""
    text = "<p>a<sup><a href=#n id=r1>1</a></sup> b<sup id=r2><a href=#n>1</a></sup>"
    written = markdown_of(f"{text}<ol><li id=n>{back} Note <a href=#c>c</a>.</ol>")

    assert "a[^1] b[^1]\n\n[^1]: Note [c](http://a.example/b/c#c)." == written


def test_a_note_whose_number_has_signs_of_their_own_begins_with_its_text() -> None:
    """As those of Sphinx."""
    note = "<aside id=n><span><i>[</i><a href=#r>1</a><i>]</i></span><p>one two"

    assert "a[^1]\n\n[^1]: one two" == markdown_of(f"<p>a<a href=#n id=r>1</a><div>{note}")


def test_items_that_nothing_refers_to_stay_in_a_list() -> None:
    """With their numbers; the notes among them are none of it."""
    items = "".join(f"<li id=n{at}>note {at}" for at in (1, 2, 3, 4))
    written = markdown_of(f"<p>a<a href=#n1>1</a> b<a href=#n4>4</a></p><ol>{items}</ol>")

    assert "a[^1] b[^4]\n\n[^1]: note 1\n\n2. note 2\n3. note 3\n\n[^4]: note 4" == written


def test_a_cell_of_data_is_no_note() -> None:
    """No row of a table can begin one; a cell of a table that only lays out can."""
    note = "<tr><td id=n>1. note one<td>b</table>"

    assert "[^1]" not in markdown_of(f"<p>a<sup><a href=#n>1</a></sup></p><table><tr><th>c<th>d{note}")
    assert "[^1]: note one" in markdown_of(f"<p>a<sup><a href=#n>1</a></sup></p><table role=presentation>{note}")


def test_a_number_alone_that_is_not_the_first_counts_something() -> None:
    """Comments, as a rule."""
    html = "<p><a href=#c>87</a> comments</p><p id=c>first comment</p>"

    assert "[87](http://a.example/b/c#c) comments\n\nfirst comment" == markdown_of(html)
    assert "10<sup>2</sup>\n\n**2** two" == markdown_of("<p>10<sup>2</sup><p><b>2</b> two")


@pytest.mark.parametrize(
    "notes", ["<p id=n><sup>1</sup> First note.</p>", "<div><p id=n><sup>1</sup> First note.</p></div>"]
)
def test_the_rule_before_the_notes_goes(notes: str) -> None:
    """Not one within the text."""
    html = f"<p>a b</p><hr><p>text<sup><a href=#n>1</a></sup></p><hr>{notes}"

    assert "a b\n\n---\n\ntext[^1]\n\n[^1]: First note." == markdown_of(html)


def test_of_notes_in_each_other_the_innermost_counts() -> None:
    """The number that leads to all of them is a link."""
    html = "<p>a<a href=#n1>1</a> b<a href=#n2>2</a></p><div id=n1>notes <p id=n2>2. note two</p></div>"

    assert "a[1](http://a.example/b/c#n1) b[^2]\n\nnotes\n\n[^2]: note two" == markdown_of(html)


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("<p>Second.", "    Second."),
        ("<ul><li>x<li>y</ul>", "    - x\n    - y"),
        ("<pre>c\n\n  d</pre>", "    ```\n    c\n\n      d\n    ```"),
    ],
    ids=["paragraph", "list", "code"],
)
def test_all_blocks_of_a_note_are_in_it(rest: str, expected: str) -> None:
    """Indented behind its mark, as they would end it otherwise; what follows the note is not."""
    html = f"<p>a<a href=#n>1</a></p><ol><li id=n><p>First one.</p>{rest}</ol><p>b</p>"

    assert f"a[^1]\n\n[^1]: First one.\n\n{expected}\n\nb" == markdown_of(html)
    assert "<footnote" not in html_of(html.replace("<li", "<li lang=de"))


def test_notes_of_one_number_have_names_of_their_own() -> None:
    """As those of two posts on one page; readers would show one of them for both."""
    post = "<p>a<a id=r{0} href=#n{0}>1</a></p><ol><li id=n{0}>note {0}</ol>"
    html = post.format("x") + post.format("y")

    assert "a[^1]\n\n[^1]: note x\n\na[^2]\n\n[^2]: note y" == markdown_of(html)
    assert '<a class="footnote" id="fn2">1</a>note y' in html_of(html)


@pytest.mark.parametrize(
    ("mark", "name"),
    [
        ("<sup id=r><a href=#n><span>[</span>a<span>]</span></a></sup>", "a"),
        ("<sup><a id=r href=#n>b</a></sup>", "b"),
        ("<sup id=r><a href=#n>[note 1]</a></sup>", "note-1"),
        ("<a id=r href=#n>†</a>", "1"),
    ],
    ids=["letter in brackets", "raised letter", "word with a number", "sign"],
)
def test_letters_and_signs_mark_notes_that_lead_back(mark: str, name: str) -> None:
    """To their very place; HTML shows them as the page does."""
    html = f"<p>c{mark} d</p><ol><li id=n><b><a href=#r>^</a></b> <span>Note <a href=#x>x</a>.</span></ol>"

    assert f"c[^{name}] d\n\n[^{name}]: Note [x](http://a.example/b/c#x)." == markdown_of(html)
    assert f'id="fn{name}">' in html_of(html)


def test_a_link_to_the_top_is_no_mark() -> None:
    """Though a table of contents leads back to its paragraph."""
    written = markdown_of("<p id=top><a href=#s>One</a> two</p><p id=s>three <a href=#top>[top]</a></p>")

    assert "[^" not in written
