"""Read the rules of hosts for robots (RFC 9309)."""

import re
from dataclasses import dataclass
from typing import Protocol, Self
from urllib.parse import urlsplit

from dbce_spark.config import AcquireConfig
from dbce_spark.errors import PlatformError, installs

_AGENT = re.compile(r"\s*user[-\s]*agent", re.IGNORECASE)
_MOST_RULES = 2_000_000
"""Programs that a robots.txt names times its lines: the parser keeps each rule once for each program of its group, so
that 500 KB can take 25 GB. One of a large site names a hundred, in some thousand lines."""
_LEAST_SIZE, _MOST_SIZE = 1 << 10, 1 << 25
"""Characters: as many the rules of an origin count at least, and those of all origins have at most. A feed may link to
as many origins as its owner gives names to."""


class _Rules(Protocol):
    def can_fetch(self, url: str, user_agent: str) -> bool: ...

    def crawl_delay(self, user_agent: str) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one origin, and when they were read, in seconds."""

    rules: _Rules | None  # None: nothing may be fetched
    read_at: float
    lack: str = ""
    """The reason why there are no rules."""
    size: int = 0
    """Characters that the rules were read from."""

    @classmethod
    def from_answer(cls, status: int, body: bytes, read_at: float, lack: str = "") -> Self:
        """Read the rules from the answer to a request for /robots.txt; status 0: there was no answer, for which `lack`
        has the reason.

        A host without such a file allows all; one that could not answer allows nothing until it can (RFC 9309, 2.3.1).
        """
        if 200 <= status < 300:
            text = body.decode("utf-8-sig", "replace")
            lines = text.splitlines()
            if sum(_AGENT.match(line) is not None for line in lines) * len(lines) > _MOST_RULES:
                return cls(None, read_at, "too many programs for its rules")
            return cls(_parsed(text), read_at, size=len(text))
        if 400 <= status < 500 and status != 429:
            return cls(_parsed(""), read_at)
        return cls(None, read_at, lack)

    def allows(self, url: str, user_agent: str) -> bool:
        return self.rules is not None and self.rules.can_fetch(url, token(user_agent))

    def delay(self, user_agent: str) -> float:
        """Return the seconds to wait between two requests, as the rules have them; 0.0 where there is no such rule.

        However long: `feed_reader` keeps it within `acquire.max_delay_seconds`.
        """
        seconds = self.rules.crawl_delay(token(user_agent)) if self.rules else None
        return max(0.0, float(seconds or 0.0))


class RobotsCache:
    """The rules of origins for as long as they hold, those read first leaving first where there are too many."""

    def __init__(self, config: AcquireConfig):
        self._config = config
        self._cached: dict[str, Robots] = {}

    def get(self, site: str, now: float) -> Robots | None:
        """Return the rules of an origin; None where they are to be read, be it again."""
        found = self._cached.get(site)
        return found if found is not None and self._holds(found, now) else None

    def keep(self, site: str, found: Robots, now: float) -> None:
        """Keep the rules of an origin that were read now."""
        self._cached = {one: rules for one, rules in self._cached.items() if one != site and self._holds(rules, now)}
        self._cached[site] = found
        while sum(_LEAST_SIZE + one.size for one in self._cached.values()) > _MOST_SIZE:
            del self._cached[next(iter(self._cached))]

    def _holds(self, found: Robots, now: float) -> bool:
        seconds = self._config.robots_seconds if found.rules is not None else self._config.first_wait_seconds
        return now - found.read_at <= seconds


def token(user_agent: str) -> str:
    """Return the name that rules use: "dbce-acquire/0.1 (+https://example.org)" -> "dbce-acquire"."""
    return user_agent.split()[0].partition("/")[0]


def origin(url: str) -> str:
    """Return the scheme, host and port of a URL, whose robots.txt holds for it."""
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2].lower()}"


def _parsed(text: str) -> _Rules:
    try:
        import protego
    except ImportError as error:
        raise PlatformError(f"robots.txt is read with protego: {installs('acquire')}") from error
    rules: _Rules = protego.Protego.parse(text)
    return rules
