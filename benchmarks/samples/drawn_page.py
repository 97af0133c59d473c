"""A page while it is written: every block goes into the HTML and, in the same call, with its label into a list.

So the labels are true by construction; nothing is parsed again to find them.
"""

from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple


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


CONTENT, COMMENT, BOILERPLATE = "content", "comment", "boilerplate"
"""Kinds of blocks that every site tells apart; a site may name kinds of boilerplate of its own."""


class DrawnBlock(NamedTuple):
    """A block as a page was written with it."""

    kind: str
    text: str


@dataclass
class DrawnPage:
    """The HTML of a page, with its blocks in document order.

    `comments` holds what readers wrote below a page (comments, reviews): whether that is main content is for the reader
    of the labels to decide, so it is neither in `content` nor in `boilerplate`.
    """

    html: str = ""
    blocks: list[DrawnBlock] = field(default_factory=list)

    @property
    def content(self) -> list[str]:
        """List the texts of the main content."""
        return [block.text for block in self.blocks if block.kind == CONTENT]

    @property
    def comments(self) -> list[str]:
        """List the texts of readers."""
        return [block.text for block in self.blocks if block.kind == COMMENT]

    @property
    def boilerplate(self) -> list[str]:
        """List all other texts."""
        return [block.text for block in self.blocks if block.kind not in (CONTENT, COMMENT)]

    def main(self, tag: str, *inline: str | Span) -> str:
        """Write one block of main content, as the element `tag` (name and attributes; "" for bare text)."""
        return self._block(CONTENT, tag, inline)

    def comment(self, tag: str, *inline: str | Span) -> str:
        """Write one block that a reader wrote below the page."""
        return self._block(COMMENT, tag, inline)

    def chrome(self, tag: str, *inline: str | Span, kind: str = BOILERPLATE) -> str:
        """Write one block of boilerplate, of a kind that the site may name."""
        return self._block(kind, tag, inline)

    def _block(self, kind: str, tag: str, inline: tuple[str | Span, ...]) -> str:
        spans = [piece if isinstance(piece, Span) else Span("", piece, "") for piece in inline]
        self.blocks.append(DrawnBlock(kind, " ".join("".join(span.text for span in spans).split())))
        inner = "".join(f"{span.before}{escape(span.text, quote=False)}{span.after}" for span in spans)
        return f"<{tag}>{inner}</{tag.partition(' ')[0]}>" if tag else inner
