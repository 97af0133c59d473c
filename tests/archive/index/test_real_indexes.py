"""CDX and CDXJ that other programs wrote, against the archives they are of."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from dbce_spark.archive.index.byte_ranges import group_by_file
from dbce_spark.archive.index.capture_filter import FilterCounts
from dbce_spark.archive.index.fetch import Fetched, fetch
from dbce_spark.archive.index.index_entry import IndexEntry, moment
from dbce_spark.archive.records import Record, records
from dbce_spark.files.timestamps import digits as digits_of
from tests.support.builders import at_most
from tests.support.indexes import fetching, found_in

pytestmark = pytest.mark.data

FETCH = fetching(gap_bytes=1 << 16, span_bytes=32 << 20)
LIMIT = 64 << 20
RENAMED = {
    "IAH-20080430204825-00000-blackbook.warc.gz": "20080430-blackbook.warc.gz",
    "NAS-20100909163324-00000-mette.kb.dk.warc": "20100909-NAS-00000.warc",
}
CDX = "warc/cdx"
INDEXES = {
    # The CDX gives the warcinfo record a URL of its own making.
    f"{CDX}/blackbook__IAH-20080430204825-00000-blackbook.warc.gz.cdx": (
        "warc/archive.org",
        {"agrees": 821, "no URL": 1},
    ),
    f"{CDX}/nas__NAS-20100909163324-00000-mette.kb.dk.warc.cdx": ("warc/netarkivet.dk", {"agrees": 41}),
    f"{CDX}/outbackcdx__test1.cdx": ("torture/outbackcdx", {"agrees": 3}),
    f"{CDX}/outbackcdx__test2.cdx": ("torture/outbackcdx", {"agrees": 3}),
    f"{CDX}/smgov__index.cdxj": ("warc/santa-monica", {"agrees": 200}),
    "warc/quotes.toscrape.com/20241007-scrapy.wacz": ("", {"agrees": 101}),
    "torture/tika/testWACZ.wacz": ("", {"agrees": 1}),
}


@pytest.mark.parametrize("name", INDEXES)
def test_index(shared_data: Path, name: str) -> None:
    """Each line leads to one record, and to nothing else, whose URL and date are those of the line."""
    base, expected = INDEXES[name]
    counts = FilterCounts()
    found = found_in(str(shared_data / name), base=str(shared_data / base) if base else "", counts=counts)
    entries = [replace(one, path=_renamed(one.path)) for one in found if isinstance(one, IndexEntry)]
    files, duplicates = group_by_file(entries)
    actual = Counter(_outcome_of(one) for path, some in files.items() for one in fetch(path, some, FETCH, LIMIT))

    assert expected == actual
    assert (0, counts.read, {}) == (duplicates, counts.selected, counts.faults)


def _renamed(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{RENAMED.get(name, name)}"


def _outcome_of(found: object) -> str:
    if not isinstance(found, Fetched):
        return "not fetched"
    read = list(records(found.stream(), at_most(record_bytes=LIMIT)))
    record = read[0] if len(read) == 1 else None
    if not isinstance(record, Record):
        return f"{len(read)} parts"
    if not record.url:
        return "no URL"
    digits = "".join(filter(str.isdigit, record.date))[:14]
    agrees = (record.url, digits_of(moment(digits))) == (
        found.entry.url,
        digits_of(found.entry.timestamp),
    )
    return "agrees" if agrees else "another record"
