"""What the workbench works with: conf/annotate.toml, and what options lay over it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from dbce_spark.config import given_over
from dbce_spark.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """conf/annotate.toml, which says what each field means.

    Raises:
        ConfigError: a value out of its range.
    """

    min_words: int
    max_words: int
    seed: int
    max_resource_bytes: int
    rounds: int
    pages_at_once: int
    host: str
    port: int
    replay_port: int
    threads: int
    ticket_hours: int
    login_hours: int
    min_password: int
    login_tries: int
    login_minutes: int
    idle_seconds: int

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, int) and value < 0:
                raise ConfigError(f"{one.name} is {value}; it must be at least 0")
        if not self.pages_at_once:
            raise ConfigError("pages_at_once is 0; it must be at least 1")
        if self.max_words < self.min_words:
            raise ConfigError(f"max_words is {self.max_words}; it must be at least min_words, {self.min_words}")
        if self.port == self.replay_port != 0:
            raise ConfigError(f"port and replay_port are both {self.port}; archived pages need a port of their own")


def settings(given: Mapping[str, Any]) -> Settings:
    """The shipped settings, with what is given, and not None, laid over them."""
    return Settings(**given_over("annotate.toml", given))
