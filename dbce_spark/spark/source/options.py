"""Options of a read as `.option(name, value)` gives them, all of them texts, checked before anything is read."""

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from dbce_spark import config as configuration
from dbce_spark.archive.index.capture_filter import selection
from dbce_spark.archive.index.site_sample import is_sampled
from dbce_spark.config import SelectConfig
from dbce_spark.errors import InputError
from dbce_spark.files import sources
from dbce_spark.log import counted
from dbce_spark.spark.source.columns import NAMES, ON_DEMAND, spark_schema

T = TypeVar("T")

PATHS = ("path", "paths")
_NONE: tuple[str, ...] = ()
_MOST_BYTES = 1 << 29
"""Bytes of one value: as UTF-8 it can have three times as many, and an Arrow column no more than 2 GiB."""
_PARTITION_BYTES = 128 << 20
"""Stored bytes of one task: what Spark's own readers take (spark.sql.files.maxPartitionBytes)."""


class Mode(StrEnum):
    """The treatment of bytes that cannot be read: the modes of Spark's own readers."""

    PERMISSIVE = "PERMISSIVE"  # a row that names the damage
    DROPMALFORMED = "DROPMALFORMED"  # no row
    FAILFAST = "FAILFAST"  # the end of the job


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All options of a read. docs/source.md has a table of them."""

    files: tuple[str, ...]
    index: tuple[str, ...]
    base: str
    columns: tuple[str, ...]
    mode: Mode
    kinds: frozenset[str]
    select: SelectConfig
    max_record_bytes: int
    max_payload_bytes: int
    partition_bytes: int


@dataclass(frozen=True, slots=True)
class _Given:
    """Options as given, each taken once."""

    texts: dict[str, str]

    def take(self, name: str, read: Callable[[str], T], default: T) -> T:
        """Return the value of an option, or its default.

        Raises:
            InputError: it cannot be read so.
        """
        text = self.texts.pop(name.lower(), "").strip()
        if not text:
            return default
        try:
            return read(text)
        except ValueError as error:
            raise InputError(f"option {name} is {text!r}; {error}") from error


KNOWN = (
    *("mode", "columns", "kinds", "statuses", "mimes", "hosts", "domains", "surts", "url", "since", "until"),
    *("languages", "digests", "sample", "sampleFiles", "sampleSeed", "index", "base", "pathGlobFilter"),
    *("maxRecordBytes", "maxPayloadBytes", "partitionBytes"),
)


def parse(texts: Mapping[str, str]) -> Options:
    """Parse the options of a read, its paths and indexes as lists of the files that are there.

    Raises:
        InputError: an unknown option, a value that is none, nothing to read, a path that names nothing.
        ConfigError: a filter that is none.
    """
    given = _Given({name.lower(): value for name, value in texts.items()})
    _refuse_unknown(given.texts)
    ours = configuration.default().input
    patterns = given.take("pathGlobFilter", _list, ours.patterns)
    paths = _paths(given)
    index = given.take("index", _list, _NONE)
    if not paths and not index:
        raise InputError("nothing to read: give load() paths, or the option index")
    if paths and index:
        raise InputError("give load() no paths beside the option index: what is read is what the index names")
    select = _select(given)
    most = ours.max_record_bytes
    options = Options(
        mode=given.take("mode", _mode, Mode.PERMISSIVE),
        columns=given.take("columns", _columns, tuple(name for name in NAMES if name not in ON_DEMAND)),
        kinds=frozenset(given.take("kinds", _list, _NONE)),
        select=select,
        base=given.take("base", str, ""),
        max_record_bytes=given.take("maxRecordBytes", _bytes, most),
        max_payload_bytes=given.take("maxPayloadBytes", _bytes, most),
        partition_bytes=given.take("partitionBytes", _bytes, _PARTITION_BYTES),
        files=_sampled(sources.expand(paths, patterns), given.take("sampleFiles", _share, 1.0), select.sample_seed),
        index=tuple(sources.expand(index, ours.index_patterns)),
    )
    selection(options.select)
    return options


def _refuse_unknown(texts: Mapping[str, str]) -> None:
    options = {name.lower(): name for name in (*KNOWN, *PATHS)}
    for name in texts:
        if name not in options:
            near = difflib.get_close_matches(name, options, 1)
            meant = f"; did you mean {options[near[0]]}?" if near else ";"
            raise InputError(f"there is no option {name}{meant} Known are {', '.join(KNOWN)}")


def _paths(given: _Given) -> tuple[str, ...]:
    """Return the paths that load() was given: Spark writes one path as it is, several as a list in JSON."""
    several: list[str] = given.take("paths", json.loads, [])
    one = given.take("path", str, "")
    return (*([one] if one else []), *several)


def _sampled(files: Sequence[str], share: float, seed: int) -> tuple[str, ...]:
    """Choose this share of the files, by their names alone.

    Raises:
        InputError: there are files, and none is in the sample.
    """
    sample = tuple(path for path in files if share >= 1 or is_sampled(path.rsplit("/", 1)[-1], share, seed))
    if files and not sample:
        raise InputError(
            f"option sampleFiles is {share}: of {counted(len(files), 'file')} that is none; give a larger share"
        )
    return sample


def _select(given: _Given) -> SelectConfig:
    ours = configuration.default().select
    return SelectConfig(
        surts=given.take("surts", _surts, ours.surts),
        domains=given.take("domains", _list, ours.domains),
        hosts=given.take("hosts", _list, ours.hosts),
        mimes=given.take("mimes", _list, ours.mimes),
        statuses=given.take("statuses", _statuses, ours.statuses),
        since=given.take("since", str, ours.since),
        until=given.take("until", str, ours.until),
        languages=given.take("languages", _list, ours.languages),
        digests=given.take("digests", _list, ours.digests),
        urls=given.take("url", lambda text: (text,), ours.urls),
        sample=given.take("sample", _share, ours.sample),
        sample_seed=given.take("sampleSeed", int, ours.sample_seed),
        max_wanted=ours.max_wanted,
    )


def _list(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def _surts(text: str) -> tuple[str, ...]:
    """Split prefixes of keys, which have commas in them: several are apart by white space."""
    return tuple(text.split())


def _statuses(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in _list(text))
    except ValueError:
        raise ValueError("write 200 or 200,404") from None


def _columns(text: str) -> tuple[str, ...]:
    names = NAMES if text == "*" else _list(text)
    spark_schema(names)
    return tuple(dict.fromkeys(names))


def _share(text: str) -> float:
    share = float(text)
    if not 0 < share <= 1:
        raise ValueError("it must lie above 0 and be at most 1")
    return share


def _mode(text: str) -> Mode:
    try:
        return Mode(text.upper())
    except ValueError:
        raise ValueError(f"it must be one of {', '.join(Mode)}") from None


def _bytes(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= _MOST_BYTES:
        raise ValueError(f"it must be a number of bytes from 1 to {_MOST_BYTES}")
    return int(text)
