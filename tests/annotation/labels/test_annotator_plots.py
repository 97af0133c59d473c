"""Draw plots that can be read."""

import re
from xml.etree import ElementTree

import pytest

from dbce_spark.annotation.labels import annotator_plots


def heights(drawn: str) -> list[float]:
    return [float(found) for found in re.findall(r'<rect [^>]*height="([\d.]+)"', drawn)]


def test_a_bar_is_as_high_as_its_value() -> None:
    """A value twice as large has a bar twice as high."""
    first, second, third = heights(annotator_plots.bars([("a", 2), ("b", 4), ("c", 0)], "names", "count"))

    assert second == pytest.approx(2 * first, abs=0.1)
    assert third == 0


def test_what_is_counted_is_counted_in_whole_numbers() -> None:
    """An axis of counts has no fractions."""
    drawn = annotator_plots.bars([("a", 1), ("b", 3)], "names", "count")

    assert re.findall(r'text-anchor="end">([^<]+)<', drawn) == ["0", "1", "2", "3"]


def test_a_histogram_loses_no_value() -> None:
    """Values beyond the edges count in the outer bins."""
    drawn = annotator_plots.histogram([-5, 0.5, 1.5, 1.6, 99], [0, 1, 2], "x", "y")

    assert re.findall(r"<title>([^<]+)</title>", drawn) == ["0: 2", "1: 3"]


def test_a_curve_has_every_point() -> None:
    """Points below the line of 0 are drawn as well."""
    drawn = annotator_plots.curve([(1, 20.0), (2, -5.0)], "position", "seconds")

    assert re.findall(r"<title>([^<]+)</title>", drawn) == ["1: 20.0", "2: -5.0"]


@pytest.mark.parametrize("values", [[], [("one & only", 1.0)], [(str(at), float(at)) for at in range(90)]])
def test_a_plot_is_well_formed(values: list[tuple[str, float]]) -> None:
    """A plot of no bar, of one, and of more than have room for a name is well-formed XML."""
    ElementTree.fromstring(annotator_plots.bars(values, "<title>", "count"))
    ElementTree.fromstring(
        annotator_plots.curve([(float(at), value) for at, (_, value) in enumerate(values)], "x", "y")
    )
