"""Videos and sounds."""

from dataclasses import replace

import pytest

from tests.support.structure import ALL, html_of, markdown_of

VIDEO = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"


@pytest.mark.parametrize(
    ("html", "address"),
    [
        ("<iframe src=https://www.youtube.com/embed/dQw4w9WgXcQ?rel=0 allowfullscreen></iframe>", VIDEO),
        ("<iframe data-src=//www.youtube-nocookie.com/embed/dQw4w9WgXcQ allow='fullscreen'></iframe>", VIDEO),
        ("<object><param name=movie value=http://www.youtube.com/v/dQw4w9WgXcQ&fs=1><embed src=x></object>", VIDEO),
        ("<iframe src=//v.example/play/1(2) allowfullscreen>no frames</iframe>", "http://v.example/play/1(2)"),
        ("<iframe src=http://www.youtube.com/embed/dQw4w9WgXcQ width=300></iframe>", VIDEO),
        ("<iframe src=http://v.example/1 width=400px height=200></iframe>", "http://v.example/1"),
        ("<video src=v.mp4 controls loop>none</video>", "http://a.example/b/v.mp4"),
        ("<audio controls><source src=s.ogg></audio>", "http://a.example/b/s.ogg"),
    ],
    ids=["frame", "lazy", "Flash", "any player", "old frame", "large frame", "video", "sound"],
)
def test_a_player_is_its_address(html: str, address: str) -> None:
    """Written as an image is: without a word."""
    assert f"a\n\n![]({address})\n\nb" == markdown_of(f"<p>a {html} b</p>")
    assert f"a\n\n- ![]({address})\n- b" == markdown_of(f"<p>a</p><ul><li>{html}</li><li>b</li></ul>")


@pytest.mark.parametrize(
    "html",
    [
        "<iframe src=http://ads.example/></iframe>",
        "<iframe src=http://ads.example/ width=300 height=250></iframe>",
        "<iframe src=http://ads.example/ width=970 height=250></iframe>",
        "<iframe src=http://ads.example/ width=100% height=250></iframe>",
        "<video src=v.mp4 autoplay muted></video>",
        "<video src=v.mp4 loop></video>",
        "<object data=x.swf></object>",
        "<iframe allowfullscreen></iframe>",
        "<iframe src='javascript:x()' allowfullscreen></iframe>",
    ],
    ids=["frame", "advertisement", "strip", "any width", "background", "animation", "any film", "empty", "script"],
)
def test_other_frames_and_films_are_left_out(html: str) -> None:
    """As is what acts."""
    assert "a b" == markdown_of(f"<p>a {html} b</p>")


def test_players_stay_with_the_text_around_them() -> None:
    """As images do, and go where those do."""
    player = "<iframe src=http://v.example/ allowfullscreen></iframe>"

    assert "v.example" not in markdown_of(f"<nav>x {player}</nav><p>a b c</p>", without=["x"])
    assert "v.example" not in markdown_of(f"<p>a</p>{player}<p>b</p>", config=replace(ALL, images="drop"))


def test_html_links_to_what_is_played() -> None:
    """Without a word, too; nothing but images loads by itself."""
    assert '<p>a</p><p><a class="player" href="http://a.example/b/v.mp4"></a></p>' == html_of(
        "<p>a</p><video src=v.mp4>"
    )
