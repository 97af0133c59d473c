"""CDX: lines of fields in an order that a legend declares (iipc.github.io, "The CDX File Format", 2006 and 2015)."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from dbce_spark.archive.index.index_entry import IndexEntry, NoEntry, entry_of

Parse = Callable[[str], IndexEntry | None]
"""Reads a line: its entry, or None where it tells about the file. Raises NoEntry for one that is neither."""

_NAMES = {
    "N": "urlkey",  # massaged URL
    "A": "canonized",
    "b": "timestamp",
    "a": "url",
    "m": "mime",
    "s": "status",
    "k": "digest",  # new style checksum
    "c": "old_digest",
    "S": "length",  # compressed record size
    "V": "offset",  # in the compressed file
    "v": "plain_offset",  # in the uncompressed file
    "g": "filename",
}
"""The letters of a legend that matter here, by the names of CDXJ; the others are passed over."""

_LEGEND = re.compile(r"(\W?)CDX(\W)((?:\S(?:\2|$))+)\s*")
_BY_COUNT = {
    9: "N b a m s k r V g",
    10: "N b a m s k r M V g",
    11: "N b a m s k r M S V g",
    # OutbackCDX adds where the record lay before it was moved.
    14: "N b a m s k r M S V g - - -",
}
"""The fields of a file without legend, by the number of fields in a line."""


@dataclass(frozen=True, slots=True)
class Legend:
    """The order of the fields, and what stands between them."""

    separator: str
    letters: tuple[str, ...]


def legend_of(line: str) -> Legend | None:
    """Parse the legend that a line declares: the separator, "CDX", and letters between separators. None: not a
    legend."""
    found = _LEGEND.fullmatch(line)
    if found is None or (found[1] and found[1] != found[2]):
        return None
    return Legend(found[2], tuple(found[3].strip(found[2]).split(found[2])))


def guess_legend(line: str) -> Legend | None:
    """Guess the legend of a line in a file that declares none, by counting its fields; None for any other number."""
    letters = _BY_COUNT.get(line.count(" ") + 1)
    return None if letters is None else Legend(" ", tuple(letters.split(" ")))


def reader() -> Parse:
    """Return a function that reads line after line of one file. None: the line is a legend, which holds for the lines
    behind it.

    The function raises NoEntry for a line that is neither.
    """
    declared: Legend | None = None

    def read(line: str) -> IndexEntry | None:
        nonlocal declared
        if found := legend_of(line):
            declared = found
            return None
        legend = declared or guess_legend(line)
        if legend is None:
            raise NoEntry(f"{line.count(' ') + 1} fields and no legend")
        return _entry(line, legend)

    return read


def _entry(line: str, legend: Legend) -> IndexEntry:
    values = line.split(legend.separator)
    if len(values) != len(legend.letters):
        raise NoEntry(f"{len(values)} fields where the legend has {len(legend.letters)}")
    fields = {_NAMES[letter]: value for letter, value in zip(legend.letters, values, strict=True) if letter in _NAMES}
    for name, older in (("urlkey", "canonized"), ("digest", "old_digest"), ("offset", "plain_offset")):
        if fields.get(name, "-") == "-" and older in fields:
            fields[name] = fields[older]
    return entry_of(fields)
