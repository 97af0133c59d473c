"""Write main texts as plain text, a file a site: for reading, concordances and tools without JSON."""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import quote

import pyarrow as pa

from dbce_spark.archive.warc import site_of
from dbce_spark.export.documents import moment
from dbce_spark.files import storage

NEEDED = ("url", "timestamp", "text")
ALSO = ("site", "url_key", "capture_id")
"""Columns that are read where they are there."""

PAGE_BREAK = "\f"
"""The character that each page of a file begins with. No text has one: it is white space, and becomes a space."""

NO_SITE = "_no-site"
"""The name of what has no site. No site's is the same: theirs do not begin with "_"."""

_KEPT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")
_DIGEST_BYTES = 16
_ORDER = "site, url_key, rtrim(time, 'Z'), capture_id"
"""Without the Z, as the dot of a fraction sorts before it: 05:26:39.5Z comes behind 05:26:39Z."""


class SiteText(NamedTuple):
    """The text of a page with its heading."""

    site: str
    url_key: str
    time: str
    capture_id: str
    url: str
    text: str


def pages(batch: pa.RecordBatch, kind: str) -> Iterator[SiteText]:
    """Convert the rows of a batch, which has NEEDED. Where there are no sites, they are those of the URLs by `kind`,
    the `input.site` of the run: all pages of one are in one part, which alone writes its file."""
    for row in batch.select([name for name in (*NEEDED, *ALSO) if name in batch.schema.names]).to_pylist():
        yield SiteText(
            site=row["site"] if "site" in row else site_of(row["url"], kind),
            url_key=row.get("url_key", ""),
            time=moment(row["timestamp"]) or "",
            capture_id=row.get("capture_id", ""),
            url=row["url"],
            text=row["text"],
        )


def write(found: Iterable[SiteText], folder: str, name_bytes: int) -> None:
    """Write pages, in whatever order they come, to a file for each site, one file after the other.

    They lie on the local disk while they are sorted, and not in memory: a site's pages are anywhere among the others.
    """
    with TemporaryDirectory(prefix="dbce-export-") as disk, closing(_Sorted(Path(disk) / "pages.db")) as ordered:
        ordered.add(found)
        for site, of_site in groupby(ordered.pages(), key=attrgetter("site")):
            with storage.atomic_file(f"{folder}/{file_name(site, name_bytes)}.txt") as file:
                for page in of_site:
                    file.write(_written(page).encode())


def _written(page: SiteText) -> str:
    """Write a line with time and URL, then the text, then an empty line."""
    text = page.text.replace(PAGE_BREAK, " ")
    return f"{PAGE_BREAK}{page.time} {_printable(page.url)}\n{text}\n\n"


def _printable(url: str) -> str:
    """Write a URL on one line and in one word, whatever characters the archive has in it."""
    return "".join(one if one.isprintable() and not one.isspace() else quote(one) for one in url)


def file_name(site: str, most_bytes: int) -> str:
    """Build a name for the file of a site, in ASCII, of at most so many bytes, and no other site's, also where case
    does not count. Lower-case letters, digits, "-", "_" and "." stay, these two not in front; the rest is
    percent-encoded."""
    if not site:
        return NO_SITE
    spelled = "".join(
        one if one in _KEPT and (at or one not in "._") else "".join(f"%{byte:02X}" for byte in one.encode())
        for at, one in enumerate(site)
    )
    if len(spelled) <= most_bytes:
        return spelled
    digest = hashlib.blake2b(site.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{spelled[: most_bytes - len(digest) - 1]}~{digest}"


class _Sorted:
    """Pages on disk, sorted there."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        # What is lost when the machine stops is only this file, which then nobody asks for.
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(f"CREATE TABLE pages ({', '.join(f'{name} TEXT' for name in SiteText._fields)})")

    def add(self, found: Iterable[SiteText]) -> None:
        with self._database:
            self._database.execute("BEGIN")
            self._database.executemany(f"INSERT INTO pages VALUES ({', '.join('?' * len(SiteText._fields))})", found)
        # Sorted are the keys, not the texts.
        self._database.execute(f"CREATE INDEX in_order ON pages ({_ORDER})")

    def pages(self) -> Iterator[SiteText]:
        chosen = self._database.execute(f"SELECT * FROM pages INDEXED BY in_order ORDER BY {_ORDER}")
        yield from map(SiteText._make, chosen)

    def close(self) -> None:
        self._database.close()
