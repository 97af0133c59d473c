"""Pages of a store: their HTML as it was archived."""

from pathlib import Path

import pytest

from dbce_spark.annotation.store import page_import, stored_pages, workbench_store
from tests.support.annotation_stores import SETTINGS, wanted
from tests.support.builders import CONFIG, archive, http, record

TEXT = f"<html><body><p>{'Größe zählt überall. ' * 200}</p></body></html>"
MAC = "text/html; charset=macintosh"


@pytest.mark.parametrize(
    ("kind", "is_http"),
    [("response", True), ("Response", True), ("resource", True), ("resource", False), ("conversion", False)],
)
def test_html_is_decoded_as_the_page_was(tmp_path: Path, kind: str, is_http: bool) -> None:
    """The charset is that of the head that a record of this kind has: HTTP's, or the record's own."""
    body = TEXT.encode("mac_roman")
    content_type, block = ("application/http", http(body, content_type=MAC)) if is_http else (MAC, body)
    path = str(tmp_path / "labels.db")
    stored = archive(tmp_path / "a.warc", record(block, kind=kind, Content_Type=content_type))
    page_import.add(path, page_import.read([stored], CONFIG), wanted(), CONFIG, SETTINGS)
    opened = workbench_store.open_store(path)
    (page,) = stored_pages.read_kind(opened, stored_pages.CORPUS)
    opened.close()

    assert TEXT == stored_pages.archived_html(page, CONFIG).decode()
