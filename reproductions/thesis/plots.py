"""Plots as SVG, to stand in an HTML page or by themselves: boxes of values, and bars of counts."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import escape

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

COLOURS = ("#4c72b0", "#55a868", "#c44e52", "#8172b3", "#ccb974", "#64b5cd", "#8c8c8c")
"""One a series, distinct by lightness for those who see red and green alike."""

_BOX, _GAP, _LEFT, _TOP, _HEIGHT, _BOTTOM = 16, 28, 44, 34, 240, 46
"""Pixels: width of a box, between groups, left of and above the plot, its height, and below it."""

_STEPS = 5
"""Parts of the y axis."""

_THOUSANDS = 100_000
"""From so much on the y axis has thousands: longer numbers do not fit beside the plot."""

Mark = Callable[[float], Iterator[str]]
"""Draws what stands for the values of one series in one group, from its left edge on."""

Groups = Mapping[str, Mapping[str, Sequence[float]]]
"""Values by group and series."""


def most(groups: Groups) -> float:
    """Round the largest value that whiskers reach up to one with one digit, for the top of an axis; at least 1."""
    tops = [float(np.percentile(values, 95)) for group in groups.values() for values in group.values() if len(values)]
    largest = max([1.0, *tops])
    unit = 10.0 ** math.floor(math.log10(largest))
    return math.ceil(largest / unit) * unit


def boxes(title: str, groups: Groups, *, most: float = 1.0) -> str:
    """Plot values from 0 to `most` by group and series: a box from quartile to quartile, a line at the median, whiskers
    to the 5th and 95th percentile. Groups stand along the x axis, a series has one colour in all of them."""
    colours = _colours(groups)
    marks = {
        group: {
            name: partial(_box, values=np.asarray(values) / most, colour=colours[name])
            for name, values in of_group.items()
            if len(values)
        }
        for group, of_group in groups.items()
    }
    return _plot(title, colours, marks, most)


def bars(title: str, counts: Mapping[str, Mapping[str, int]]) -> str:
    """Plot a count by group and series, as a bar from 0 that says the count where the mouse rests on it. Groups and
    series stand as those of `boxes`."""
    top = most({group: {name: [count] for name, count in of_group.items()} for group, of_group in counts.items()})
    colours = _colours(counts)
    marks = {
        group: {name: partial(_bar, count=count, most=top, colour=colours[name]) for name, count in of_group.items()}
        for group, of_group in counts.items()
    }
    return _plot(title, colours, marks, top)


def _colours(groups: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Give each series its colour, in the order in which they come."""
    series = dict.fromkeys(name for group in groups.values() for name in group)
    return {name: COLOURS[nth % len(COLOURS)] for nth, name in enumerate(series)}


def _plot(title: str, colours: Mapping[str, str], marks: Mapping[str, Mapping[str, Mark]], most: float) -> str:
    """Draw the axes, the marks of each group and series, and the legend."""
    step = _BOX * len(colours) + _GAP
    width = _LEFT + max(step * len(marks), 70 * len(colours)) + _GAP
    parts = [f'<text x="{_LEFT}" y="16" font-size="14">{escape(title)}</text>', *_axis(width, most)]
    for at, (group, of_group) in enumerate(marks.items()):
        left = _LEFT + _GAP // 2 + at * step
        middle = left + _BOX * len(colours) / 2
        parts.append(_label(middle, _TOP + _HEIGHT + 16, group))
        for nth, name in enumerate(colours):
            if name in of_group:
                parts += of_group[name](left + nth * _BOX)
    parts += _legend(colours)
    height = _TOP + _HEIGHT + _BOTTOM
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" font-family="sans-serif" font-size="11" fill="#222">{"".join(parts)}</svg>'
    )


def _axis(width: int, most: float) -> Iterator[str]:
    for step in range(_STEPS + 1):
        y = _y(step / _STEPS)
        yield f'<line x1="{_LEFT}" x2="{width - 8}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_tick(step / _STEPS * most, most)}</text>'


def _tick(value: float, most: float) -> str:
    if most >= _THOUSANDS:
        return f"{value / 1000:,.0f} k"
    return f"{value:.1f}" if most < 10 else f"{value:,.0f}"


def _box(left: float, values: Values, colour: str) -> Iterator[str]:
    low, first, median, third, high = (_y(value) for value in np.percentile(values, (5, 25, 50, 75, 95)))
    middle, right = left + _BOX / 2, left + _BOX - 2
    yield f'<line x1="{middle}" x2="{middle}" y1="{high:.1f}" y2="{low:.1f}" stroke="{colour}"/>'
    yield (
        f'<rect x="{left + 2}" y="{third:.1f}" width="{_BOX - 4}" height="{first - third:.1f}" fill="{colour}"'
        f' fill-opacity="0.45" stroke="{colour}"/>'
    )
    yield f'<line x1="{left + 2}" x2="{right}" y1="{median:.1f}" y2="{median:.1f}" stroke="#000" stroke-width="1.5"/>'


def _bar(left: float, count: int, most: float, colour: str) -> Iterator[str]:
    top = _y(count / most)
    yield (
        f'<rect x="{left + 2}" y="{top:.1f}" width="{_BOX - 4}" height="{_y(0) - top:.1f}" fill="{colour}"'
        f' fill-opacity="0.45" stroke="{colour}"><title>{count:,}</title></rect>'
    )


def _legend(colours: Mapping[str, str]) -> Iterator[str]:
    y = _TOP + _HEIGHT + 36
    for nth, (name, colour) in enumerate(colours.items()):
        x = _LEFT + 70 * nth
        yield f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{x + 14}" y="{y}">{escape(name)}</text>'


def _label(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{escape(text)}</text>'


def _y(value: float) -> float:
    return _TOP + _HEIGHT * (1 - float(value))
