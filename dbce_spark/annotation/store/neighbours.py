"""Store the neighbours of a cross, which are shown beside its page while that is labelled (thesis 4.1)."""

from collections.abc import Iterable
from dataclasses import dataclass

from dbce_spark.annotation.markup import numbered_markup
from dbce_spark.annotation.markup.cross_tasks import TaskNeighbour
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.annotation.store.workbench_store import Connection
from dbce_spark.archive.record_date import parse_record_date
from dbce_spark.model import ARMS


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNeighbour:
    """A neighbour of a page."""

    arm: str
    url: str
    timestamp: int  # microseconds since 1970-01-01 UTC; 0 if unknown
    html: str  # with a node's number on each element at the place of a block of the page


def make_neighbour(page: StoredPage, arm: str, near: TaskNeighbour) -> StoredNeighbour:
    """Make the stored form of a neighbour.

    Raises:
        PageError: it is no page.
    """
    places = {unit.xpath: node for unit, node in zip(page.units, same_places(page), strict=True)}
    html = numbered_markup.number_places(near.html.encode("utf-8", "replace"), places)
    return StoredNeighbour(arm=arm, url=near.url, timestamp=parse_record_date(near.date) or 0, html=html)


def same_places(page: StoredPage) -> list[int]:
    """Return the node of each segment's place in the neighbours: that of the first block of its element.

    Other elements in an element cut its own text into several blocks.
    """
    first: dict[str, int] = {}
    for unit, block in zip(page.units, page.outline.blocks, strict=True):
        first.setdefault(unit.xpath, block)
    return [first[unit.xpath] for unit in page.units]


def add(store: Connection, page: str, neighbours: Iterable[StoredNeighbour]) -> int:
    """Add the neighbours of a page to a store, for arms where it has none. Return how many are new."""
    done = store.executemany(
        "INSERT OR IGNORE INTO neighbours VALUES (?, ?, ?, ?, ?)",
        [(page, neighbour.arm, neighbour.url, neighbour.timestamp, neighbour.html) for neighbour in neighbours],
    )
    return max(0, done.rowcount)


def get(store: Connection, page: str) -> list[StoredNeighbour]:
    """Return the neighbours of a page, in the order of arms; none, if it is not of a cross."""
    rows = store.execute("SELECT arm, url, timestamp, html FROM neighbours WHERE page = ?", (page,))
    return sorted((StoredNeighbour(**row) for row in rows), key=lambda one: ARMS.index(one.arm))
