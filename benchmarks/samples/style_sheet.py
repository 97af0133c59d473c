"""A page while it is written: every block goes into the HTML and, in the same call, into the list of its label.

So the labels are true by construction; nothing is parsed again to find them.
"""

from collections.abc import Callable
from functools import lru_cache
from html import escape
from typing import Concatenate, NamedTuple, ParamSpec, cast

P = ParamSpec("P")


class Span(NamedTuple):
    """Inline markup inside a block; only `text` belongs to the block's text."""

    before: str
    text: str
    after: str


def link(href: str, text: str) -> Span:
    return Span(f'<a href="{escape(href)}">', text, "</a>")


def strong(text: str) -> Span:
    return Span("<strong>", text, "</strong>")


def code(text: str) -> Span:
    return Span("<code>", text, "</code>")


class Sheet:
    """HTML under construction, with the texts of its blocks in document order.

    `comments` holds what readers wrote below a page (comments, reviews): whether that is main content is for the reader
    of the labels to decide, so it is neither in `content` nor in `boilerplate`.
    """

    __slots__ = ("boilerplate", "comments", "content", "html")

    def __init__(self) -> None:
        self.html: list[str] = []
        self.content: list[str] = []
        self.comments: list[str] = []
        self.boilerplate: list[str] = []

    def markup(self, html: str) -> None:
        """Add markup without text: containers, forms, scripts."""
        self.html.append(html)

    def main(self, tag: str, *inline: str | Span) -> None:
        """Add one block of main content, as the element `tag` (name and attributes; "" for bare text)."""
        self._block(self.content, tag, inline)

    def comment(self, tag: str, *inline: str | Span) -> None:
        """Add one block that a reader wrote below the page."""
        self._block(self.comments, tag, inline)

    def chrome(self, tag: str, *inline: str | Span) -> None:
        """Add one block of boilerplate."""
        self._block(self.boilerplate, tag, inline)

    def add(self, part: "Sheet") -> None:
        """Add all blocks of another sheet at this place."""
        self.html += part.html
        self.content += part.content
        self.comments += part.comments
        self.boilerplate += part.boilerplate

    def _block(self, texts: list[str], tag: str, inline: tuple[str | Span, ...]) -> None:
        html = []
        text = []
        for piece in inline:
            if isinstance(piece, Span):
                html.append(f"{piece.before}{escape(piece.text, quote=False)}{piece.after}")
                text.append(piece.text)
            else:
                html.append(escape(piece, quote=False))
                text.append(piece)
        inner = "".join(html)
        self.html.append(f"<{tag}>{inner}</{tag.partition(' ')[0]}>\n" if tag else f"{inner}\n")
        texts.append(" ".join("".join(text).split()))


def part(write: Callable[Concatenate[Sheet, P], None]) -> Callable[P, Sheet]:
    """Make what `write` puts on a sheet a part of many pages, which is written once for the same arguments."""

    @lru_cache(maxsize=2048)
    def written(*arguments: P.args, **named: P.kwargs) -> Sheet:
        sheet = Sheet()
        write(sheet, *arguments, **named)
        return sheet

    return cast(Callable[P, Sheet], written)
