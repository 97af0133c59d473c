"""Import pages from archives by filters, whole, and with all that they load."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbce_spark.annotation.store import (
    page_import,
    page_resources,
    resource_index,
    stored_pages,
    wanted_pages,
    workbench_store,
)
from dbce_spark.annotation.store.page_import import AddedPages
from dbce_spark.annotation.store.page_resources import Need
from dbce_spark.annotation.store.resource_index import NearestCapture
from dbce_spark.annotation.store.workbench_store import Connection
from dbce_spark.archive.records import Record
from dbce_spark.errors import InputError
from tests.support.annotation_stores import DOT, SETTINGS, crawl, filled, wanted
from tests.support.builders import CONFIG, archive, http, microseconds, record

MOMENT = microseconds("2020-01-01T00:00:00Z")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, AddedPages]:
    """Make the store of an archive; return its path and the counts of the import."""
    return filled(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def opened(made: tuple[str, AddedPages]) -> Iterator[Connection]:
    found = workbench_store.open_store(made[0])
    yield found
    found.close()


def urls(path: str) -> list[str]:
    """Return the URLs of a store's pages, sorted."""
    found = workbench_store.open_store(path)
    try:
        return sorted(page.url for page in stored_pages.read_kind(found, stored_pages.CORPUS))
    finally:
        found.close()


ONE, TWO, SHORT = (f"http://geese.example/{name}" for name in ("one", "two", "short"))
POND = "http://pond.example/"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, [ONE, TWO, POND, POND]),
        ({"min_words": 10}, [ONE, SHORT, TWO, POND, POND]),
        ({"max_words": 400, "min_words": 10}, [SHORT]),
        ({"sites": ("pond.example",)}, [POND, POND]),
        ({"sites": ("\uff30ond.example",)}, [POND, POND]),
        ({"urls": ("/tw[oO]$",)}, [TWO]),
        ({"languages": ("en",), "urls": ("one",)}, [ONE]),
        ({"languages": ("eng",), "urls": ("one",)}, [ONE]),
        ({"languages": ("de", "en-GB"), "urls": ("one",)}, [ONE]),
        ({"whole_sites": True, "urls": ("/one$",)}, [ONE, TWO]),
        ({"listed": {"example,geese)/short": SHORT}}, [SHORT]),
    ],
)
def test_pages_are_chosen_by_what_they_are(tmp_path: Path, fields: dict[str, object], expected: list[str]) -> None:
    """Pages are chosen by words, site, URL and language, by whole sites with their snapshots, or by a list."""
    assert expected == urls(filled(tmp_path, **fields)[0])


def test_pages_of_a_list_fit_whatever_their_words(tmp_path: Path) -> None:
    """As many fit as are taken: the filters of words are not asked."""
    _, added = filled(tmp_path, listed={"example,geese)/short": SHORT})
    assert (1, 1) == (added.fit, added.added)


@pytest.mark.parametrize(
    ("fields", "count"), [({"one_per_site": True}, 2), ({"sample": 3}, 3), ({"sample": 1, "whole_sites": True}, 1)]
)
def test_a_sample_is_the_same_whatever_the_order_of_records(
    tmp_path: Path, fields: dict[str, object], count: int
) -> None:
    """The sample depends on the seed, not on the order of records."""
    path = crawl(tmp_path / "crawl.warc")
    records = Path(path).read_bytes().split(b"WARC/1.0\r\n")[1:]
    turned = archive(tmp_path / "turned.warc", *(b"WARC/1.0\r\n" + one for one in reversed(records)))
    stores = [str(tmp_path / name) for name in ("a.db", "b.db")]
    for name, source in zip(stores, (path, turned), strict=True):
        page_import.add(name, page_import.read([source], CONFIG), wanted(**fields), CONFIG, SETTINGS)

    assert urls(stores[0]) == urls(stores[1])
    sites = {url.split("/")[2] for url in urls(stores[0])}
    assert count == (len(sites) if "whole_sites" in fields else len(urls(stores[0])))


def test_a_page_is_kept_as_it_was_archived(opened: Connection) -> None:
    """The record's head and block are kept byte by byte, and the HTML in UTF-8 beside them."""
    page = next(one for one in stored_pages.read_kind(opened, stored_pages.CORPUS) if one.url == TWO)
    head = json.loads(page.head)

    assert (TWO, "response") == (head["warc-target-uri"], head["warc-type"])
    assert page.record.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<!DOCTYPE html>")
    assert stored_pages.archived_html(page, CONFIG) == page.record.partition(b"\r\n\r\n")[2]


def test_segments_are_those_that_the_method_cuts(opened: Connection) -> None:
    """Segments are in page order, without a gap in the words, with one leaf of the outline each."""
    for page in stored_pages.read_kind(opened, stored_pages.CORPUS):
        texts = [page.text[unit.start : unit.end] for unit in page.units]

        assert page.text.split() == " ".join(texts).split()
        assert len(page.units) == len(page.outline.leaves) == len({*page.outline.leaves})


def test_a_page_in_another_charset_is_in_utf_8(tmp_path: Path) -> None:
    """The HTML is in UTF-8, and the record stays as it was."""
    html = f"<html><body><p>{'Größe zählt überall. ' * 200}</p></body></html>".encode("latin-1")
    block = http(html, content_type="text/html; charset=iso-8859-1")
    path = str(tmp_path / "labels.db")
    page_import.add(
        path, page_import.read([archive(tmp_path / "a.warc", record(block))], CONFIG), wanted(), CONFIG, SETTINGS
    )
    found = workbench_store.open_store(path)
    (page,) = stored_pages.read_kind(found, stored_pages.CORPUS)
    found.close()

    assert (block, True, True) == (page.record, "Größe" in page.text, "Größe" in page.html)


def test_all_that_a_page_loads_is_copied_and_nothing_else(made: tuple[str, AddedPages], opened: Connection) -> None:
    """Style sheets and their imports, frames and their resources, and pictures behind a redirect are copied."""
    found = [row["url"].rpartition("/")[2] for row in opened.execute("SELECT url FROM resources ORDER BY url")]

    assert ["dot.png", "frame.html", "more.css", "moved.png", "style.css"] == found
    assert len(found) == made[1].resources


def test_a_redirect_is_followed(opened: Connection) -> None:
    """The resource at the end of a redirect is shown."""
    found = page_resources.nearest(opened, "http://geese.example/pictures/moved.png", MOMENT)

    assert found is not None
    assert DOT == found.body


def test_a_page_loads_what_was_archived_nearest_to_it(tmp_path: Path) -> None:
    """The capture of the same hour is taken out of three of a style sheet."""
    dates = ("2019-01-01T00:00:00Z", "2020-01-01T00:30:00Z", "2020-06-01T00:00:00Z")
    url = "http://www.example.org/a.css"
    sheets = [http(f"/* {date} */", content_type="text/css") for date in dates]
    captures = (record(block, url=url, date=date) for block, date in zip(sheets, dates, strict=True))
    path = archive(tmp_path / "a.warc", *captures)
    index = resource_index.build_index([path], CONFIG.input)
    workbench_store.create(str(tmp_path / "labels.db"))
    opened = workbench_store.open_store(str(tmp_path / "labels.db"))
    page_resources.copy(opened, index, [Need(url, MOMENT, "style")], CONFIG.input, SETTINGS)
    found = page_resources.nearest(opened, url, MOMENT)
    opened.close()

    assert found is not None
    assert f"/* {dates[1]} */" == found.body.decode()


def test_a_revisit_is_shown_as_what_it_repeats(tmp_path: Path) -> None:
    """A picture that was not stored again comes from its earlier record."""
    digest = "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    url, late = "http://www.example.org/a.png", "2020-01-01T00:00:00Z"
    path = archive(
        tmp_path / "a.warc",
        record(http(DOT, content_type="image/png"), url=url, date="2010-01-01T00:00:00Z", WARC_Payload_Digest=digest),
        record(http(b""), url=url, date=late, kind="revisit", WARC_Payload_Digest=digest),
    )
    index = resource_index.ResourceIndex()
    for one in resource_index.read_records(path, CONFIG.input):
        index.add(one, path)

    assert NearestCapture(microseconds(late), (path, "", 0)) == index.nearest(url, microseconds(late))


def test_adding_again_adds_what_is_new(tmp_path: Path) -> None:
    """A second import leaves existing pages as they are."""
    path, first = filled(tmp_path, urls=("one",))
    again = page_import.add(path, page_import.read([str(tmp_path / "crawl.warc")], CONFIG), wanted(), CONFIG, SETTINGS)

    assert (1, 3, 1) == (first.added, again.added, again.there)


def test_pages_come_the_same_however_many_are_copied_at_once(tmp_path: Path) -> None:
    """Pages and all that they load are copied once each, for every size of a transaction."""
    found = []
    for at, size in enumerate((1, 3, 200)):
        path = str(tmp_path / f"{at}.db")
        few = replace(SETTINGS, pages_at_once=size)
        added = page_import.add(path, page_import.read([crawl(tmp_path / "crawl.warc")], CONFIG), wanted(), CONFIG, few)
        opened = workbench_store.open_store(path)
        there = [
            [*map(tuple, opened.execute(f"SELECT * FROM {table} ORDER BY 1, 2"))] for table in ("bodies", "resources")
        ]
        some = [
            (one.page, one.record, one.html, one.units) for one in stored_pages.read_kind(opened, stored_pages.CORPUS)
        ]
        opened.close()
        found.append((added, there, some))

    assert found[0] == found[1] == found[2]
    assert (4, 5) == (found[0][0].added, found[0][0].resources)


def test_others_can_write_while_archives_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading takes minutes, and nobody who labels waits for its end."""
    path = str(tmp_path / "labels.db")
    workbench_store.create(path)
    other = sqlite3.connect(path, timeout=0, isolation_level=None)
    read_records = resource_index.read_records
    writes: list[int] = []

    def watched(*given: Any) -> Iterator[Record]:
        writes.append(other.execute("INSERT INTO settings VALUES (?, '')", (str(len(writes)),)).rowcount)
        yield from read_records(*given)

    monkeypatch.setattr(resource_index, "read_records", watched)
    _, added = filled(tmp_path)
    other.close()

    assert (4, 5) == (added.added, added.resources)
    assert len(writes) > 3


def test_others_can_write_while_pages_are_read(tmp_path: Path) -> None:
    """An export, or a browser that renders all pages, takes one after the other, and minutes."""
    path, _ = filled(tmp_path)
    opened = workbench_store.open_store(path)
    reading = stored_pages.read_kind(opened, stored_pages.CORPUS)
    next(reading)
    other = sqlite3.connect(path, timeout=0, isolation_level=None)
    other.execute("INSERT INTO settings VALUES ('a', '')")
    other.close()

    assert 3 == len([*reading])
    opened.close()


def test_what_can_not_be_had_is_named(tmp_path: Path) -> None:
    """A listed URL that no archive has, and filters that no page fits, are errors; no store is left behind."""
    (tmp_path / "list.txt").write_text("# wanted\nhttp://geese.example/none\n", encoding="utf-8")
    listed = wanted_pages.read_list(str(tmp_path / "list.txt"))

    with pytest.raises(InputError, match="1 of the listed URLs are in no archive, such as http://geese"):
        filled(tmp_path, listed=listed)
    with pytest.raises(InputError, match=r"none of the 6 pages fits; 0 of them .*; change --min-words or --max-words$"):
        filled(tmp_path, min_words=5000)
    with pytest.raises(InputError, match=r"; 4 of them have .*; change --min-words, --max-words or --site$"):
        filled(tmp_path, sites=("no.example",))
    with pytest.raises(InputError, match="'a\\[' is no regular expression"):
        filled(tmp_path, urls=("a[",))
    assert not (tmp_path / "labels.db").exists()
