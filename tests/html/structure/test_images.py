"""Images, each once."""

import re

import pytest

from tests.support.structure import html_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<img src=e.png><noscript><img src=l.png></noscript>", ["l"]),
        ("<noscript><img src=l.png></noscript>", ["l"]),
        ("<figure><div><img src=s.png></div><img><noscript><img src=l.png></noscript></figure>", ["l"]),
        ("<figure><img src=l.png alt=A><div><img src=s.png alt=A></div></figure>", ["l"]),
        ("<figure><img src=a.png alt=A><img src=b.png alt=B></figure>", ["a", "b"]),
        ("<figure><img src=a.png><img src=b.png></figure>", ["a", "b"]),
        ("<img src=a.png alt=A> <img src=b.png alt=A>", ["a", "b"]),
        ("<picture><img src=l.png></picture><noscript><picture><img src=l.png></picture></noscript>", ["l"]),
        ("<div><img src=l.png alt=A></div><noscript><img src=l.png alt=A></noscript>", ["l"]),
        ("<noscript><img src=l.png></noscript><div><img data-src=l.png></div>", ["l"]),
        (
            "<figure><img src=x.png><noscript><img src=a.png></noscript> <img src=x.png>"
            "<noscript><img src=b.png></noscript></figure>",
            ["a", "b"],
        ),
        ("<noscript><noscript><img src=l.png></noscript></noscript>", ["l"]),
        (
            "<figure><noscript><img src=a.png alt=A></noscript>"
            "<figure><noscript><img src=b.png alt=A></noscript></figure></figure>",
            ["a", "b"],
        ),
    ],
    ids=[
        *("empty one", "alone", "stand-in", "two sizes", "two", "undescribed", "in a text"),
        *("of a picture", "of a block", "before a lazy one", "gallery"),
        *("for readers without scripts twice", "figure in a figure"),
    ],
)
def test_an_image_is_there_once(html: str, expected: list[str]) -> None:
    """Images that may be different ones all stay."""
    assert expected == re.findall(r"/(\w)\.png", html_of(f"<p>one</p>{html}<p>two</p>"))


@pytest.mark.parametrize(
    "html",
    [
        "<amp-img src=l.png width=16 height=9 layout=responsive></amp-img>",
        "<amp-img src=l.png><noscript><img src=l.png></noscript><amp-img fallback src=s.png></amp-img></amp-img>",
        "<figure><amp-img src=l.png><div fallback>offline</div></amp-img></figure>",
    ],
    ids=["proportion", "with others for failures", "with text"],
)
def test_an_image_of_amp_is_one(html: str) -> None:
    """Its script makes it one; a text in it stays."""
    written = html_of(f"<p>one</p>{html}<p>two</p>")

    assert ["l"] == re.findall(r"/(\w)\.png", written)
    assert ("offline" in html) == ("offline" in written)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><img src=a.png> a</p>" * 3, 1),
        ("<p><img src=a.png> a</p>" * 2, 2),
        ("<p><img src=a.png alt=A> a</p>" * 3, 3),
        ("<table>" + "<tr><th>a<td><img src=a.png><td>b" * 3 + "<tr><th>a<td><td>b</table>", 3),
        ("<table><tr><td><td>A<td>B" + "<tr><th>a<td><img src=a.png><td>b" * 3 + "</table>", 3),
        ("<table>" + "<tr><td><img src=a.png><td>b" * 3 + "<tr><td><td><tr><td colspan=2>c</table>", 1),
        ("<table>" + "<tr><td>b<td><a href=x><img src=a.png></a>" * 3 + "</table>", 1),
        ("<p><img src=x.gif data-src=a.png> <img src=x.gif data-src=b.png> <img src=x.gif data-src=c.png></p>", 3),
        ("<p>a <img src=a.png alt='3 of 5'> <img src=a.png alt='3 of 5'><img src=a.png alt='3 of 5'></p>", 1),
        ("<p>a <img src=a.png alt='3 of 5'><img src=a.png alt=''> <img src=a.png></p>", 1),
        ("<p><img src=a.png alt=1><img src=a.png alt=2></p>", 2),
        ("<p><a href=x><img src=a.png></a><a href=y><img src=a.png></a></p>", 2),
        ("<div><img src=a.png alt=tick></div><div><img src=a.png alt=tick></div>", 2),
        ("<div><img src=a.png alt=A></div><div><img src=a.png></div>", 1),
        ("<p><img src=a.png alt=A> a <img src=a.png alt=A></p>", 2),
        ("<p><img src=a.png alt=A></p><pre>a</pre><p><img src=a.png></p>", 2),
        ("<p><img src=a.png alt=A></p><hr><p><img src=a.png></p>", 2),
        ("<p>a <img src=a.png style='width: 16px; height:16px'></p>", 0),
        ("<p>a <img src=a.png style='max-width: 16px; width: 160px'></p>", 1),
    ],
    ids=[
        *("bullets", "twice", "described", "ticks", "ticks below a heading", "bullets in cells", "buttons in cells"),
        *("lazy", "stars", "stars of which one is described"),
        *("with two descriptions", "with two links", "ticks in blocks", "described once", "in a text"),
        *("with code between", "with a rule between", "small by style", "large by style"),
    ],
)
def test_ornaments_are_shown_once_or_not(html: str, expected: int) -> None:
    """Once, if they are shown again and again without a description, or right behind each other; not, if they are
    small."""
    assert expected == html_of(f"<p>one</p>{html}<p>two</p>").count("<img")


def test_an_image_that_only_has_another_size_in_its_name_is_the_same() -> None:
    """In one figure."""
    figure = (
        "<figure><img src=a-large.webp><img src=a-300x200.jpg><img src=a-small.webp><img src=b-small.webp></figure>"
    )

    assert ["a-large.webp", "b-small.webp"] == re.findall(r"/(\w-[\w.]+)\"", html_of(f"<p>one</p>{figure}<p>two</p>"))


@pytest.mark.parametrize(
    ("image", "count"),
    [
        ("<a href='javascript:buy()'><img src=cart.gif></a>", 0),
        ("<a href=' JavaScript:void(0)'><b><img src=print.PNG?v=2 height=40 alt=Print></b></a>", 0),
        ("<a href='javascript:open()'><img src=photo.jpg></a>", 1),
        ("<a href='javascript:open()'><img src=blank.gif data-src=photo.jpg></a>", 1),
        ("<a href='javascript:open()'><img src=map.png height=65></a>", 1),
        ("<figure><a href='javascript:open()'><img src=map.png></a></figure>", 1),
        ("<a href='cart.html'><img src=cart.gif></a>", 1),
        ("<img src=cart.gif>", 1),
        ("<img src=i/spacer.gif>", 0),
        ("<img src=Blank.png?1>", 0),
        ("<img src=loading.svg alt='A blue chair'>", 1),
        ("<img src=loading-dock.jpg>", 1),
        ("<img src=spacer.gif data-src=photo.jpg>", 1),
    ],
)
def test_a_control_or_nothing_is_no_image(image: str, count: int) -> None:
    """A small drawing in a link to a script is a control; photos open there. What is called a spacer shows nothing."""
    assert count == html_of(f"<p>one {image} two</p>").count("<img")
