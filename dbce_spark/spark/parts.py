"""How the merging is cut: which staged row groups make one task, and one part of `extractions`."""

from collections.abc import Sequence
from dataclasses import dataclass

ROWS_PER_GROUP = 512
"""Rows of a row group of a staged file: what is merged, and so held, together."""

_TASKS_OF_SMALL_RUN = 32


@dataclass(frozen=True, slots=True)
class Parts:
    """How many row groups each staged file has, how many make a part, and how many parts that are."""

    row_groups: list[int]
    per_part: int
    count: int


def of(captures: Sequence[int], rows_per_file: int) -> Parts:
    """The parts of a run, by how many captures each staged file has: a matter of the staged rows alone."""
    row_groups = [-(-count // ROWS_PER_GROUP) for count in captures]
    per_part = max(1, min(rows_per_file // ROWS_PER_GROUP, sum(row_groups) // _TASKS_OF_SMALL_RUN))
    return Parts(row_groups, per_part, max(1, -(-sum(row_groups) // per_part)))
