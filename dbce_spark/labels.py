"""The three verdicts on a piece of text, and the bits they are read from."""

from enum import IntEnum

ARMS = ("cur", "up", "down", "prev", "next")
"""The five places of a cross, in the order of its bits (thesis 2.3, figure 2.7)."""

SIBLING_ARMS = ("up", "down")
SNAPSHOT_ARMS = ("prev", "next")


class Label(IntEnum):
    """Verdict on a segment. UNDECIDED is what the thesis calls "invalid"."""

    UNDECIDED = 0
    CONTENT = 1
    BOILERPLATE = 2

    @property
    def word(self) -> str:
        return self.name.lower()


def arm_bit(arm: str) -> int:
    """The bit of an arm: 16 for `cur` down to 1 for `next`, so that "11010" reads as in the thesis."""
    return 16 >> ARMS.index(arm)


def bits_text(bits: int) -> str:
    """Occurrence bits as the thesis writes them: 26 -> "11010"."""
    return format(bits, "05b")
