"""Load the templates of reports on outputs and crawls, with the filters that write their figures."""

from datetime import datetime
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from dbce_spark.log import counted
from dbce_spark.model import ARMS
from dbce_spark.report import output_counts
from dbce_spark.report.html_frame import POLICY
from dbce_spark.report.overview import CHARSET_SOURCES
from dbce_spark.report.page_views import MAX_SEGMENTS
from dbce_spark.report.svg import html_template


def environment() -> Environment:
    """Build the template environment of all pages of reports."""
    made = html_template.environment("dbce_spark.report")
    made.filters |= {
        "number": _number,
        "share": _share,
        "time": _time,
        "bits": _bits,
        "seconds": _seconds,
        "counted": counted,
    }
    css = files("dbce_spark.report").joinpath("templates/report.css").read_text(encoding="utf-8")
    made.globals |= {
        "css": Markup(css),
        "policy": POLICY,
        "max_segments": MAX_SEGMENTS,
        "charset_sources": CHARSET_SOURCES,
        "unsure": output_counts.UNSURE,
    }
    return made


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _share(part: float) -> str:
    """Format 0.123 as "12.3 %"; 0 and 100 only where they are exact."""
    shown = f"{100 * part:.1f}"
    if shown == "0.0" and part > 0:
        return "< 0.1 %"
    if shown == "100.0" and part < 1:
        return "> 99.9 %"
    return "0 %" if part == 0 else "100 %" if part == 1 else f"{shown} %"


def _seconds(value: float) -> str:
    return f"{value:,.1f}"


def _time(moment: datetime | None) -> str:
    return "" if moment is None else moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _bits(text: str) -> list[tuple[str, bool]]:
    """Convert "11010" to [("cur", True), ("up", True), ("down", False), ("prev", True), ("next", False)]."""
    return [(arm, bit == "1") for arm, bit in zip(ARMS, text, strict=True)]
