"""Filter extractions, for a corpus and for an export: each filter marks the rows of a batch that it keeps."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.archive.index import date_range
from dbce_spark.archive.index.language_codes import three_letters
from dbce_spark.archive.index.urls import domain_of, is_domain, meant_host, sent_host
from dbce_spark.config import STATUSES, RowsConfig
from dbce_spark.errors import InputError
from dbce_spark.output import stored_rows
from dbce_spark.output.schemas.codec import TIME

Mask = npt.NDArray[np.bool_]
Values = dict[str, Counter[str]]
"""The number of rows of each value of some columns."""

_LISTED = ("language", "page_type")
"""Filters whose column has few values, which are listed where none is left."""
_MOST = 10


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter: its name, what it keeps in words, the column that it reads, the option without it, and the function
    that marks the rows of a batch that it keeps."""

    name: str
    keeps: str
    column: str
    without: str
    marks: Callable[[pa.RecordBatch], Mask]


def chosen(config: RowsConfig, section: str) -> list[Filter]:
    """List the filters of a configuration, in the order in which they are applied, without those that would keep all.

    Raises:
        ConfigError: a date is none, or nothing lies between them; `section` is that of the parameters.
    """
    filters = [
        among("site", config.sites, sent_host),
        fetched(config.since, config.until, section),
        among("status", () if {*STATUSES} <= {*config.statuses} else config.statuses),
        among("language", config.languages, three_letters),
        among("page_type", config.page_types, str.lower),
        without(config.without_flags),
        at_least("confidence", config.min_confidence, f"a confidence of {config.min_confidence} or more"),
        at_least("words", config.min_words, f"{config.min_words:,} words or more", column="text_words"),
    ]
    return [one for one in filters if one is not None]


def among(column: str, wanted: Sequence[str], normal: Callable[[str], str] = str) -> Filter | None:
    """Keep rows with one of these values, whatever the spelling that `normal` brings into one form."""
    if not wanted:
        return None
    values = frozenset(map(normal, wanted))

    def marks(batch: pa.RecordBatch) -> Mask:
        found = batch.column(column).dictionary_encode()
        fitting = [one is not None and normal(one) in values for one in found.dictionary.to_pylist()]
        mask: Mask = pa.array(fitting, pa.bool_()).take(found.indices).fill_null(False).to_numpy(zero_copy_only=False)
        return mask

    return Filter(column, " or ".join(wanted), column, f"no --{column.replace('_', '-')}", marks)


def fetched(first: str, last: str, section: str) -> Filter | None:
    """Keep captures from the first moment of `first` to the last of `last`; "" is no bound. Raises as `chosen`."""
    bounds = date_range.moments(first, last, section)
    if bounds == (None, None):
        return None
    low, high = -np.inf if bounds[0] is None else bounds[0], np.inf if bounds[1] is None else bounds[1]

    def marks(batch: pa.RecordBatch) -> Mask:
        times = batch.column("timestamp").cast(TIME).cast(pa.int64()).to_numpy(zero_copy_only=False)
        mask: Mask = (times >= low) & (times < high)
        return mask

    keeps = " ".join(f"{word} {date}" for word, date in (("from", first), ("to", last)) if date)
    return Filter("date", keeps, "timestamp", "neither --from nor --to", marks)


def without(flags: Sequence[str]) -> Filter | None:
    """Keep rows with none of these flags."""
    if not flags:
        return None

    def marks(batch: pa.RecordBatch) -> Mask:
        found = batch.column("flags")
        has_one = pc.is_in(pc.list_flatten(found), pa.array(flags))
        mask = np.ones(len(batch), np.bool_)
        mask[pc.list_parent_indices(found).filter(has_one).to_numpy()] = False
        return mask

    return Filter("flags", "without " + " or ".join(flags), "flags", "no --without-flag", marks)


def at_least(name: str, least: float, keeps: str, *, column: str = "") -> Filter | None:
    """Keep rows with a value of `least` or more in a column, which is called as the filter if it has no other name."""
    if not least:
        return None

    def marks(batch: pa.RecordBatch) -> Mask:
        mask: Mask = batch.column(column or name).to_numpy(zero_copy_only=False) >= least
        return mask

    return Filter(name, keeps, column or name, f"--min-{name} 0", marks)


def with_markdown() -> Filter:
    """Keep rows that have Markdown."""

    def marks(batch: pa.RecordBatch) -> Mask:
        mask: Mask = batch.column("markdown").is_valid().to_numpy(zero_copy_only=False)
        return mask

    return Filter("markdown", "pages with Markdown", "markdown", "--format jsonl", marks)


def outcomes(batch: pa.RecordBatch, filters: Sequence[Filter]) -> npt.NDArray[np.intp]:
    """Find for each row the index of the first filter that removes it, or their number if none does. `batch` has the
    columns that the filters read."""
    found = np.full(len(batch), len(filters), np.intp)
    for at in reversed(range(len(filters))):
        found[~filters[at].marks(batch)] = at
    return found


def check_columns(filters: Sequence[Filter], root: str, columns: Collection[str], needed: Sequence[str] = ()) -> None:
    """Check that an output has the columns that filters read, and those that are needed besides.

    Raises:
        OutputError: it lacks some.
    """
    lacking = [name for name in needed if name not in columns]
    idle = [one for one in filters if one.column not in {*columns, *lacking}]
    if lacking or idle:
        ways = "" if lacking else "; or give " + ", ".join(one.without for one in idle)
        raise stored_rows.lacking(root, [*lacking, *(one.column for one in idle)], ways)


def check_sites(sites: Sequence[str], root: str, run: Mapping[str, Any]) -> None:
    """Check that sites can be those of an output, by its run.json.

    Raises:
        InputError: one is no registered domain, and they are.
    """
    if site_kind(run) != "domain":
        return
    for name in sites:
        if not is_domain(name):
            meant = domain_of(meant_host(name))
            raise InputError(f"--site {name}: a site of {root} is a registered domain; write {meant}")


def site_kind(run: Mapping[str, Any]) -> str:
    """Return the `input.site` of a run, by its run.json; "" where that has no settings."""
    return str(run.get("config", {}).get("input", {}).get("site", ""))


def count_values(values: Values, batch: pa.RecordBatch, filters: Sequence[Filter]) -> None:
    """Add the values that rows have in the columns of some filters."""
    for one in filters:
        if one.name in _LISTED:
            counts = values.setdefault(one.name, Counter())
            counts.update(value for value in batch.column(one.column).to_pylist() if value)


def nothing_left(root: str, removed: Mapping[str, int], values: Values) -> InputError:
    """Build the error where no row is left: what each filter removed, and the values that are there."""
    rows = sum(removed.values())
    if not rows:
        return InputError(f"{root} has no extractions, so nothing is written; `dbce report {root}` shows what was read")
    took = ", ".join(f"{count:,} by {name}" for name, count in removed.items() if count)
    there = "".join(
        f"; {name} is "
        + (", ".join(f"{value} ({count:,})" for value, count in of_name.most_common(_MOST)) or "unknown")
        for name, of_name in values.items()
    )
    return InputError(
        f"{root}: none of its {rows:,} rows is left, so nothing is written; removed are {took or 0}{there}"
    )
