"""Moments: the captures of one URL by their times, and the moments near each.

Captures of one moment are in no order but that of their ids, which are hashes. So they are taken or left together:
whatever is chosen by time is the same then, whatever the ids.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from dbce_spark.model import Timed, by_time

NEAREST = 2
"""Moments of which the captures are looked at, on either side in time."""

Captured = TypeVar("Captured", bound=Timed)
Moment = list[Captured]
"""The captures of one URL at one time, in order of their ids."""


def moments(captures: Iterable[Captured]) -> list[Moment[Captured]]:
    """Group some captures of one URL by their times, the first first."""
    ordered = sorted(captures, key=by_time)
    return [[*of_moment] for _, of_moment in groupby(ordered, key=lambda one: one.timestamp)]


def snapshots(captures: Iterable[Captured]) -> Iterator[tuple[Moment[Captured], list[Captured]]]:
    """Iterate over the moments of some captures of one URL, each with the captures of the moments near it.

    Captures of the same moment are no snapshots of each other.
    """
    every = moments(captures)
    for at, moment in enumerate(every):
        yield moment, [one for other in _near(at, every) if other != at for one in every[other]]


def near(captures: Iterable[Captured], chosen: Collection[str]) -> Iterator[list[Captured]]:
    """Iterate over the stretches of time in which captures of one URL are chosen, by their ids, or near a chosen one.

    In each, a chosen capture has all the snapshots that it has among all captures.
    """
    every = moments(captures)
    marked = (at for at, moment in enumerate(every) if any(one.capture_id in chosen for one in moment))
    numbers = sorted({other for at in marked for other in _near(at, every)})
    for _, stretch in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        yield [one for _, at in stretch for one in every[at]]


def _near(at: int, every: Sequence[object]) -> range:
    """List the indexes of a moment and those at most NEAREST away."""
    return range(max(0, at - NEAREST), min(len(every), at + NEAREST + 1))
