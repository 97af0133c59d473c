"""The selection of captures: one predicate, for a line of an index and for a record's header alike."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from dbce_spark.archive.index import date_range
from dbce_spark.archive.index.index_entry import IndexEntry, normal_digest
from dbce_spark.archive.index.language_codes import three_letters
from dbce_spark.archive.index.site_sample import is_sampled
from dbce_spark.archive.index.urls import domain_of, host_of, is_domain, is_host, meant_host, sent_host, url_key
from dbce_spark.config import SelectConfig
from dbce_spark.errors import ConfigError, Parameter

T = TypeVar("T", str, int)

Match = bool | None
"""True: it fits. False: it does not. None: the field is not declared, and only the page can decide."""

PREFIX = "select:"
"""Before the name of a filter in the counts of what was skipped."""

_HEADED_SURT = re.compile(r"(?:[a-z]+://)?\(([^):]*?)(,?)([):].*)?", re.DOTALL)
_NO_KEY = re.compile(r"[^)/:]*(?:[.A-Z]|://)|.*\s", re.DOTALL)
"""Matches what no key begins with: a URL, a host as it is spoken or in capitals, white space."""
_HOST_AND_BELOW = (")", ",", ":")
"""Characters behind a host: in its own keys, in those of all hosts below it, and in those of its ports."""
_DIGEST = re.compile(r"sha1:[A-Z2-7]{32}|(?!sha1:)\w+:[\w+/=-]{16,}")
"""A digest as `normal_digest` writes it; other algorithms have several lengths, and are written in several ways."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of captures. `checks` are the filters in use, in the order in which they are applied: cheap ones
    first.

    `prefixes` are starts of SURT keys that every selected capture has; () where there are none.
    """

    checks: tuple[tuple[str, Callable[[IndexEntry], Match]], ...]
    prefixes: tuple[str, ...]
    config: SelectConfig

    def match(self, entry: IndexEntry) -> tuple[str | None, list[str]]:
        """Return the first filter that an entry fails, by the name that it is counted under; None: it is selected.

        Return also the filters that it passes only because it does not declare the field.
        """
        undeclared = []
        for name, check in self.checks:
            match = check(entry)
            if match is False:
                return PREFIX + name, []
            if match is None:
                undeclared.append(name)
        return None, undeclared

    def refusal(self, entry: IndexEntry) -> str | None:
        """Return the name of the first filter that an entry fails, as it is counted; None if it is selected."""
        return self.match(entry)[0]


@dataclass(slots=True)
class FilterCounts:
    """Counts of the lines of an index by outcome: read = selected + skipped + faults."""

    read: int = 0
    selected: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # by filter
    undeclared: Counter[str] = field(default_factory=Counter)  # of the selected, by filter
    faults: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: "FilterCounts") -> "FilterCounts":
        return FilterCounts(
            self.read + other.read,
            self.selected + other.selected,
            self.skipped + other.skipped,
            self.undeclared + other.undeclared,
            self.faults + other.faults,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for run.json."""
        return {
            "read": self.read,
            "selected": self.selected,
            "skipped": dict(sorted(self.skipped.items())),
            "undeclared": dict(sorted(self.undeclared.items())),
            "faults": dict(sorted(self.faults.items())),
        }

    def takes(self, entry: IndexEntry, selection: Selection) -> bool:
        """Count an entry, and return whether it is selected."""
        self.read += 1
        refusal, undeclared = selection.match(entry)
        if refusal is not None:
            self.skipped[refusal] += 1
            return False
        self.selected += 1
        self.undeclared.update(undeclared)
        return True


@lru_cache(maxsize=16)
def selection(config: SelectConfig) -> Selection:
    """Build the filters of a configuration.

    Raises:
        ConfigError: a date, a media type, a digest, a host, a registered domain, a start of a SURT key or a regular
            expression that is none.
    """
    filters = {
        "status": _among(config.statuses, lambda entry: entry.status or None),
        "mime": _mime(config.mimes),
        "date": _date(config.since, config.until),
        "digest": _among(_digests(config.digests), lambda entry: entry.digest or None),
        "language": _language(config.languages),
        "host": _among(_hosts(config.hosts), lambda entry: host_of(entry.url)),
        "domain": _among(_domains(config.domains), lambda entry: domain_of(host_of(entry.url))),
        "surt": _surt(_surts(config)),
        "url": _url(config.urls),
        "sample": _sample(config.sample, config.sample_seed),
    }
    checks = tuple((name, check) for name, check in filters.items() if check is not None)
    return Selection(checks, _prefixes(config), config)


def _digests(written: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(map(normal_digest, written))
    for given, digest in zip(written, found, strict=True):
        if not _DIGEST.fullmatch(digest):
            raise ConfigError(
                Parameter("select.digests"),
                f" holds {given!r}, which is no digest; write sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ, as the column"
                " payload_digest of an output has it, or in hex",
            )
    return found


def _hosts(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not is_host(name):
            raise ConfigError(Parameter("select.hosts"), f" holds {name!r}, which is no host; write {meant_host(name)}")
    return tuple(map(sent_host, names))


def _domains(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not is_domain(name):
            host = meant_host(name)
            raise ConfigError(
                Parameter("select.domains"),
                f" holds {name!r}, which is no registered domain; write {domain_of(host)}, or name the host {host} by"
                " --host (select.hosts)",
            )
    return tuple(map(sent_host, names))


def _among(wanted: tuple[T, ...], value_of: Callable[[IndexEntry], T | None]) -> Callable[[IndexEntry], Match] | None:
    """Pass entries whose value is one of these; undeclared where `value_of` gives None."""
    if not wanted:
        return None
    values = frozenset(wanted)

    def check(entry: IndexEntry) -> Match:
        value = value_of(entry)
        return None if value is None else value in values

    return check


def _mime(wanted: tuple[str, ...]) -> Callable[[IndexEntry], Match] | None:
    """Pass entries of which either the server's or the payload's type is one of these ("text/html", "text/*")."""
    if not wanted:
        return None
    for one in wanted:
        if not re.fullmatch(r"[^/\s*]+/(?:\*|[^/\s*]+)", one):
            raise ConfigError(Parameter("select.mimes"), f" holds {one!r}; write text/html or text/*")
    exact = frozenset(one.lower() for one in wanted)
    families = tuple(one[:-1].lower() for one in wanted if one.endswith("/*"))

    def check(entry: IndexEntry) -> Match:
        declared = [mime for mime in (entry.mime, entry.mime_detected) if mime]
        if not declared:
            return None
        return any(mime in exact or (families and mime.startswith(families)) for mime in declared)

    return check


def _date(first: str, last: str) -> Callable[[IndexEntry], Match] | None:
    """Pass entries that were fetched from the first moment of `first` to the last of `last`; "" is no bound."""
    if not first and not last:
        return None
    low, high = date_range.moments(first, last, "select")
    return lambda entry: (low is None or low <= entry.timestamp) and (high is None or entry.timestamp < high)


def _language(wanted: tuple[str, ...]) -> Callable[[IndexEntry], Match] | None:
    """Pass entries declared to be in one of these languages, alone or among others; only some indexes declare it."""
    if not wanted:
        return None
    codes = frozenset(map(three_letters, wanted))
    return lambda entry: not codes.isdisjoint(entry.languages) if entry.languages else None


def _surts(config: SelectConfig) -> tuple[str, ...]:
    """Return the prefixes as keys have them: without Heritrix's "http://(", and without a comma behind the host."""
    return tuple(start for prefix in config.surts for start in _key_starts(prefix))


def _key_starts(prefix: str) -> tuple[str, ...]:
    headed = _HEADED_SURT.fullmatch(prefix)
    host, comma, rest = headed.groups("") if headed else (prefix, "", "")
    if not host:
        raise ConfigError(Parameter("select.surts"), f" holds {prefix!r}, which names no host; write org,example)/")
    if _NO_KEY.match(host + rest):
        meant = "org,example)/" if {*prefix} & {*",)"} else url_key(f"http://{meant_host(prefix)}/")
        raise ConfigError(Parameter("select.surts"), f" holds {prefix!r}, and no key begins so; write {meant}")
    return tuple(host + end for end in _HOST_AND_BELOW) if comma and not rest else (host + rest,)


def _surt(prefixes: tuple[str, ...]) -> Callable[[IndexEntry], Match] | None:
    if not prefixes:
        return None
    return lambda entry: surt_of(entry).startswith(prefixes)


def surt_of(entry: IndexEntry) -> str:
    """Return an entry's SURT key: its own, or, where the index keeps another kind of key or none, that of its URL."""
    return entry.urlkey if ")" in entry.urlkey else url_key(entry.url)


def _url(patterns: tuple[str, ...]) -> Callable[[IndexEntry], Match] | None:
    if not patterns:
        return None
    try:
        compiled = [re.compile(pattern) for pattern in patterns]
    except re.error as error:
        raise ConfigError(Parameter("select.urls"), f": {error} in {error.pattern!r}") from error
    return lambda entry: any(pattern.search(entry.url) for pattern in compiled)


def _sample(share: float, seed: int) -> Callable[[IndexEntry], Match] | None:
    """Pass this share of the registered domains: pages that could be siblings are of one, whatever a "site" is."""
    if share >= 1:
        return None
    return lambda entry: is_sampled(domain_of(host_of(entry.url)), share, seed)


def _prefixes(config: SelectConfig) -> tuple[str, ...]:
    """Return starts of keys that narrow an index: of the filter with the longest, since each must be passed."""
    options = [_surts(config), _stems(config.hosts), _stems(config.domains)]
    return next((tuple(dict.fromkeys(option)) for option in options if option), ())


def _stems(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the starts of the keys of a host and of all below it; () where a name is an address, written in several
    ways."""
    keys = [url_key(f"http://{name.lower()}/") for name in names]
    if any(not key.endswith(")/") or not re.search(r"[a-z]", key) for key in keys):
        return ()
    return tuple(key[:-2] + end for key in keys for end in _HOST_AND_BELOW)
