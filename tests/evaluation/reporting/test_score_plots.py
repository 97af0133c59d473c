"""Plots are well-formed, hold every mark, and put it at its value."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from dbce_spark.evaluation.reporting import score_plots
from dbce_spark.evaluation.reporting.score_plots import Curve, Distribution, Dot, PlotRow, Series
from dbce_spark.evaluation.scoring import average_weights
from dbce_spark.evaluation.scoring.bootstrap import Interval

SVG = "{http://www.w3.org/2000/svg}"
DOTS = [Dot("<a & b>", 0.5, Interval(0.4, 0.6), 0), Dot("other", 1.0, Interval(0.9, 1.0), 1)]
EVEN = Distribution("even", 0, np.linspace(0, 1, 101), np.ones(101))


def drawn(svg: str, tag: str, kind: str = "") -> list[ElementTree.Element]:
    return [one for one in ElementTree.fromstring(svg).iter(f"{SVG}{tag}") if kind in (one.get("class") or "", "")]


def test_a_dot_lies_on_the_axis_at_its_value() -> None:
    """The axis begins at 0.4, below all intervals; the marks of the grid are its scale."""
    svg = score_plots.dot_plot([PlotRow("first", DOTS)])
    scale = {one.text: float(one.get("x") or 0) for one in drawn(svg, "text", "small")}
    assert pytest.approx([scale["0.5"], scale["1.0"]]) == [float(dot.get("cx") or 0) for dot in drawn(svg, "circle")]
    assert 190 <= scale["0.4"] < scale["1.0"] < 1080
    interval = drawn(svg, "line", "interval")[0]
    assert pytest.approx([scale["0.4"], scale["0.6"]]) == [float(interval.get(end) or 0) for end in ("x1", "x2")]


def test_what_a_mark_is_stands_in_its_title() -> None:
    """Names of sites and extractors may hold anything."""
    titles = [one.text for one in drawn(score_plots.dot_plot([PlotRow("first", DOTS)]), "title")]
    assert ["<a & b>: 0.500 (0.400 to 0.600)", "other: 1.000 (0.900 to 1.000)"] == titles


def test_a_better_value_lies_higher() -> None:
    """In a plot of lines; y grows downward."""
    low, high = drawn(score_plots.line_plot(("0", "1"), [Series("first", 0, DOTS)], "siblings"), "circle")
    assert float(high.get("cy") or 0) < float(low.get("cy") or 0)


def test_a_violin_is_wide_where_pages_are() -> None:
    """All pages at 1 but one: the outline is widest at the right end, thin elsewhere; the dot stands at the median."""
    svg = score_plots.violins([Distribution("good", 0, np.array([0.2, 1.0, 1.0, 1.0]), np.ones(4))])
    points = [tuple(map(float, one.split(","))) for one in (drawn(svg, "polygon")[0].get("points") or "").split()]
    right = max(x for x, _ in points)
    assert right == max(points, key=lambda point: point[1])[0]
    middle = [y for x, y in points if 0.5 < (x - 190) / (right - 190) < 0.9]
    assert max(middle) - min(middle) < 0.5
    assert right == float(drawn(svg, "circle", "median")[0].get("cx") or 0)


def test_a_violin_of_even_pages_has_even_sides() -> None:
    """It is widest at the score of its pages, and no hundredth beside it."""
    svg = score_plots.violins([Distribution("even", 0, np.array([0.3, 0.5, 0.7]), np.ones(3))])
    points = [tuple(map(float, one.split(","))) for one in (drawn(svg, "polygon")[0].get("points") or "").split()]
    upper = [y for _, y in points[: len(points) // 2]]
    assert upper == upper[::-1]


def test_a_cumulated_line_goes_from_no_page_to_all() -> None:
    """For even scores it is the diagonal."""
    (line,) = drawn(score_plots.cumulated([EVEN]), "polyline")
    y = [float(one.split(",")[1]) for one in (line.get("points") or "").split()]
    expected = np.linspace(y[0], y[-1], len(y))
    assert y[0] > y[-1]
    assert np.abs(np.array(y) - expected).max() < 4


def test_weights_move_a_quartile() -> None:
    """A page with nearly all of the weight is the median."""
    heavy = Distribution("heavy", 0, np.array([0.1, 0.9]), np.array([0.05, 0.95]))
    assert "median 0.900" in score_plots.violins([heavy])


def test_the_median_of_a_violin_is_that_of_the_table() -> None:
    """Between two pages of the same weight it is their middle."""
    two = Distribution("two", 0, np.array([0.2, 0.4]), np.ones(2))
    assert f"median {average_weights.median(two.values, two.weights):.3f}" in score_plots.violins([two])


def test_bars_are_as_high_as_their_counts() -> None:
    """They stand on one line, and each has its count in writing."""
    svg = score_plots.bars([("none", 40), ("<some>", 10), ("all", 0)], "pages")
    heights = [float(one.get("height") or 0) for one in drawn(svg, "rect", "bar")]
    feet = {float(one.get("y") or 0) + float(one.get("height") or 0) for one in drawn(svg, "rect", "bar")}
    assert pytest.approx([heights[0] / 4, 0.0]) == heights[1:]
    assert 1 == len(feet)
    assert {"40", "10", "0", "none", "<some>", "all", "pages"} == {one.text for one in drawn(svg, "text")}


def test_a_scatter_has_every_point_in_the_colour_of_its_group() -> None:
    """Three points, two groups."""
    svg = score_plots.scatter(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]]), [0, 1, 1], ["a", "b", "c"])
    assert ["fill:var(--c0)", "fill:var(--c1)", "fill:var(--c1)"] == [one.get("style") for one in drawn(svg, "circle")]


def test_a_heat_map_leaves_out_missing_values() -> None:
    """One of four cells is no number."""
    svg = score_plots.heat_map(("a", "b"), np.array([[1.0, -0.5], [np.nan, 1.0]]))
    assert 3 == len(drawn(svg, "rect"))
    assert ["1.00", "-0.50", "1.00"] == re.findall(r">(-?\d\.\d\d)<", svg)


def test_a_curve_ends_at_its_last_value() -> None:
    """However many documents there are, few points are drawn, and the last is one of them."""
    values = np.concatenate([np.linspace(0.5, 0.9, 9_999), [0.7]])
    (line,) = drawn(score_plots.curves([Curve("<a>", 0, values)], "documents"), "polyline")
    svg = score_plots.curves([Curve("<a>", 0, values)], "documents")
    points = (line.get("points") or "").split()
    scale = {one.text: float(one.get("y") or 0) - 4 for one in drawn(svg, "text", "small")}

    assert len(points) <= 200
    assert pytest.approx(scale["0.7"], abs=0.2) == float(points[-1].split(",")[1])
    assert ["<a>"] == [one.text for one in drawn(svg, "title")]
