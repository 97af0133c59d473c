"""A page with every segment in a `<dbce>` element, as listing 2.10 of the thesis shows it."""

from lxml import html

from dbce_spark.dbce.kept.annotated_html import wrap
from dbce_spark.html.dom import parse_tree
from dbce_spark.model import ARMS, Segments, arm_bit


def occurrence_html(utf8_html: bytes, page_text: str, segments: Segments) -> str:
    """Render the page with every segment in a `<dbce class="dbce-cur dbce-up">` that names its arms (listing 2.10)."""

    def markup(at: int) -> tuple[str, str]:
        return "dbce", " ".join(f"dbce-{arm}" for arm in ARMS if segments.bits[at] & arm_bit(arm))

    root = parse_tree(utf8_html)
    wrap(root, page_text, segments, markup)
    return str(html.tostring(root, encoding="unicode"))
