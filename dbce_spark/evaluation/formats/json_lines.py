"""The project's own format: one JSON object a line, plain or compressed."""

from collections.abc import Iterator

from dbce_spark.errors import InputError
from dbce_spark.evaluation.formats.entry import GoldEntry
from dbce_spark.files import jsonl

TEXTS = ("url", "site", "group", "url_key", "lang", "page_type", "dataset", "wayback_ts", "date", "gold_comments")
"""Fields that may be there, beside `id`, `html` and `gold`, which must."""


def entries(path: str) -> Iterator[GoldEntry]:
    """Iterate over the lines of a file, a page a line, its place such as "file:3".

    Raises:
        InputError: the file cannot be read, or a line is no gold page.
    """
    for place, fields in jsonl.read(path):
        for name in ("id", "html", "gold"):
            jsonl.field(fields, name, "a text", place)
        for name in TEXTS:
            if not isinstance(fields.get(name) or "", str):
                raise InputError(f"{place}: {name} must be a text, not {fields[name]!r}")
        yield GoldEntry(place, fields)
