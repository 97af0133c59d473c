"""Load the settings of the workbench: conf/annotate.toml, and options laid over it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from dbce_spark.config import NonNegativeInt, PositiveInt, between, fill, one_of
from dbce_spark.errors import ConfigError, Parameter

GUIDELINES = WHOLE, KRDWRD = "whole", "krdwrd"
MOST_LETTERS = 60
"""Characters of a corpus's name: it stands in a table and in addresses."""
_PORTS = between(0, 65535)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchSettings:
    """The parameters of conf/annotate.toml, which explains each field.

    Raises:
        ConfigError: two values do not go together.
    """

    guidelines: Annotated[str, one_of(*GUIDELINES)]
    corpus: str
    min_words: NonNegativeInt
    max_words: NonNegativeInt
    seed: NonNegativeInt
    max_resource_bytes: NonNegativeInt
    rounds: NonNegativeInt
    pages_at_once: PositiveInt
    pages_a_round: NonNegativeInt
    host: str
    port: Annotated[int, _PORTS]
    replay_port: Annotated[int, _PORTS]
    threads: PositiveInt
    ticket_hours: PositiveInt
    login_hours: PositiveInt
    min_password: NonNegativeInt
    login_tries: PositiveInt
    login_minutes: NonNegativeInt
    idle_seconds: NonNegativeInt

    def __post_init__(self) -> None:
        if not self.corpus or not self.corpus.isprintable() or len(self.corpus) > MOST_LETTERS:
            raise ConfigError(
                Parameter("corpus"),
                f" is {self.corpus!r}; it must have 1 to {MOST_LETTERS} characters that can be seen",
            )
        if self.max_words < self.min_words:
            most, least = Parameter("max_words"), Parameter("min_words")
            raise ConfigError(most, f" is {self.max_words}; it must be at least ", least, f", {self.min_words}")
        if self.port == self.replay_port != 0:
            both = Parameter("port"), " and ", Parameter("replay_port")
            raise ConfigError(*both, f" are both {self.port}; archived pages need another")


def settings(given: Mapping[str, Any]) -> WorkbenchSettings:
    """Load the shipped settings, overlaid by what is given and not None.

    Raises:
        ConfigError: an unknown setting, a value of the wrong type or out of its range.
    """
    return fill(WorkbenchSettings, "annotate.toml", given=given)
