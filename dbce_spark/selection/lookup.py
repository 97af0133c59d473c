"""The originals of revisits, by what a revisit says of them: URL and date, or digest of the payload."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from dbce_spark.selection import cdx, cdxj
from dbce_spark.selection.cdx import Parse
from dbce_spark.selection.entry import Entry, NoEntry, normal_digest, second
from dbce_spark.selection.lines import LONGEST_LINE
from dbce_spark.selection.sorted_file import first_not_before
from dbce_spark.selection.urls import url_key

_MOST_LINES = 100_000
"""Lines of one key that a look-up reads at most: captures of one URL, far more than any archive holds."""


def by_date(url: str, timestamp: int) -> str:
    """What the original of a revisit is known by: the key of WARC-Refers-To-Target-URI, the second of -Date."""
    return f"{url_key(url)} {second(timestamp)}"


def by_digest(digest: str) -> str:
    """What the original of a revisit is known by without a date: WARC-Payload-Digest."""
    return normal_digest(digest)


@dataclass(slots=True)
class Originals:
    """The originals of known revisits, found in one pass over an index in any order.

    `want` names each before the pass; at most `most` names are held, some 200 bytes each and an entry when found.
    """

    most: int
    refused: int = 0  # names beyond `most`
    _found: dict[str, Entry | None] = field(default_factory=dict)

    def want(self, name: str) -> bool:
        """Remembers a name of `by_date` or `by_digest`; False: there are too many."""
        if name not in self._found and len(self._found) >= self.most:
            self.refused += 1
            return False
        self._found.setdefault(name, None)
        return True

    def offer(self, entry: Entry) -> None:
        """Keeps an entry if it is one of those wanted: the earliest of several. A revisit is no original."""
        if entry.is_revisit:
            return
        for name in {entry.digest, f"{_key(entry)} {second(entry.timestamp)}"} & self._found.keys():
            before = self._found[name]
            if before is None or _rank(entry) < _rank(before):
                self._found[name] = entry

    def find(self, name: str) -> Entry | None:
        return self._found.get(name)


def _key(entry: Entry) -> str:
    return entry.urlkey if ")" in entry.urlkey else url_key(entry.url)


def _rank(entry: Entry) -> tuple[int, str, int]:
    return entry.timestamp, entry.filename, entry.offset


def find(stream: BinaryIO, size: int, url: str, timestamp: int) -> Entry | None:
    """The original with this URL and second in a sorted CDX or CDXJ file (plain, with SURT keys), by binary search.

    None: it is not there. `sorted_file.is_sorted` tells whether the file allows this.
    """
    key, date = url_key(url), second(timestamp)
    found = [entry for entry in _of_key(stream, size, key, date) if not entry.is_revisit]
    return min(found, key=_rank, default=None)


def _of_key(stream: BinaryIO, size: int, key: str, date: str) -> Iterator[Entry]:
    parse = _parser(stream)
    start = f"{key} {date}".encode()
    stream.seek(first_not_before(stream, size, start))
    for _ in range(_MOST_LINES):
        line = stream.readline(LONGEST_LINE)
        if not line.startswith(start):
            return
        try:
            entry = parse(line.decode("utf-8", "replace").rstrip("\r\n"))
        except NoEntry:
            continue
        if entry is not None:
            yield entry


def _parser(stream: BinaryIO) -> Parse:
    """How the lines of a file are read: by the legend on its first line, else by what each line looks like."""
    stream.seek(0)
    first = stream.readline(LONGEST_LINE).decode("utf-8", "replace").rstrip("\r\n")
    read = cdx.reader()
    if cdx.legend_of(first):
        read(first)
        return read
    return lambda line: cdxj.read(line) if "{" in line else read(line)


def originals(entries: Iterable[Entry], names: Iterable[str], most: int) -> dict[str, Entry]:
    """The originals with these names among the entries."""
    pool = Originals(most)
    wanted = [name for name in names if pool.want(name)]
    for entry in entries:
        pool.offer(entry)
    return {name: found for name in wanted if (found := pool.find(name)) is not None}
