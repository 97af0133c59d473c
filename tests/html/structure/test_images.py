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
        ("<img src=a.png alt=A> <img src=a.png alt=A>", ["a", "a"]),
        (
            "<figure><img src=x.png><noscript><img src=a.png></noscript> <img src=x.png>"
            "<noscript><img src=b.png></noscript></figure>",
            ["a", "b"],
        ),
    ],
    ids=["empty one", "alone", "stand-in", "two sizes", "two", "undescribed", "in a text", "gallery"],
)
def test_an_image_is_there_once(html: str, expected: list[str]) -> None:
    """Images that may be different ones all stay."""
    assert expected == re.findall(r"/(\w)\.png", html_of(f"<p>one</p>{html}<p>two</p>"))
