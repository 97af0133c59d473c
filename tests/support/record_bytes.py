"""Archives in memory, read whole, and the URLs of their records."""

import io

from dbce_spark.archive.records import Damage, Limits, Record, records
from tests.support.builders import at_most

LIMITS = at_most(record_bytes=1 << 20)


def read(content: bytes, limits: Limits = LIMITS) -> list[Record | Damage]:
    """Read all of an archive, and check that its parts cover it."""
    found = list(records(io.BytesIO(content), limits))
    at = 0
    for one in found:
        assert (at, True) == (one.offset, one.length >= 0), one
        at += one.length
    assert len(content) == at
    return found


def urls(found: list[Record | Damage]) -> list[str]:
    """The URLs of the records among some parts."""
    return [one.url for one in found if isinstance(one, Record)]


def url(nth: int) -> str:
    """The URL of the nth record."""
    return f"http://www.example.org/{nth}"
