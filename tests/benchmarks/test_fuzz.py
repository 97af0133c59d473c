"""The fuzz targets hold for their seeds, for damaged seeds, and for the inputs that once failed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.programs.fuzz.seeds import SEEDS
from benchmarks.programs.fuzz.targets import TARGETS

MADE = {name: list(seeds()) for name, seeds in SEEDS.items()}
SPLICES = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), st.binary(max_size=20)), max_size=4)


@pytest.mark.parametrize("name", TARGETS)
def test_seeds(name: str) -> None:
    """All that a fuzzer begins with holds."""
    for seed in MADE[name]:
        TARGETS[name](seed)


@pytest.mark.parametrize("name", TARGETS)
@given(data=st.data(), splices=SPLICES)
def test_damaged_seeds(name: str, data: st.DataObject, splices: list[tuple[float, int, bytes]]) -> None:
    """So does what is left of them when bytes are taken out and others put in."""
    content = data.draw(st.sampled_from(MADE[name]))
    for where, length, other in splices:
        at = int(where * len(content))
        content = content[:at] + other + content[at + length :]

    TARGETS[name](content)


@pytest.mark.parametrize("name", TARGETS)
@given(content=st.binary(max_size=300))
def test_any_bytes(name: str, content: bytes) -> None:
    """And any bytes at all."""
    TARGETS[name](content)
