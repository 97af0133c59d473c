"""The combinations of versions that are tried."""

from configparser import ConfigParser
from itertools import combinations, product
from pathlib import Path

from packaging.requirements import Requirement

from benchmarks.programs.matrix.cells import JAVAS, PYTHONS, SPARKS, covering

ROOT = Path(__file__).parents[2]


def setup() -> ConfigParser:
    found = ConfigParser()
    found.read(ROOT / "setup.cfg", encoding="utf-8")
    return found


def test_any_two_versions_meet_once() -> None:
    """Every pair of versions of two of Spark, Python and Java is in exactly one combination."""
    chosen = [(cell.spark, cell.python, cell.java) for cell in covering()]
    axes = (SPARKS, PYTHONS, JAVAS)

    for one, other in combinations(range(3), 2):
        pairs = [(cell[one], cell[other]) for cell in chosen]
        assert sorted(product(axes[one], axes[other])) == sorted(pairs)


def test_the_versions_are_those_of_the_package() -> None:
    """The package may be installed with every Spark that is tried and with no other, and names each Python."""
    lines = setup()["options.extras_require"]["spark"].splitlines()
    bounds = next(Requirement(line).specifier for line in lines if line.startswith("pyspark"))
    named = [line.rpartition(" ")[2] for line in setup()["metadata"]["classifiers"].split("\n") if "3." in line]

    assert [*SPARKS] == [version for version in ("4.0", *SPARKS, "4.4", "5.0") if version in bounds]
    assert [*PYTHONS] == named
