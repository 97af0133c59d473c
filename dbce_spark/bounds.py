"""Declare the bounds of parameters beside their fields, as `Annotated[int, at_least(2)]`. `config` checks them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition on a value, and how an error puts it after "it must"."""

    words: str
    holds: Callable[[Any], bool]


def at_least(least: float) -> Bound:
    return Bound(f"be at least {least}", lambda value: value >= least)


def above(low: float) -> Bound:
    return Bound(f"be above {low}", lambda value: value > low)


def between(least: float, most: float) -> Bound:
    """Allow both ends."""
    return Bound(f"lie between {least} and {most}", lambda value: least <= value <= most)


def inside(low: float, high: float) -> Bound:
    """Allow neither end."""
    return Bound(f"lie between {low} and {high}", lambda value: low < value < high)


def one_of(*allowed: str) -> Bound:
    return Bound(f"be one of {', '.join(allowed)}", lambda value: value in allowed)


PositiveInt = Annotated[int, at_least(1)]
PositiveFloat = Annotated[float, above(0)]
NonNegativeInt = Annotated[int, at_least(0)]
NonNegativeFloat = Annotated[float, at_least(0)]
Fraction = Annotated[float, between(0, 1)]
Share = Annotated[float, Bound("lie above 0 and be at most 1", lambda value: 0 < value <= 1)]
"""A part of something, and not nothing of it."""
NOT_EMPTY = Bound("not be empty", bool)
