"""Revisits whose originals are not known yet."""

from typing import Any

from dbce_spark.model import Revisit
from tests.support.builders import URL, capture, microseconds


def day(nth: int) -> str:
    """The date of a day of January 2020."""
    return f"2020-01-{nth:02}T00:00:00Z"


def unresolved_revisit(**fields: Any) -> Revisit:
    """A revisit of URL on the tenth."""
    known: dict[str, Any] = {
        "url": URL,
        "url_key": capture().url_key,
        "site": "example.org",
        "timestamp": microseconds(day(10)),
        "warc_file": "b.warc.gz",
        "warc_offset": 7,
        "warc_length": 100,
        "record_id": "<urn:uuid:revisit>",
        "http_status": 200,
        "is_unmodified": False,
        "digest": "",
        "refers_to_id": "",
        "refers_to_key": capture().url_key,
        "refers_to_time": None,
    }
    return Revisit(**(known | fields))
