"""Wrap each segment of a page's HTML in an element with its number, by which a browser's measurements are read."""

import numpy as np

from dbce_spark.annotation.markup.page_file import Sheet
from dbce_spark.dbce import single
from dbce_spark.dbce.kept import annotated_html
from dbce_spark.model import Label

CLASS = "dbce-segment-"
"""Prefix of the classes of these elements; the number of the segment follows."""


def mark_segments(sheet: Sheet) -> str:
    """Return the page without scripts, and with its segments marked; one that inline elements cut comes in several
    pieces.

    Raises:
        PageError: its text is another one.
    """
    starts, ends = (
        np.array([getattr(segment, name) for segment in sheet.segments], np.int32) for name in ("start", "end")
    )
    segments = single.without_evidence(np.arange(len(starts), dtype=np.int32), starts, ends, Label.UNDECIDED)
    html = sheet.html.encode("utf-8", "replace")
    return annotated_html.coloured_html(html, sheet.text, segments, lambda at: f"{CLASS}{at}", "")
