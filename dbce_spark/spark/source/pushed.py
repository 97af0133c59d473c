"""Filters that Spark hands down (`where`), applied before the payload of a record is read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import datasource as ds

from dbce_spark.files import timestamps
from dbce_spark.spark.source.columns import SourceRow

CHEAP = ("kind", "url", "host", "date", "record_id", "http_status", "mime")
"""Columns whose filters are taken, in order: those of the record's head first."""

_COMPARED: dict[type[ds.Filter], Callable[[Any, Any], bool]] = {
    ds.EqualTo: lambda value, given: value == given,
    ds.GreaterThan: lambda value, given: value > given,
    ds.GreaterThanOrEqual: lambda value, given: value >= given,
    ds.LessThan: lambda value, given: value < given,
    ds.LessThanOrEqual: lambda value, given: value <= given,
    ds.In: lambda value, given: value in given,
    ds.StringStartsWith: lambda value, given: value.startswith(given),
    ds.StringEndsWith: lambda value, given: value.endswith(given),
    ds.StringContains: lambda value, given: given in value,
}


@dataclass(frozen=True, slots=True)
class Pushed:
    """One filter on one column. What has no value is neither equal nor unequal to anything, as in SQL."""

    name: str
    kind: type[ds.Filter]
    given: Any
    is_negated: bool

    def passes(self, row: SourceRow) -> bool:
        value = row.value(self.name)
        if self.kind in (ds.IsNull, ds.IsNotNull):
            return ((value is None) == (self.kind is ds.IsNull)) != self.is_negated
        if value is None:
            return False
        return _COMPARED[self.kind](value, self.given) != self.is_negated


def split_filters(given: Iterable[ds.Filter]) -> tuple[list[Pushed], list[ds.Filter]]:
    """Split filters into those applied here, in the order of their cost, and those left to Spark."""
    ours: list[Pushed] = []
    rest: list[ds.Filter] = []
    for one in given:
        pushed = _pushed(one)
        if pushed is None:
            rest.append(one)
        else:
            ours.append(pushed)
    return sorted(ours, key=lambda pushed: CHEAP.index(pushed.name)), rest


def _pushed(given: ds.Filter) -> Pushed | None:
    is_negated = isinstance(given, ds.Not)
    inner: Any = given.child if isinstance(given, ds.Not) else given
    kind = type(inner)
    if len(inner.attribute) != 1 or inner.attribute[0] not in CHEAP:
        return None
    name = inner.attribute[0]
    if kind in (ds.IsNull, ds.IsNotNull):
        return Pushed(name, kind, None, is_negated)
    if kind not in _COMPARED:
        return None
    value = inner.value
    if kind is ds.In:
        values = [_plain(one) for one in value]
        return None if None in values else Pushed(name, kind, frozenset(values), is_negated)
    plain = _plain(value)
    return None if plain is None else Pushed(name, kind, plain, is_negated)


def _plain(value: Any) -> str | int | None:
    """Return a literal as the rows have it; None: it cannot be compared here."""
    if isinstance(value, datetime):
        return None if value.tzinfo is None else timestamps.from_datetime(value)
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None
