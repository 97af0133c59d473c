"""Crosses with arms of our choosing: wider, emptier, or with snapshots further away (thesis, chapter 6).

`dbce.crosses` gives every capture its best cross; what these are for is to compare crosses on the same captures.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from dbce_spark.model import ARMS, Cross, Member


def siblings(cur: Member, members: Iterable[Member]) -> list[Member]:
    """List of each other URL the capture most like this one, the most similar first; of equal ones the lower id."""
    ranked = sorted(
        (other for other in members if other.url_key != cur.url_key),
        key=lambda other: (-_similarity(cur, other), other.capture_id),
    )
    first: dict[str, Member] = {}
    for other in ranked:
        first.setdefault(other.url_key, other)
    return list(first.values())


def series(cur: Member, members: Iterable[Member]) -> tuple[list[Member], list[Member]]:
    """List the captures of the same URL before this one and behind it, the nearest in time first."""
    same = sorted(
        (other for other in members if other.url_key == cur.url_key),
        key=lambda other: (other.timestamp, other.capture_id),
    )
    at = [other.capture_id for other in same].index(cur.capture_id)
    return same[:at][::-1], same[at + 1 :]


def cross(cur: Member, **arms: Member | None) -> Cross:
    """Make a cross with these arms, by name; the others are empty."""
    fields: dict[str, Any] = {}
    for name in ARMS[1:]:
        arm = arms.get(name)
        fields |= {name: arm.capture_id if arm else "", f"{name}_similarity": _similarity(cur, arm) if arm else 0.0}
    return Cross(cur=cur.capture_id, **fields)


def with_arms(whole: Cross, pattern: str) -> Cross:
    """Keep only the arms of a cross that a pattern such as "11010" keeps."""
    empty: dict[str, Any] = {}
    for arm, bit in zip(ARMS, pattern, strict=True):
        if bit == "0":
            empty |= {arm: "", f"{arm}_similarity": 0.0}
    return replace(whole, **empty)


def wide(cur: Member, members: Sequence[Member], count: int) -> list[Cross]:
    """Make up to `count` crosses of one capture, each with the next two of its siblings and the same snapshots."""
    ranked = siblings(cur, members)[: 2 * count]
    before, behind = series(cur, members)
    return [
        cross(cur, up=up, down=down, prev=next(iter(before), None), next=next(iter(behind), None))
        for up, down in zip_longest(ranked[::2], ranked[1::2])
    ]


def _similarity(one: Member, other: Member) -> float:
    return float(np.mean(one.signature == other.signature))
