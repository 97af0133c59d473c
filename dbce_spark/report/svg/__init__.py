"""Draw SVG for several reports: texts that take their colours from the page around them.

`templates/drawing.css` gives the page its variables (--ink, --soft, --line, --c0 ...), on light and on dark. The same
numbers give the same bytes.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = 8
"""As many as there are variables --c0 to --c7 in drawing.css; a ninth series takes the first again."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from values to places on the paper."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / ((self.high - self.low) or 1.0) * (self.end - self.start)

    def ticks(self) -> Iterator[float]:
        """Iterate over round values of shares, a tenth apart or less."""
        step = 0.1 if self.high - self.low > 0.35 else 0.05 if self.high - self.low > 0.15 else 0.02
        first = math.ceil(self.low / step - 1e-9)
        for at in range(first, math.floor(self.high / step + 1e-9) + 1):
            yield at * step


def circle(x: float, y: float, radius: float, series: int, title: str) -> str:
    """Draw a dot in a colour of the page; `title` is shown where the mouse rests on it."""
    drawn = f'<circle cx="{n(x)}" cy="{n(y)}" r="{radius:g}" style="fill:{colour(series)}">'
    return f"{drawn}<title>{escape(title)}</title></circle>"


def bar(left: float, top: float, width: float, height: float, title: str) -> str:
    """Draw a bar in the first colour of the page; `title` is shown where the mouse rests on it."""
    place = f'x="{n(left)}" y="{n(top)}" width="{n(width)}" height="{n(height)}"'
    return f'<rect class="bar" {place} style="fill:{colour(0)}"><title>{escape(title)}</title></rect>'


def text(x: float, y: float, words: str, anchor: str, kind: str = "plain") -> str:
    """Write words at a place; `anchor`: "start", "middle" or "end" of them lies there."""
    return f'<text class="{kind}" x="{n(x)}" y="{n(y)}" text-anchor="{anchor}">{escape(words)}</text>'


def polyline(points: Iterable[tuple[float, float]], series: int, title: str = "") -> str:
    """Draw a line through points; `title` is shown where the mouse rests on it."""
    drawn = f'<polyline class="line" points="{point_list(points)}" style="stroke:{colour(series)}"'
    return f"{drawn}><title>{escape(title)}</title></polyline>" if title else f"{drawn}/>"


def point_list(points: Iterable[tuple[float, float]]) -> str:
    """Write points as SVG has them in a list."""
    return " ".join(f"{n(x)},{n(y)}" for x, y in points)


def rule(x1: float, x2: float, y1: float, y2: float) -> str:
    """Draw a line of a grid."""
    return f'<line class="grid" x1="{n(x1)}" x2="{n(x2)}" y1="{n(y1)}" y2="{n(y2)}"/>'


def rules_across(axis: Axis, left: float, right: float, ticks: Iterable[tuple[float, str]]) -> Iterator[str]:
    """Draw a horizontal line at each tick of an upright axis, and its name left of it."""
    for tick, name in ticks:
        yield rule(left, right, axis(tick), axis(tick))
        yield text(left - 6, axis(tick) + 4, name, "end", "small")


def rules_upright(axis: Axis, top: float, bottom: float, ticks: Iterable[tuple[float, str]]) -> Iterator[str]:
    """Draw a vertical line at each tick of a lying axis, and its name below it."""
    for tick, name in ticks:
        yield rule(axis(tick), axis(tick), top, bottom)
        yield text(axis(tick), bottom + 16, name, "middle", "small")


def svg(width: float, height: float, body: Sequence[str]) -> str:
    """Build a drawing that shrinks with the page, and does not grow beyond its width. As a group it is read out with
    its words and titles; of an image they would not be."""
    size = f'viewBox="0 0 {width:g} {height:g}" style="max-width:{width:g}px"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="group" {size}>{"".join(body)}</svg>'


def placed(drawing: str, place: tuple[float, float], size: tuple[float, float]) -> str:
    """Put a drawing at a place of another one (left, top), in a box of this size (across, down)."""
    box = f'x="{n(place[0])}" y="{n(place[1])}" width="{n(size[0])}" height="{n(size[1])}"'
    return f"<svg {box}>{drawing}</svg>"


def colour(at: int) -> str:
    """Choose a colour of the page; -1 is that of series drawn only for comparison."""
    return f"var(--c{at % COLOURS})" if at >= 0 else "var(--soft)"


def n(value: float) -> str:
    """Format a number with as many places as one sees."""
    return f"{value:.1f}"
