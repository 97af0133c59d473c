"""Take pages that left one store into another."""

import json
from pathlib import Path
from typing import Any

import pytest

from dbce_spark.annotation.markup import page_file
from dbce_spark.annotation.store import sheet_import, store_export, stored_pages, workbench_store
from dbce_spark.annotation.store.workbench_store import Connection
from dbce_spark.errors import InputError
from tests.support.annotation_stores import SETTINGS
from tests.support.builders import CONFIG


def test_pages_that_left_a_store_can_come_into_another(opened: Connection, tmp_path: Path) -> None:
    """Imported pages have the same segments, so that submissions of them are of the same text."""
    store_export.export(str(tmp_path / "labels.db"), str(tmp_path / "out"), "", CONFIG)
    other = str(tmp_path / "other.db")
    taken = [
        str(sheet_import.import_pages(other, [str(tmp_path / "out" / "pages.jsonl")], [], CONFIG, SETTINGS))
        for _ in range(2)
    ]
    there = workbench_store.open_store(other)
    digests = [
        {one.page: one.text_digest for one in stored_pages.read_kind(each, stored_pages.CORPUS)}
        for each in (opened, there)
    ]
    outlines = [
        {one.page: one.outline for one in stored_pages.read_kind(each, stored_pages.CORPUS)} for each in (opened, there)
    ]
    there.close()

    assert ["4 pages added", "0 pages added; 4 were there already"] == taken
    assert digests[0] == digests[1]
    assert outlines[0] == outlines[1]


def test_a_page_whose_text_is_not_its_own_is_refused(tmp_path: Path) -> None:
    """A page whose segments have no place in its text is refused."""
    wrong = page_file.Sheet(page="one", html="<p>One</p>", text="Two", segments=())
    page_file.write(str(tmp_path / "pages.jsonl"), [wrong])

    with pytest.raises(InputError, match="page one: its text differs from its HTML"):
        sheet_import.import_pages(str(tmp_path / "labels.db"), [str(tmp_path / "pages.jsonl")], [], CONFIG, SETTINGS)


def test_a_page_with_half_of_a_character_is_named(tmp_path: Path) -> None:
    """JSON can have one, as an escape, and a store cannot: it was a stack."""
    sheet = '{"id": "one", "url": "http://a.example/\\ud800", "html": "<p>One</p>", "text": "One", "segments": %s}'
    (tmp_path / "pages.jsonl").write_text(sheet % '[["/html[1]/body[1]/p[1]", 0, 3]]', encoding="utf-8")

    with pytest.raises(InputError, match=r"the page 'one' cannot be stored: .*surrogates not allowed; correct"):
        sheet_import.import_pages(str(tmp_path / "labels.db"), [str(tmp_path / "pages.jsonl")], [], CONFIG, SETTINGS)


def test_neighbours_of_a_page_with_other_segments_are_refused(tmp_path: Path) -> None:
    """They would have the numbers of nodes that the page in the store does not have."""
    page = {"id": "one", "url": "http://a.example/", "html": "<p>One two</p>", "text": "One two"}
    near = {"up": {"url": "http://a.example/b", "date": "", "html": "<p>One six</p>"}}
    place, store = "/html[1]/body[1]/p[1]", str(tmp_path / "labels.db")
    lines: list[dict[str, Any]] = [
        {"segments": [[place, 0, 7]]},
        {"segments": [[place, 0, 4], [place, 4, 7]], "neighbours": near},
    ]
    for name, line in zip("ab", lines, strict=True):
        (tmp_path / name).write_text(json.dumps({**page, **line}) + "\n", encoding="utf-8")
    sheet_import.import_pages(store, [str(tmp_path / "a")], [], CONFIG, SETTINGS)

    with pytest.raises(InputError, match="the page 'one' is in the store with other segments"):
        sheet_import.import_pages(store, [str(tmp_path / "b")], [], CONFIG, SETTINGS)
