"""A sample page shows the extracted text, and in a tab the Markdown that the run wrote."""

from datetime import UTC, datetime
from typing import Any

import pytest
from lxml import html as lxml_html

from dbce_spark.report.page_views import View
from dbce_spark.report.report_templates import environment

ROW = {
    "url": "http://a.example/", "title": "t", "site": "a.example", "timestamp": datetime(2026, 3, 1, tzinfo=UTC),
    "warc_file": "a.warc", "warc_offset": 0, "warc_length": 9, "http_status": 200, "mime": "text/html", "record_id": "",
    "charset": "utf-8", "charset_source": "http", "flags": [], "status": "single", "template_id": "", "text": "one",
    "words": 1, "text_words": 1, "confidence": None, "page_type": None,
}  # fmt: skip


@pytest.mark.parametrize(("markdown", "tabs"), [("# one <b>", ["Extracted text", "Markdown"]), (None, [])])
def test_markdown_is_a_tab_beside_the_text(markdown: str | None, tabs: list[str]) -> None:
    """Escaped, and no tab where there is none."""
    view = View(
        name="01", why="", row=ROW | {"markdown": markdown}, document="", note="", segments=[], shares={}, cross=None,
        arms=[],
    )  # fmt: skip
    page: Any = lxml_html.fromstring(environment().get_template("page.html.j2").render(view=view))

    assert tabs == [label.text for label in page.iter("label")]
    assert ([] if markdown is None else [markdown]) == [one.text_content() for one in page.find_class("markdown")]
