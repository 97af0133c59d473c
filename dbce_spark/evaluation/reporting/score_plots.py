"""Plots of scores as SVG texts, to stand inside a page.

Written here because it is little: a few kinds of plot, and no package of some 30 MB for them. What is drawn takes its
colours from the page around it (variables --ink, --soft, --line, --c0 ...), so it is readable on light and on dark, and
the same numbers give the same bytes. No plot needs a script; each mark has a title.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from dbce_spark.evaluation.scoring.average_weights import Values, quantile
from dbce_spark.evaluation.scoring.bootstrap import Interval
from dbce_spark.evaluation.scoring.reliability import ReliabilityStep
from dbce_spark.report import svg
from dbce_spark.report.svg import Axis, n

_WIDE, _NARROW = 1080, 540
"""Pixels across the page, and across a column of it."""

_LABELS = 190
"""Pixels beside a wide plot for the names of its rows."""

_GRID = 201
"""Places from 0 to 1 at which a density is drawn."""

_POINTS = 200
"""Of a curve, at most."""

_SMOOTH = 0.02
"""Standard deviation of the kernel of a density, in F1: what differs by less looks the same."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with its interval."""

    label: str
    value: float
    interval: Interval
    colour: int


@dataclass(frozen=True, slots=True)
class PlotRow:
    """A line of a dot plot."""

    label: str
    dots: Sequence[Dot]


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one line in a plot of lines, under one colour."""

    label: str
    colour: int
    dots: Sequence[Dot]  # one for each step of the axis, in their order


@dataclass(frozen=True, slots=True)
class Curve:
    """A value after each of many documents; `colour` -1 is that of what is only there for comparison."""

    label: str
    colour: int
    values: Values


@dataclass(frozen=True, slots=True)
class Distribution:
    """The scores of one extractor, each with the weight of its page."""

    label: str
    colour: int
    values: Values
    weights: Values


def dot_plot(rows: Sequence[PlotRow]) -> str:
    """Plot values with intervals, a row a name, on one axis of F1."""
    step = 11
    heights = [max(24, step * len(row.dots) + 12) for row in rows]
    height = sum(heights) + 44
    axis = Axis(_least(row.dots for row in rows), 1.0, _LABELS, _WIDE - 24)
    body = _row_frame(axis, height)
    top = 8.0
    for row, room in zip(rows, heights, strict=True):
        body.append(svg.rule(0, _WIDE, top + room, top + room))
        body.append(svg.text(_LABELS - 12, top + room / 2 + 4, row.label, "end"))
        for at, dot in enumerate(row.dots):
            y = top + room / 2 + (at - (len(row.dots) - 1) / 2) * step
            body += _dot(dot, axis, y)
        top += room
    return svg.svg(_WIDE, height, body)


def line_plot(steps: Sequence[str], series: Sequence[Series], title: str) -> str:
    """Plot F1 over steps (of siblings, of snapshots), a line a series, with intervals."""
    height = 320
    axis = Axis(_least(one.dots for one in series), 1.0, height - 56, 12)
    left, right = 46.0, _NARROW - 16.0
    gap = (right - left) / len(steps)
    body = list(_horizontal_grid(axis, left, right))
    body += [svg.text(left + gap * (at + 0.5), height - 36, step, "middle") for at, step in enumerate(steps)]
    body.append(svg.text((left + right) / 2, height - 12, title, "middle", "soft"))
    for number, one in enumerate(series):
        shift = (number - (len(series) - 1) / 2) * min(7.0, gap / (len(series) + 1))
        places = [(left + gap * (at + 0.5) + shift, axis(dot.value), dot) for at, dot in enumerate(one.dots)]
        body.append(svg.polyline(((x, y) for x, y, _ in places), one.colour))
        for x, y, dot in places:
            if dot.interval.is_known:
                body.append(_interval((x, axis(dot.interval.low)), (x, axis(dot.interval.high)), one.colour))
            body.append(svg.circle(x, y, 3.5, one.colour, f"{one.label}, {dot.label}: {dot.value:.3f}"))
    return svg.svg(_NARROW, height, body)


def violins(drawn: Sequence[Distribution]) -> str:
    """Plot the density of each extractor's F1 over pages, a bar from quartile to quartile and a dot at the median."""
    room = 30
    height = room * len(drawn) + 44
    axis = Axis(0.0, 1.0, _LABELS, _WIDE - 24)
    body = _row_frame(axis, height)
    for at, one in enumerate(drawn):
        body += _violin(one, axis, 8 + room * (at + 0.5), room / 2 - 1.5)
    return svg.svg(_WIDE, height, body)


def _violin(one: Distribution, axis: Axis, y: float, most: float) -> Iterator[str]:
    """Draw a violin around a line at y, where it is widest `most` to either side."""
    grid = np.linspace(0, 1, _GRID)
    density = _density(one, grid)
    half = density / density.max() * most
    up = [(axis(x), y - size) for x, size in zip(grid, half, strict=True)]
    down = [(axis(x), y + size) for x, size in zip(grid[::-1], half[::-1], strict=True)]
    low, middle, high = (quantile(one.values, one.weights, share) for share in (0.25, 0.5, 0.75))
    yield svg.text(_LABELS - 12, y + 4, one.label, "end")
    yield f'<polygon class="violin" points="{svg.point_list(up + down)}" style="fill:{svg.colour(one.colour)}"/>'
    yield f'<line class="quartiles" x1="{n(axis(low))}" x2="{n(axis(high))}" y1="{n(y)}" y2="{n(y)}"/>'
    title = f"{one.label}: median {middle:.3f}, quartiles {low:.3f} and {high:.3f}"
    dot = f'<circle class="median" cx="{n(axis(middle))}" cy="{n(y)}" r="3.5">'
    yield f"{dot}<title>{escape(title)}</title></circle>"


def cumulated(drawn: Sequence[Distribution]) -> str:
    """Plot the share of pages with an F1 up to x, a line an extractor; the lower the better."""
    height = 320
    across, up, body = _unit_square(height)
    body.append(svg.text(_NARROW / 2, height - 12, "share of pages with an F1 up to x", "middle", "soft"))
    grid = np.linspace(0, 1, _GRID)
    for one in drawn:
        order = np.argsort(one.values, kind="stable")
        reached = np.concatenate([[0.0], np.cumsum(one.weights[order])]) / one.weights.sum()
        shares = reached[np.searchsorted(one.values[order], grid + 1e-9)]
        points = ((across(x), up(share)) for x, share in zip(grid, shares, strict=True))
        body.append(svg.polyline(points, one.colour, one.label))
    return svg.svg(_NARROW, height, body)


def curves(drawn: Sequence[Curve], title: str) -> str:
    """Plot F1 over the number of documents, which stand on a logarithmic axis, a line a curve."""
    height = 380
    most = max(len(one.values) for one in drawn)
    low = max(0.0, math.floor(min(float(one.values.min()) for one in drawn) * 10) / 10)
    across, up = Axis(0.0, math.log10(max(most, 10)), 46, _NARROW - 16), Axis(low, 1.0, height - 56, 12)
    body = list(_horizontal_grid(up, 46, _NARROW - 16))
    for power in range(int(math.log10(max(most, 10))) + 1):
        x = across(power)
        body.append(svg.rule(x, x, 12, height - 56))
        body.append(svg.text(x, height - 38, f"{10**power:,}", "middle", "small"))
    body.append(svg.text(_NARROW / 2, height - 12, title, "middle", "soft"))
    for one in sorted(drawn, key=lambda one: one.colour):
        shown = _thinned(len(one.values))
        points = ((across(math.log10(at + 1)), up(float(one.values[at]))) for at in shown)
        body.append(svg.polyline(points, one.colour, one.label))
    return svg.svg(_NARROW, height, body)


def bars(counts: Sequence[tuple[str, int]], title: str) -> str:
    """Plot counts as bars, a bar a name, each with its count above it."""
    height = 260
    axis = Axis(0.0, float(max([1, *(count for _, count in counts)])), height - 48, 24)
    gap = (_NARROW - 16) / len(counts)
    body = [svg.rule(8, _NARROW - 8, height - 48, height - 48)]
    for at, (name, count) in enumerate(counts):
        left, top = 8 + gap * at, axis(count)
        body.append(svg.bar(left + 4, top, gap - 8, height - 48 - top, f"{name}: {count:,}"))
        body.append(svg.text(left + gap / 2, top - 5, f"{count:,}", "middle", "small"))
        body.append(svg.text(left + gap / 2, height - 32, name, "middle", "small"))
    body.append(svg.text(_NARROW / 2, height - 8, title, "middle", "soft"))
    return svg.svg(_NARROW, height, body)


def scatter(places: Values, colours: Sequence[int], titles: Sequence[str]) -> str:
    """Plot points in a plane without units. places: (points, 2)."""
    height = 420
    low, high = places.min(axis=0), places.max(axis=0)
    across, up = (
        Axis(float(low[0]), float(high[0]), 14, _NARROW - 14),
        Axis(float(low[1]), float(high[1]), height - 14, 14),
    )
    points = zip(places, colours, titles, strict=True)
    body = [svg.circle(across(float(x)), up(float(y)), 2.8, colour, title) for (x, y), colour, title in points]
    frame = f'<rect class="frame" x="1" y="1" width="{_NARROW - 2}" height="{height - 2}"/>'
    return svg.svg(_NARROW, height, [frame, *body])


def heat_map(names: Sequence[str], values: Values) -> str:
    """Draw a square table of correlations, the stronger the higher; empty where there is none. values: (n, n)."""
    cell, label_width = 54, 130
    width, height = label_width + cell * len(names) + 4, cell * len(names) + 74
    body = []
    for row, name in enumerate(names):
        body.append(svg.text(label_width - 10, row * cell + cell / 2 + 4, name, "end"))
        x, y = label_width + (row + 0.5) * cell, cell * len(names) + 16
        turn = f'transform="rotate(-35 {n(x)} {n(y)})"'
        body.append(f'<text class="small" x="{n(x)}" y="{n(y)}" text-anchor="end" {turn}>{escape(name)}</text>')
        for column, value in enumerate(values[row]):
            x, y = label_width + column * cell, row * cell
            if not math.isnan(value):
                box = f'<rect x="{x + 1}" y="{y + 1}" width="{cell - 2}" height="{cell - 2}" rx="4"'
                body.append(
                    f'{box} style="fill:{svg.colour(0 if value >= 0 else 1)};fill-opacity:{0.75 * abs(value):.2f}"/>'
                )
                body.append(svg.text(x + cell / 2, y + cell / 2 + 4, f"{value:.2f}", "middle"))
    return svg.svg(width, height, body)


def reliability_plot(steps: Sequence[ReliabilityStep]) -> str:
    """Plot the F1 that pages reach over their mean confidence, with intervals; on the diagonal the two are equal."""
    height = 380
    across, up, body = _unit_square(height)
    body.append(svg.polyline([(across(0), up(0)), (across(1), up(1))], -1, "F1 reached = confidence"))
    body.append(svg.text(_NARROW / 2, height - 12, "F1 reached, over confidence", "middle", "soft"))
    for step in steps:
        x = across(step.confidence)
        if step.interval.is_known:
            body.append(_interval((x, up(step.interval.low)), (x, up(step.interval.high)), 0))
        title = f"confidence {step.name}, {step.pages:,} pages: mean {step.confidence:.3f}, F1 {step.f1:.3f}"
        body.append(svg.circle(x, up(step.f1), 4.5, 0, title))
    return svg.svg(_NARROW, height, body)


def _unit_square(height: int) -> tuple[Axis, Axis, list[str]]:
    """Return the axes of a narrow plot, from 0 to 1 both, and its grid."""
    across, up = Axis(0.0, 1.0, 46, _NARROW - 16), Axis(0.0, 1.0, height - 56, 12)
    return across, up, [*_horizontal_grid(up, 46, _NARROW - 16), *_vertical_grid(across, 12, height - 56)]


def _least(rows: Iterator[Sequence[Dot]]) -> float:
    """Return the start of an axis: at a twentieth below all intervals."""
    dots = [dot for some in rows for dot in some]
    least = min(min(dot.interval.low, dot.value) if dot.interval.is_known else dot.value for dot in dots)
    return max(0.0, min(0.95, math.floor(least * 20) / 20))


def _row_frame(axis: Axis, height: float) -> list[str]:
    """Draw what stands around the rows of a wide plot."""
    title = svg.text((_LABELS + _WIDE) / 2, height - 4, "F1", "middle", "soft")
    return [*_vertical_grid(axis, 8, height - 36), title]


def _dot(dot: Dot, axis: Axis, y: float) -> Iterator[str]:
    title = f"{dot.label}: {dot.value:.3f}"
    if dot.interval.is_known:
        yield _interval((axis(dot.interval.low), y), (axis(dot.interval.high), y), dot.colour)
        title += f" ({dot.interval.low:.3f} to {dot.interval.high:.3f})"
    yield svg.circle(axis(dot.value), y, 4, dot.colour, title)


def _interval(start: tuple[float, float], end: tuple[float, float], colour: int) -> str:
    ends = f'x1="{n(start[0])}" y1="{n(start[1])}" x2="{n(end[0])}" y2="{n(end[1])}"'
    return f'<line class="interval" {ends} style="stroke:{svg.colour(colour)}"/>'


def _density(one: Distribution, grid: Values) -> Values:
    """Estimate a density by a Gaussian kernel on a histogram, mirrored at 0 and 1: a score beyond them is none."""
    counts, _ = np.histogram(one.values, bins=len(grid), range=(0, 1), weights=one.weights)
    half = len(grid) // 4
    reach = np.arange(-half, half + 1)  # as many places on either side
    kernel = np.exp(-0.5 * (reach / (len(grid) - 1) / _SMOOTH) ** 2)
    mirrored = np.concatenate([counts[::-1], counts, counts[::-1]])
    smooth: Values = np.convolve(mirrored, kernel, "same")[len(grid) : 2 * len(grid)]
    return smooth


def _thinned(count: int) -> list[int]:
    """Choose places on a logarithmic axis that lie apart by a few points of a plot; the last is one of them."""
    return sorted({round(float(at)) - 1 for at in np.geomspace(1, count, min(count, _POINTS))})


def _vertical_grid(axis: Axis, top: float, bottom: float) -> Iterator[str]:
    return svg.rules_upright(axis, top, bottom, _ticks(axis))


def _horizontal_grid(axis: Axis, left: float, right: float) -> Iterator[str]:
    return svg.rules_across(axis, left, right, _ticks(axis))


def _ticks(axis: Axis) -> Iterator[tuple[float, str]]:
    return ((tick, f"{tick:.2f}".removesuffix("0")) for tick in axis.ticks())
