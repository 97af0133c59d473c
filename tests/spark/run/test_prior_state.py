"""The increments that a run extends, and the numbers of their files of pages. No Spark is started."""

from dbce_spark.output.collection import Collection, Increment, Version
from dbce_spark.spark.run.prior_state import EMPTY, FIRST, PriorState, prior_state


def test_the_state_of_a_version_is_that_of_all_its_increments() -> None:
    """Their folders and files of pages, the oldest first, and their captures together; without a version there is
    none."""
    increments = tuple(
        Increment(number=number, page_files=files, captures=captures, extractions=1, relabelled=0)
        for number, files, captures in ((1, 3, 10), (2, 0, 4), (5, 2, 30))
    )
    version = Version(number=5, made="", why="", increments=increments, settings={})
    folders = tuple(f"c/increments/{number:08}" for number in (1, 2, 5))

    assert PriorState(folders, (3, 0, 2), 44) == prior_state(Collection("c/"), version)
    assert EMPTY == prior_state(Collection("c/"), None)
    assert (True, False) == (bool(PriorState(folders, (3, 0, 2), 44)), bool(EMPTY))


def test_files_of_pages_are_numbered_through_all_increments() -> None:
    """Each number is one file, from the first of the oldest increment on; one without files takes none."""
    prior = PriorState(("a", "b", "c"), (3, 0, 2), 44)
    numbers = range(FIRST, prior.next_file)
    expected = [*(f"a/pages/{number:08}.parquet" for number in range(3)), "c/pages/00000000.parquet"]

    assert [*expected, "c/pages/00000001.parquet"] == [prior.page_file(number) for number in numbers]
    assert FIRST == EMPTY.next_file
