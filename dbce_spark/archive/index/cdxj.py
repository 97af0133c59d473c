"""CDXJ: a key, a date and a JSON object a line, as pywb, Common Crawl, WACZ, OpenWayback and index servers write it."""

import json
import re
from typing import Any

from dbce_spark.archive.index.index_entry import REVISIT_MIME, IndexEntry, NoEntry, entry_of

# Index servers answer with objects alone; OpenWayback writes dates as in a WARC, and the kind of record behind them.
_LINE = re.compile(r"(?:(\S+) ([\dT:.Z-]+) (?:([a-z]+) )?)?(\{.*\})")
_OPENWAYBACK = {
    "uri": "url",
    "mct": "mime",
    "hsc": "status",
    "sha": "digest",
    "rle": "length",
}
"""Names of OpenWayback's CDXJ (2015), by ours."""


def read(line: str) -> IndexEntry | None:
    """Parse the entry of a line; None for a blank line and for one about the file ("!meta", "!OpenWayback-CDXJ").

    Raises:
        NoEntry: neither.
    """
    if not line.strip() or line.startswith("!"):
        return None
    found = _LINE.fullmatch(line.strip())
    if found is None:
        raise NoEntry("not a key, a date and a JSON object")
    key, date, kind, written = found.groups()
    try:
        fields: dict[str, Any] = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise NoEntry(f"JSON: {error}") from error
    fields = {_OPENWAYBACK.get(name, name): _text(value) for name, value in fields.items()}
    if key:
        fields |= {"urlkey": key, "timestamp": date if date.isdigit() else "".join(filter(str.isdigit, date))}
    if kind == "revisit":
        fields["mime"] = REVISIT_MIME
    return entry_of(_placed(fields))


def _text(value: Any) -> Any:
    """Replace halves of surrogate pairs, which JSON can write but no file name, table or hash takes."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) and not value.isascii() else value


def _placed(fields: dict[str, Any]) -> dict[str, Any]:
    """Split the place of OpenWayback, "warcfile:NAME#OFFSET", into file name and offset."""
    reference = fields.get("ref")
    if "filename" in fields or not isinstance(reference, str):
        return fields
    name, _, offset = reference.removeprefix("warcfile:").rpartition("#")
    return fields | {"filename": name, "offset": offset}
