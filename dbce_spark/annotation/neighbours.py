"""What stands beside a page while it is labelled: the neighbours of its cross, as a store has them (thesis 4.1)."""

from collections.abc import Iterable
from dataclasses import dataclass

from dbce_spark.annotation import numbered_markup
from dbce_spark.annotation.cross_tasks import TaskNeighbour
from dbce_spark.annotation.stored_pages import StoredPage
from dbce_spark.annotation.workbench_store import Connection
from dbce_spark.archive.warc import parse_record_date
from dbce_spark.model import ARMS


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossNeighbours:
    """A neighbour of a page."""

    arm: str
    url: str
    timestamp: int  # microseconds since 1970-01-01 UTC; 0 if not known
    html: str  # with a node of the page on what stands where the page has a block


def of_neighbour(page: StoredPage, arm: str, near: TaskNeighbour) -> CrossNeighbours:
    """A neighbour as a store has it.

    Raises:
        PageError: it is no page.
    """
    places = {unit.xpath: node for unit, node in zip(page.units, same_places(page), strict=True)}
    html = numbered_markup.placed(near.html.encode("utf-8", "replace"), places)
    return CrossNeighbours(
        arm=arm, url=near.url, timestamp=(parse_record_date(near.date) if near.date else None) or 0, html=html
    )


def same_places(page: StoredPage) -> list[int]:
    """Of each segment the node that its place has in the neighbours: the first block of its element, for text that lies
    directly in one element is cut into several blocks by what stands between."""
    first: dict[str, int] = {}
    for unit, block in zip(page.units, page.outline.blocks, strict=True):
        first.setdefault(unit.xpath, block)
    return [first[unit.xpath] for unit in page.units]


def add(store: Connection, page: str, some: Iterable[CrossNeighbours]) -> int:
    """Puts the neighbours of a page into a store, where it has none in their arms. Returns how many are new."""
    done = store.executemany(
        "INSERT OR IGNORE INTO neighbours VALUES (?, ?, ?, ?, ?)",
        [(page, one.arm, one.url, one.timestamp, one.html) for one in some],
    )
    return max(0, done.rowcount)


def get(store: Connection, page: str) -> list[CrossNeighbours]:
    """The neighbours of a page, in the order of arms; none, if it is not of a cross."""
    rows = store.execute("SELECT arm, url, timestamp, html FROM neighbours WHERE page = ?", (page,))
    return sorted((CrossNeighbours(**row) for row in rows), key=lambda one: ARMS.index(one.arm))
