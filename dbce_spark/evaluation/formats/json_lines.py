"""The project's own format: one JSON object a line, plain or compressed."""

import json
import lzma
import zlib
from collections.abc import Iterator
from typing import Any

from dbce_spark.archive import sources
from dbce_spark.errors import InputError
from dbce_spark.evaluation.formats.entry import Entry

TEXTS = ("url", "site", "group", "url_key", "lang", "page_type", "dataset", "wayback_ts", "date")
"""Fields that may be there, beside `id`, `html` and `gold`, which must."""


def entries(path: str) -> Iterator[Entry]:
    """A page a line, its place such as "file:3".

    Raises:
        InputError: the file cannot be read, or a line is no gold page.
    """
    number = 0
    try:
        with sources.plain(path) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    place = f"{path}:{number}"
                    yield Entry(place, _object(line, place))
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read behind line {number}: {error}") from error


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place}: no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise InputError(f"{place}: a JSON {type(fields).__name__}, not an object with id, html and gold")
    for name in ("id", "html", "gold"):
        if not isinstance(fields.get(name), str):
            raise InputError(f"{place}: {name} must be a text, not {fields.get(name)!r}")
    for name in TEXTS:
        if not isinstance(fields.get(name) or "", str):
            raise InputError(f"{place}: {name} must be a text, not {fields[name]!r}")
    return fields
