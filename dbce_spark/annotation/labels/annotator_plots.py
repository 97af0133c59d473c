"""Plot what annotators did, as SVG texts: the plots of KrdWrd 3.4.3 (figures 3.3 to 3.8)."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from dbce_spark.report.svg import Axis, bar, circle, polyline, rules_across, svg, text

_TICKS = 6
"""Lines of a grid at most: more than one reads at a glance."""
_WIDTH, _HEIGHT = 540, 280
"""Pixels of a plot."""


def bars(values: Sequence[tuple[str, float]], title: str, unit: str) -> str:
    """Plot a bar for each name, in their order. title: what the names are; unit: what the bars count."""
    high = max((value for _, value in values), default=0.0) or 1.0
    up = Axis(0.0, high, _HEIGHT - 56, 20)
    left, right = 46.0, _WIDTH - 16.0
    room = (right - left) / max(1, len(values))
    step = max(1, math.ceil(34 / room))  # names of 34 px side by side
    body = [*_grid(up, left, right, finest=1.0), text(left, 12, unit, "start", "soft")]
    for at, (name, value) in enumerate(values):
        x = left + at * room
        body.append(bar(x + room * 0.1, up(value), room * 0.8, up(0) - up(value), f"{name}: {value:g}"))
        if at % step == 0:
            body.append(text(x + room / 2, _HEIGHT - 36, name, "middle", "small"))
    body.append(text((left + right) / 2, _HEIGHT - 12, title, "middle", "soft"))
    return svg(_WIDTH, _HEIGHT, body)


def histogram(values: Sequence[float], edges: Sequence[float], title: str, unit: str, *, places: int = 0) -> str:
    """Plot how many values lie in each bin, named by its left edge; values beyond the edges count in the outer bins."""
    counts, _ = np.histogram(np.clip(np.asarray(values, np.float64), edges[0], edges[-1]), edges)
    named = [(f"{edge:.{places}f}", float(count)) for edge, count in zip(edges, counts.tolist(), strict=False)]
    return bars(named, title, unit)


def curve(points: Sequence[tuple[float, float]], title: str, unit: str) -> str:
    """Plot a line through points, with the line of 0."""
    ys = [y for _, y in points]
    xs = [x for x, _ in points]
    up = Axis(min([0.0, *ys]), max([0.0, *ys]) or 1.0, _HEIGHT - 56, 20)
    across = Axis(min(xs, default=0.0), max(xs, default=1.0), 60, _WIDTH - 24)
    body = [*_grid(up, 46, _WIDTH - 16, finest=0.0), text(46, 12, unit, "start", "soft")]
    body.append(polyline([(across(x), up(y)) for x, y in points], 0))
    for x, y in points:
        body.append(circle(across(x), up(y), 3, 0, f"{x:g}: {y:.1f}"))
    step = max(1, math.ceil(len(points) / 15))
    body += [text(across(x), _HEIGHT - 36, f"{x:g}", "middle", "small") for x in xs[::step]]
    body.append(text(_WIDTH / 2, _HEIGHT - 12, title, "middle", "soft"))
    return svg(_WIDTH, _HEIGHT, body)


def _grid(axis: Axis, left: float, right: float, *, finest: float) -> Iterator[str]:
    return rules_across(axis, left, right, ((tick, f"{tick:g}") for tick in _round(axis.low, axis.high, finest)))


def _round(low: float, high: float, finest: float) -> Iterator[float]:
    """Yield the multiples of 1, 2 or 5 times a power of ten between two values, at least `finest` apart."""
    least = max(finest, (high - low) / _TICKS)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)
    for at in range(math.ceil(low / step), math.floor(high / step + 1e-9) + 1):
        yield at * step
