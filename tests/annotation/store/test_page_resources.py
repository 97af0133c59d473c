"""What pages load, copied out of an archive: as each page of whatever time had it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dbce_spark.annotation.store import page_resources, resource_index, workbench_store
from dbce_spark.annotation.store.page_resources import Need, Resource
from dbce_spark.annotation.store.workbench_store import Connection
from tests.support.annotation_stores import SETTINGS
from tests.support.builders import CONFIG, archive, http, microseconds, record

SITE = "http://www.example.org"
DIGEST, OTHER = (f"sha1:{letter * 32}" for letter in "AB")
EARLY, LATE = (microseconds(f"{year}-01-01T00:00:00Z") for year in (2010, 2020))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Connection]:
    workbench_store.create(str(tmp_path / "labels.db"))
    found = workbench_store.open_store(str(tmp_path / "labels.db"))
    yield found
    found.close()


def css(name: str, year: int, content: str, digest: str = DIGEST) -> bytes:
    """Return the record of a style sheet."""
    block = http(content, content_type="text/css")
    return record(block, url=f"{SITE}/{name}", date=f"{year}-01-01T00:00:00Z", WARC_Payload_Digest=digest)


def revisit(name: str, year: int) -> bytes:
    """Return the record of a revisit of DIGEST."""
    date = f"{year}-01-01T00:00:00Z"
    return record(http(b""), url=f"{SITE}/{name}", date=date, kind="revisit", WARC_Payload_Digest=DIGEST)


def shown(opened: Connection, path: str, loads: list[tuple[str, int]], url: str, timestamp: int) -> Resource | None:
    """Copy what style sheets of these names and times need out of an archive; return what one is shown as."""
    index = resource_index.build_index([path], CONFIG.input)
    needs = [Need(f"{SITE}/{name}", moment, "style") for name, moment in loads]
    page_resources.copy(opened, index, needs, CONFIG.input, SETTINGS)
    return page_resources.nearest(opened, f"{SITE}/{url}", timestamp)


def test_revisit_of_what_two_urls_share(tmp_path: Path, opened: Connection) -> None:
    """A style sheet that a revisit repeats is found under the URL of the revisit, and is its own where it can be."""
    path = archive(tmp_path / "a.warc", css("a.css", 2010, "a{}"), css("b.css", 2011, "b{}"), revisit("b.css", 2020))
    found = shown(opened, path, [("b.css", LATE)], "b.css", LATE)

    assert found is not None
    assert (b"b{}", f"{SITE}/b.css", LATE) == (found.body, found.url, found.timestamp)


def test_revisit_of_what_another_url_has(tmp_path: Path, opened: Connection) -> None:
    """A payload that is stored under another URL alone is shown under the URL of its revisit."""
    path = archive(tmp_path / "a.warc", css("a.css", 2010, "a{}"), revisit("b.css", 2020))
    found = shown(opened, path, [("b.css", LATE)], "b.css", LATE)

    assert found is not None
    assert (b"a{}", f"{SITE}/b.css") == (found.body, found.url)


def test_revisit_is_shown_at_its_time(tmp_path: Path, opened: Connection) -> None:
    """A page of the time of a revisit loads what that repeats, though another answer came between."""
    path = archive(
        tmp_path / "a.warc", css("a.css", 2010, "old"), css("a.css", 2015, "new", OTHER), revisit("a.css", 2020)
    )
    between = microseconds("2015-01-01T00:00:00Z")
    found = shown(opened, path, [("a.css", between), ("a.css", LATE)], "a.css", LATE)

    assert found is not None
    assert b"old" == found.body


def test_redirect_of_another_url(tmp_path: Path, opened: Connection) -> None:
    """All redirects have an empty body: a revisit of one does not lead to the target of another."""
    redirect = http("", status="302 Found", headers={"Location": "/elsewhere"})
    path = archive(
        tmp_path / "a.warc", record(redirect, url=f"{SITE}/a.css", WARC_Payload_Digest=DIGEST), revisit("b.css", 2020)
    )

    assert shown(opened, path, [("b.css", LATE)], "b.css", LATE) is None


@pytest.mark.parametrize("moment", [EARLY, LATE])
def test_style_sheet_of_pages_of_two_times(tmp_path: Path, opened: Connection, moment: int) -> None:
    """Each page loads the import of its own time, though the sheet that names it was archived once."""
    path = archive(
        tmp_path / "a.warc",
        css("a.css", 2015, '@import "b.css";'),
        css("b.css", 2010, "2010", OTHER),
        css("b.css", 2020, "2020", OTHER),
    )
    found = shown(opened, path, [("a.css", EARLY), ("a.css", LATE)], "b.css", moment)

    assert found is not None
    assert moment == found.timestamp
