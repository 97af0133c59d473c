"""The walk over a page: where words and blocks end, and the shape of the tree around them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from dbce_spark.html.dom import parse_tree
from dbce_spark.html.elements import CODE_TAGS
from dbce_spark.html.tokens import hashed, tokens
from tests.support.builders import body, parsed
from tests.support.strategies import documents


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<b>bold</b>ness", "boldness"),
        ("un<em>believ</em>able", "unbelievable"),
        ("<a>one</a> <a>two</a>", "one two"),
        ("a<span> b </span>c", "a b c"),
        ("<my-tag>cus</my-tag>tom", "custom"),
        ("com<!-- no -->ment", "comment"),
        ("scr<script>x</script>ipt", "script"),
        ("x<sub>2</sub>", "x2"),
        ("&nbsp;non&nbsp;breaking&nbsp;", "non breaking"),
    ],
)
def test_inline_elements_do_not_cut_words(html: str, expected: str) -> None:
    """A word that an inline element, a comment or a script runs through stays one word."""
    actual = body(f"<p>{html}</p>")

    assert [expected] == actual


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a>Ann Lee</a><a>Home</a>", "Ann Lee Home"),
        ("<span><b>137</b></span><i></i><span><a>9426</a></span>", "137 9426"),
        ("<b>By:</b><script>1</script><a>Ann</a>", "By: Ann"),
        ("See details<span>Shipping</span>", "See details Shipping"),
        ("<cite>Ann</cite>Wrote <code>get</code>Value", "Ann Wrote get Value"),
        ("<b>Rating:</b>Good<b>2</b>", "Rating: Good2"),
        ("i<b>Phone</b> over<i>lap</i> CO<span>2</span>", "iPhone overlap CO2"),
        ("get<wbr>Element<wbr>By<wbr>Id", "getElementById"),
        ("Brand<sup>TM</sup>", "BrandTM"),
        ("<b>km</b><sup>2</sup><b>Area</b>", "km2Area"),
        ("<pre><b>Foo</b><b>Bar</b>Baz</pre>", "FooBarBaz"),
        ("over<b> </b>lap", "over lap"),
        ("<a href=r>rye bread</a><a href=w>wheat bread</a>", "rye bread wheat bread"),
        (
            "<a href=n>新聞</a><b><a href=s>音樂</a></b><i></i><a href=h>हिन्दी</a><a href=m>मराठी</a>",
            "新聞 音樂 हिन्दी मराठी",
        ),
        ("<a>Log in</a><a href=r>register</a>", "Log in register"),
        ("<a href=p>P</a><a href=p>acking</a> <a href=a>t</a><a href=b>he</a>", "Packing the"),
        ("<a href=1>[1]</a><a href=2>[2]</a> f(x)<a href=#f>¶</a>", "[1][2] f(x)¶"),
        ("10<sup><a href=1>2</a></sup><sup><a href=2>3</a></sup> <a href=b>5</a>th", "1023 5th"),
        ("<b>1</b><a href=2>2</a><a href=3>3</a><b>4</b>", "1 2 3 4"),
        ("<pre><a href=1>one</a><a href=2>two</a></pre>", "onetwo"),
    ],
)
def test_elements_that_touch_are_words_apart(html: str, expected: str) -> None:
    """A space parts them where a new word begins in the second, as in two links to different places; not at raised
    signs, and not in <pre>."""
    actual = parsed(html).blocks.text

    assert expected == actual


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<input type=radio>small<input type=radio>large", "small large"),
        ("<label><input>red</label><label><input>blue</label>", "red blue"),
        ("from<select><option>here</select>to<textarea>there</textarea>.", "from to ."),
        ("un<input type=Hidden>seen <pre>co<input>de</pre>", "unseen\ncode"),
    ],
)
def test_form_controls_stand_between_words(html: str, expected: str) -> None:
    """If they are shown, and not in <pre>."""
    assert expected == parsed(html).blocks.text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<button>save</button><button>share it</button>", "save share it"),
        ("see<button>more</button>here", "see more here"),
        ("the ship<img src=a.jpg>sails", "the ship sails"),
        ("<a href=x>one<img></a><a href=x>two</a>", "one two"),
        ("n<img alt=e src=e.gif>e, then<img>, at <img>last<button></button>", "ne, then, at last"),
        ("<pre>co<img>de</pre>", "code"),
    ],
    ids=["buttons", "button", "image", "in a link", "part of a word", "code"],
)
def test_images_and_buttons_stand_between_words(html: str, expected: str) -> None:
    """If letters or digits touch them on both sides."""
    assert expected == parsed(html).blocks.text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("one<br>two", ["one\ntwo"]),
        ("one \n <br> \n two", ["one\ntwo"]),
        ("one<br><br>two", ["one", "two"]),
        ("one<br>\n <br>two", ["one", "two"]),
        ("one<br><br><br>two", ["one", "two"]),
        ("one<br>two<br>three", ["one\ntwo\nthree"]),
        ("<br><br>one", ["one"]),
        ("<b>one<br></b><br>two", ["one", "two"]),
        ("one<br>", ["one"]),
        ("one <b>x</b>\n<br>two", ["one x\ntwo"]),
        ("<span>one<br></span>two <b><br>three</b>", ["one\ntwo\nthree"]),
        ("one <sup></sup><br><sup> </sup>", ["one"]),
    ],
)
def test_line_breaks(html: str, expected: list[str]) -> None:
    """One line break ends a line, two in a row end a paragraph."""
    actual = body(f"<p>{html}</p>")

    assert expected == actual


@pytest.mark.parametrize("tag", CODE_TAGS)
def test_pre_keeps_its_lines(tag: str) -> None:
    """In <pre>, and what browsers show in the same way, white space is text; around it it is not."""
    expected = "two three\ndef f():\n    return  1"
    actual = parsed(f"<p>two\n  three</p><{tag}>\ndef f():\n    return  1\n").blocks.text

    assert expected == actual


def test_line_breaks_in_pre_are_lines() -> None:
    """<br> in <pre> is a line's end."""
    assert body("<pre>a<br>  b</pre>") == ["a\n  b"]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div>def f():</div><div>  <b>return</b> 1</div>", ["def f():", "  return 1"]),
        ("\n  <code><b>a</b>\n  b</code>", ["  a\n  b"]),
        (" \n\n <b> </b>a\n \n", ["  a"]),
        ("<i style='display:block'>a = 1</i><i style='display: flex'> <b>b</b></i>c", ["a = 1\n b\nc"]),
        ("<i style='display:block'><b>a</b></i>b<i style='display:block'>c</i>", ["a\nb\nc"]),
        ("<i style='display:block'>a\n</i><i style='display:block'>b</i>", ["a\nb"]),
        ("<i style='display:inline-block'>a</i><i>b</i>", ["ab"]),
        ("a<br><i style='display:block'>b</i><br><i style='display:block'>c</i>", ["a\nb\n\nc"]),
    ],
)
def test_code_keeps_its_indentation(html: str, expected: list[str]) -> None:
    """White space that an element begins with is text in <pre>, and what its style shows as a block is a line there."""
    assert expected == body(f"<pre>{html}</pre>")


def test_white_space_behind_code_is_none() -> None:
    """Behind <pre> a text begins with its first word, and styles are not looked at."""
    html = "<pre><pre> a</pre> b</pre> <i> c</i><i style='display:block'>d</i>"

    assert [" a", " b", "cd"] == body(html)


def test_empty_blocks_are_none() -> None:
    """A block has at least one word."""
    assert body("<p></p><p> &nbsp; </p><div><span> </span></div><p>x</p>") == ["x"]


def test_words_and_links_are_counted() -> None:
    """Words of a block, and those of them that stand in a link, however deep in it."""
    blocks = parsed("<p>a b <a href=x>c <b>d e</b></a> f</p><p><a>日本</a>x</p><p>z</p>").blocks

    assert ([6, 3, 1], [3, 2, 0]) == (blocks.words.tolist(), blocks.link_words.tolist())


def test_tree_knows_its_parents_and_paths() -> None:
    """The tree lists elements in document order, and each distinct tag path once."""
    tree = parsed("<html><body><ul><li>a</li><li>b</li></ul><script>x</script></body></html>").tree

    assert ([-1, 0, 1, 2, 2], [0, 1, 2, 3, 3]) == (tree.parents, tree.paths)
    assert tree.path_names == ["html", "html/body", "html/body/ul", "html/body/ul/li"]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div>a</div><div>b</div>", ["/html[1]/body[1]/div[1]", "/html[1]/body[1]/div[2]"]),
        ("<p>a <b>b</b></p>", ["/html[1]/body[1]/p[1]"]),
        ("<i><div>a</div></i>b", ["/html[1]/body[1]/i[1]/div[1]", "/html[1]/body[1]"]),
        ("<script>x</script><div>a</div>", ["/html[1]/body[1]/div[1]"]),
        ("<o:p><div>a</div></o:p>", ['/html[1]/body[1]/*[name()="o:p"][1]/div[1]']),
    ],
)
def test_xpaths(html: str, expected: list[str]) -> None:
    """A block's path leads to its innermost block-level element, every step with its index."""
    actual = parsed(f"<html><head></head><body>{html}</body></html>").blocks.xpaths

    assert expected == actual


@given(documents)
def test_spans_index_the_page_text(html: str) -> None:
    """Blocks are spans of the page text, in order, with white space alone between them, and none is blank."""
    blocks = parsed(html).blocks
    spans = list(zip(blocks.starts.tolist(), blocks.ends.tolist(), strict=True))

    assert (0, len(blocks.text)) == (spans[0][0], spans[-1][1])
    assert all(blocks.text[before[1] : after[0]].isspace() for before, after in pairwise(spans))
    assert all(blocks.text[start:end].strip() for start, end in spans)


@given(documents)
def test_tokens_are_the_words_of_the_blocks(html: str) -> None:
    """The token column holds the hashes of the words of each block's span, and `words` sums to its length."""
    blocks = parsed(html).blocks
    words = [tokens(blocks.text[start:end]) for start, end in zip(blocks.starts, blocks.ends, strict=True)]

    assert blocks.words.tolist() == [len(some) for some in words]
    assert np.array_equal(blocks.tokens, hashed(blocks.text)[1])
    assert all(0 <= links <= count for links, count in zip(blocks.link_words, blocks.words, strict=True))


@given(documents)
def test_xpaths_select_their_element(html: str) -> None:
    """Each block's path selects one element of the parsed page, and the block's characters stand in it."""
    blocks = parsed(html).blocks
    root = parse_tree(html.encode())
    for xpath, start, end in zip(blocks.xpaths, blocks.starts, blocks.ends, strict=True):
        (element,) = root.xpath(xpath)
        visible = "".join("".join(element.itertext()).split())

        assert "".join(blocks.text[start:end].split())[:1] in visible


def test_slots_are_told_apart_by_attributes() -> None:
    """Elements of one tag are one slot where their attributes are the same; inline ones always are."""
    html = (
        "<p class=a>x</p><p class=a>y</p><p id=b>z</p><p role=note itemprop=c itemtype=d><b class=e>u</b><b>v</b></p>"
    )
    tree = parsed(f"<html><body>{html}</body></html>").tree

    assert [0, 1, 2, 2, 3, 4, 5, 5] == tree.slots
    assert ["html", "body", ("p", "a"), ("p", None, "b", None, None, None)] == tree.slot_names[:4]
    assert [("p", None, None, "note", "c", "d"), "b"] == tree.slot_names[4:]
    assert [-1, 0, 1, 1, 1, 4] == tree.slot_parents
    assert [2, 2, 2, 3] == tree.slot_paths[2:]


def test_places_of_controls_and_links() -> None:
    """The block that each stands before, or in."""
    html = (
        "<p>a</p><input><p>b <a rel='x NoFollow' href=/>c</a><a href='#'>d</a></p><textarea></textarea>"
        "<p><a href='/x#y'>e</a></p><select><option>f</select>"
    )
    tree = parsed(html).tree

    assert ([1, 2, 3], [2]) == (tree.control_blocks, tree.text_area_blocks)
    assert ([1], [2]) == (tree.foreign_link_blocks, tree.place_link_blocks)


@given(documents)
def test_tokens_start_where_they_stand(html: str) -> None:
    """Each token is found in the page text where it is said to start."""
    page = parsed(html)
    text, words = page.blocks.text, tokens(page.blocks.text)

    assert len(words) == len(page.token_starts)
    assert all(text.startswith(word, start) for word, start in zip(words, page.token_starts.tolist(), strict=True))


@given(documents)
def test_blocks_know_their_holders(html: str) -> None:
    """The element a block's path ends at, and which of its kind that is."""
    page = parsed(html)
    tree = page.tree
    for holder, nth, xpath in zip(tree.holders, tree.nths, page.blocks.xpaths, strict=True):
        assert f"[{nth}]" == xpath[xpath.rindex("[") :]
        assert tree.path_names[tree.paths[holder]].count("/") + 1 == xpath.count("/")


@given(documents)
def test_tree_is_a_tree(html: str) -> None:
    """A parent comes before its children, and its path is theirs without the last step."""
    tree = parsed(html).tree
    for at, (parent, path) in enumerate(zip(tree.parents, tree.paths, strict=True)):
        assert parent < at
        above = tree.path_names[tree.paths[parent]] if parent >= 0 else ""
        assert above == tree.path_names[path].rpartition("/")[0]
