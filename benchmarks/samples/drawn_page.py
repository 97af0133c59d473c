"""A page while it is written: every block goes into the HTML and, in the same call, into the list of its label.

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


@dataclass
class DrawnPage:
    """The HTML of a page, with the texts of its blocks in document order.

    `comments` holds what readers wrote below a page (comments, reviews): whether that is main content is for the reader
    of the labels to decide, so it is neither in `content` nor in `boilerplate`.
    """

    html: str = ""
    content: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    boilerplate: list[str] = field(default_factory=list)

    def main(self, tag: str, *inline: str | Span) -> str:
        """Write one block of main content, as the element `tag` (name and attributes; "" for bare text)."""
        return _block(self.content, tag, inline)

    def comment(self, tag: str, *inline: str | Span) -> str:
        """Write one block that a reader wrote below the page."""
        return _block(self.comments, tag, inline)

    def chrome(self, tag: str, *inline: str | Span) -> str:
        """Write one block of boilerplate."""
        return _block(self.boilerplate, tag, inline)


def _block(texts: list[str], tag: str, inline: tuple[str | Span, ...]) -> str:
    spans = [piece if isinstance(piece, Span) else Span("", piece, "") for piece in inline]
    texts.append(" ".join("".join(span.text for span in spans).split()))
    inner = "".join(f"{span.before}{escape(span.text, quote=False)}{span.after}" for span in spans)
    return f"<{tag}>{inner}</{tag.partition(' ')[0]}>" if tag else inner
