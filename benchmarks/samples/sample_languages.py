"""The languages and registers that the sites are written in, read from `data/*.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from benchmarks.samples.prose import Register

NUMBERS = tuple(str(number) for number in range(2, 400, 3))
"""Numbers that fill {number} in every language."""


@dataclass(frozen=True, eq=False)
class Language:
    """The word lists of a language, its names of people, and its registers."""

    words: Mapping[str, tuple[str, ...]]
    names: tuple[str, ...]
    registers: Mapping[str, Register]

    @classmethod
    def read(cls, name: str) -> "Language":
        """Read `data/NAME.toml`; there a list is one string with bars between its words."""
        table = tomllib.loads((files(__package__) / "data" / f"{name}.toml").read_text(encoding="utf-8"))
        words = _lists(table["words"])
        names = words.get("names") or tuple(
            f"{first} {last}" for last in words["last_names"] for first in words["first_names"]
        )
        shared = words | {"name": names, "number": NUMBERS}
        registers = {
            title: Register(
                shared | _lists(register.get("words", {})),
                sentences=register["sentences"],
                headlines=register["headlines"],
                gap=table["gap"],
            )
            for title, register in table["registers"].items()
        }
        return cls(words, names, registers)


def _lists(table: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(word.strip() for word in text.split("|")) for name, text in table.items()}


ENGLISH = Language.read("english")
GERMAN = Language.read("german")
RUSSIAN = Language.read("russian")
JAPANESE = Language.read("japanese")

NEWS = ENGLISH.registers["news"]
GOODS = ENGLISH.registers["goods"]
REVIEWS = ENGLISH.registers["reviews"]
COOKING = ENGLISH.registers["cooking"]
STEPS = ENGLISH.registers["steps"]
MANUAL = ENGLISH.registers["manual"]
WORKSHOP = ENGLISH.registers["workshop"]
TOWN_PAPER = GERMAN.registers["town"]
DIARY = RUSSIAN.registers["diary"]
TOWN_MAGAZINE = JAPANESE.registers["town"]
