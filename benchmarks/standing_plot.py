"""Plots of reports as SVG files that stand by themselves."""

from collections.abc import Sequence

from dbce_spark.report import svg
from dbce_spark.report.svg import html_template

_STYLE = """
svg { background: var(--paper) } text { font: 12px system-ui, sans-serif; fill: var(--ink) }
.soft, .small { fill: var(--soft) } .grid { stroke: var(--line) } .line { fill: none; stroke-width: 2 }
.interval { stroke-width: 2; stroke-opacity: .5 }
"""


def standing(size: tuple[float, float], body: Sequence[str]) -> str:
    """Build a file of drawings that take their colours from a page; `size`: pixels across and down."""
    return svg.svg(*size, [f"<style>{html_template.colours()}{_STYLE}</style>", *body]) + "\n"
