"""The prior state of a collection: which increments a run extends. Needs no PySpark.

The pages of all increments stay as they were staged. Their files are numbered on, from FIRST, so that a place, a file
and a row, is one place whoever staged it.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from dbce_spark.errors import OutputError
from dbce_spark.log import counted
from dbce_spark.model import RejectReason
from dbce_spark.output.collection import CAPTURES, MEMBERS, PAGES, PENDING, Collection, Version, files
from dbce_spark.output.stored_rows import count_rows

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


def check_whole(collection: Collection, version: Version) -> None:
    """Check that all members and captures are there, which readers may lack (`output_reader.check_rows`): without some,
    new captures would be labelled as if these had never been.

    Raises:
        OutputError: some are missing.
    """
    for one in version.increments:
        folder = collection.increment(one.number)
        for table, written in ((MEMBERS, one.extractions), (CAPTURES, one.captures)):
            rows = sum(map(count_rows, files(folder, table)))
            if rows < written:
                raise OutputError(
                    f"{folder}/{table} has {rows:,} rows, and {written:,} were written: a part is missing; restore it,"
                    " or roll back to a version before it"
                )


def check_pending(collection: Collection, latest: Version, rejects: Mapping[str, int]) -> None:
    """Check that the revisits that wait for their originals are there, if there are any: those among the rejects.

    Raises:
        OutputError: they are missing.
    """
    folder = collection.increment(latest.increments[-1].number)
    waiting = rejects.get(RejectReason.REVISIT_UNRESOLVED, 0)
    if waiting and not files(folder, PENDING):
        raise OutputError(
            f"{folder}/{PENDING} is missing, with the {counted(waiting, 'revisit')} whose originals may still come;"
            " restore it, or roll back to a version before it"
        )


def page_file(folder: str, number: int) -> str:
    """Return the path of a file of pages by its number within an increment."""
    return f"{folder}/{PAGES}/{number:08}.parquet"
