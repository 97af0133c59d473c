"""What drawings of several reports are made of: SVG texts that take their colours from the page around them.

`templates/drawing.css` gives the page its variables (--ink, --soft, --line, --c0 ...), on light and on dark. The same
numbers give the same bytes.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = 8
"""As many as there are variables --c0 to --c7 in drawing.css; a ninth series takes the first again."""


@dataclass(frozen=True, slots=True)
class Axis:
    """From values to places on the paper."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / ((self.high - self.low) or 1.0) * (self.end - self.start)

    def ticks(self) -> Iterator[float]:
        """Round values of shares, a tenth apart or less."""
        step = 0.1 if self.high - self.low > 0.35 else 0.05 if self.high - self.low > 0.15 else 0.02
        first = math.ceil(self.low / step - 1e-9)
        for at in range(first, math.floor(self.high / step + 1e-9) + 1):
            yield at * step


def circle(x: float, y: float, radius: float, of: int, title: str) -> str:
    """A dot in a colour of the page; `title` is told where the mouse rests on it."""
    drawn = f'<circle cx="{n(x)}" cy="{n(y)}" r="{radius:g}" style="fill:{colour(of)}">'
    return f"{drawn}<title>{escape(title)}</title></circle>"


def text(x: float, y: float, words: str, anchor: str, kind: str = "plain") -> str:
    """Words at a place; anchor: "start", "middle" or "end" of them lies there."""
    return f'<text class="{kind}" x="{n(x)}" y="{n(y)}" text-anchor="{anchor}">{escape(words)}</text>'


def svg(width: float, height: float, body: Sequence[str]) -> str:
    """A drawing that shrinks with the page, and does not grow beyond its width."""
    size = f'viewBox="0 0 {width:g} {height:g}" style="max-width:{width:g}px"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{"".join(body)}</svg>'


def colour(at: int) -> str:
    """A colour of the page; -1 is that of what is only there for comparison."""
    return f"var(--c{at % COLOURS})" if at >= 0 else "var(--soft)"


def n(value: float) -> str:
    """A number with as many places as one sees."""
    return f"{value:.1f}"
