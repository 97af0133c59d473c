"""Elements that show nothing of their own."""

import pytest

from tests.support.structure import html_of, markdown_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<strong>,</strong> b", "a, b"),
        ("<p><b>a</b><i>.</i> b", "**a**. b"),
        ("<p><a href=x>a</a><b>,</b> b", "[a](http://a.example/b/x), b"),
        ("<p>a<b><i>:</i></b> b", "a: b"),
        ("<p>1<b>.</b> a", r"1\. a"),
        ("<p>a<b>!</b><img src=x>", "a!![](http://a.example/b/x)"),
        ("<p><b>a<br>.</b>b", "**a**  \n.b"),
        ("<p>a <b>+</b> b<br><b>*</b>", "a **+** b  \n**\\***"),
        ("<p>a<b>1</b> b<i>(c)</i>", "a**1** b<i>(c)</i>"),
    ],
    ids=["word", "emphasis", "link", "twice", "number", "picture", "line", "alone", "letters"],
)
def test_emphasis_of_signs_that_touch_something_is_plain(html: str, expected: str) -> None:
    """A sign for itself may be a button."""
    assert expected == markdown_of(html)


@pytest.mark.parametrize(
    "html",
    [
        "<p>a</p><h2>\u2060</h2>",
        "<p>a <a href=x>\u2060</a>",
        "<p>a <b>\u200d</b>",
        "<p>a <a href=x><b>\u2060</b></a>",
        "<p>a <b>b<br>\u2060</b>",
    ],
)
def test_what_nobody_sees_is_no_heading_link_or_emphasis(html: str) -> None:
    """Joiners and marks of direction alone."""
    written = markdown_of(html)

    assert [] == [sign for sign in ("#", "[", "**\u2060", "<") if sign in written]


def test_an_invisible_character_beside_others_changes_nothing() -> None:
    """Nor does one in a link with a picture."""
    html = "<h2>a\u2060</h2><p><a href=x>\u2060<img src=y></a></p>"

    assert '<h2>a\u2060</h2><p><a href="http://a.example/b/x">\u2060<img' in html_of(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<b><img src=a.png></b>", "![](http://a.example/b/a.png)"),
        ("<i><b><img src=a.png alt=x></b></i>", "![x](http://a.example/b/a.png)"),
        ("<b><a href=c><img src=a.png></a></b>", "[![](http://a.example/b/a.png)](http://a.example/b/c)"),
        ("<b><img src=a.png> c</b>", "**![](http://a.example/b/a.png) c**"),
        ("<b><a href=c><img src=a.png>c</a></b>", "**[![](http://a.example/b/a.png)c](http://a.example/b/c)**"),
    ],
    ids=["image", "twice", "link", "with a word", "with a word in a link"],
)
def test_emphasis_of_images_alone_shows_nothing(html: str, expected: str) -> None:
    """A picture is not bold."""
    assert f"a {expected} b" == markdown_of(f"<p>a {html} b")
