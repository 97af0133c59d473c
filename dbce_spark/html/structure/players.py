"""Players of videos and sounds, which show no text: <player> with the address of what they play."""

import re
from typing import Any

_PLAYERS = ("iframe", "video", "audio", "object")
_DECORATIONS = frozenset(("autoplay", "loop"))
"""Attributes of videos that nobody starts or stops."""
_YOUTUBE = re.compile(r"(?:https?:)?//(?:www\.)?youtube(?:-nocookie)?\.com/(?:embed|v)/([\w-]{11})(?![\w-])")
"""The address of the commonest player, also of that in Flash; what it plays has a page of its own."""
_PIXELS = re.compile(r"\s*(\d{1,5})(?:px)?\s*")
_LEAST_WIDTH, _LEAST_HEIGHT = 400, 200
"""Pixels of a frame that may not fill the screen: of 73 in kept text that are so large, and no strip, 69 show a video,
a map or the like; nearly all advertisements and buttons are smaller."""
_STRIP = 3
"""Times as wide as high, as the advertisements are that are large."""


def mark_players(root: Any) -> None:
    """Put a <player> in the place of each player.

    Players are a video or sound, unless it runs by itself as backgrounds do, and a frame that may fill the screen or is
    large, as those of videos and those of few advertisements and buttons.
    """
    for element in [*root.iter(*_PLAYERS)]:
        source = _source(element)
        if not source:
            continue
        space = " " if element.text and element.text.isspace() else ""
        element.clear(keep_tail=True)
        element.tag, element.tail = "player", f"{space}{element.tail or ''}"
        video = _YOUTUBE.match(source)
        element.set("src", f"https://www.youtube.com/watch?v={video[1]}" if video else source)


def _source(element: Any) -> str:
    """Find the address of what an element plays; "" if it is no player."""
    if element.tag == "iframe":
        source: str = (element.get("src") or element.get("data-src") or "").strip()
        may_fill = "allowfullscreen" in element.attrib or "fullscreen" in (element.get("allow") or "")
        return source if may_fill or _YOUTUBE.match(source) or _is_large(element) else ""
    if element.tag == "object":
        films = (
            one.get("value") for one in element.iterchildren("param") if (one.get("name") or "").lower() == "movie"
        )
        return next((one for one in (element.get("data"), *films) if one and _YOUTUBE.match(one)), "")
    if _DECORATIONS & {*element.keys()} and "controls" not in element.attrib:
        return ""
    return (element.get("src") or next((one.get("src") or "" for one in element.iter("source")), "")).strip()


def _is_large(frame: Any) -> bool:
    """Test for a frame of the size of a video."""
    sizes = [_PIXELS.fullmatch(frame.get(name) or "") for name in ("width", "height")]
    width, height = (int(size[1]) if size else 0 for size in sizes)
    return width >= _LEAST_WIDTH and height >= _LEAST_HEIGHT and width <= _STRIP * height
