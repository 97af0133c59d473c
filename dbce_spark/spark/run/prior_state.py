"""The prior state of a collection: which increments a run extends. Needs no PySpark.

The pages of all increments stay as they were staged. Their files are numbered on, from FIRST, so that a place, a file
and a row, is one place whoever staged it.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from dbce_spark.output.collection import PAGES, Collection, Version

FIRST = 1 << 30
"""The number of the first file of pages of a collection; those of a run count from 0."""
BEFORE = -1
"""The number that revisits of earlier runs have as their file: they stand before all that a run reads."""


@dataclass(frozen=True, slots=True)
class PriorState:
    """The increments of a version, the oldest first: their folders, the number of page files that each keeps, and the
    number of captures of all."""

    folders: tuple[str, ...] = ()
    page_files: tuple[int, ...] = ()
    captures: int = 0

    def __bool__(self) -> bool:
        return bool(self.folders)

    @property
    def next_file(self) -> int:
        """The number that the next file of pages gets."""
        return FIRST + sum(self.page_files)

    def page_file(self, file_no: int) -> str:
        """Return the path of a file of pages by its number in the collection."""
        starts = [*accumulate(self.page_files, initial=FIRST)][:-1]
        at = bisect_right(starts, file_no) - 1
        return page_file(self.folders[at], file_no - starts[at])


EMPTY = PriorState()


def prior_state(collection: Collection, version: Version | None) -> PriorState:
    """Return the state that a version gives; the empty one without a version."""
    increments = version.increments if version else ()
    return PriorState(
        tuple(collection.increment(increment.number) for increment in increments),
        tuple(increment.page_files for increment in increments),
        version.captures if version else 0,
    )


def page_file(folder: str, number: int) -> str:
    """Return the path of a file of pages by its number within an increment."""
    return f"{folder}/{PAGES}/{number:08}.parquet"
