"""Wrap each segment of a page's HTML in an element with its number, by which a browser's measurements are read."""

from dbce_spark.annotation.markup.page_file import Sheet
from dbce_spark.dbce import single
from dbce_spark.dbce.kept import annotated_html

CLASS = "dbce-segment-"
"""Prefix of the classes of these elements; the number of the segment follows."""


def mark_segments(sheet: Sheet) -> str:
    """Return the page without scripts, and with its segments marked; one that inline elements cut comes in several
    pieces.

    Raises:
        PageError: its text is another one.
    """
    segments = single.of_spans([(span.start, span.end) for span in sheet.segments])
    html = sheet.html.encode("utf-8", "replace")
    return annotated_html.coloured_html(html, sheet.text, segments, lambda at: f"{CLASS}{at}", "")
