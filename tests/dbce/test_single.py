"""Pages without siblings."""

import numpy as np
import pytest
from hypothesis import given

from dbce_spark.dbce.kept.main_text import text
from dbce_spark.dbce.single import main_blocks, segments
from dbce_spark.model import Label
from tests.support.builders import parsed
from tests.support.strategies import documents

LONG = " ".join(f"word{nth}" for nth in range(45))
MIDDLE = " ".join(f"word{nth}" for nth in range(18))
SHORT = "two words"


def chosen(*blocks: str) -> list[bool]:
    """Mark the blocks that read like content; "@" in front makes a block a link."""
    html = "".join(f"<p><a href=x>{one[1:]}</a></p>" if one.startswith("@") else f"<p>{one}</p>" for one in blocks)
    found: list[bool] = main_blocks(parsed(html).blocks).tolist()
    return found


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([LONG], [True]),
        ([MIDDLE], [True]),
        ([SHORT], [False]),
        (["@" + LONG], [False]),
        ([SHORT, LONG], [True, True]),
        ([LONG, SHORT], [True, True]),
        ([SHORT, SHORT], [False, False]),
        (["@" + SHORT, MIDDLE], [False, False]),
        (["@" + SHORT, LONG], [False, True]),
        (["@" + SHORT, SHORT, MIDDLE], [False, True, True]),
    ],
)
def test_decision_tree(blocks: list[str], expected: list[bool]) -> None:
    """Long blocks, and short ones beside them, are content; links are none, and behind links a block must be longer."""
    actual = chosen(*blocks)

    assert expected == actual


@pytest.mark.parametrize(
    ("behind", "shorter", "longer", "before", "at"),
    [
        ([], 16, 17, [], 0),
        ([], 15, 16, [SHORT], 0),
        ([SHORT], 4, 5, [], 1),
        ([], 40, 41, ["@" + SHORT], 1),
        ([], 17, 18, ["@" + SHORT, SHORT], 1),
    ],
    ids=["own words", "words after", "words before", "own behind links", "after behind links"],
)
def test_constants_of_the_tree(behind: list[str], shorter: int, longer: int, before: list[str], at: int) -> None:
    """One word more, of the block itself or of one beside it, makes it content."""
    counts = (shorter, longer)

    assert [False, True] == [chosen(*before, " ".join(["word"] * count), *behind)[at] for count in counts]


def test_text_is_the_main_blocks() -> None:
    """One line a block, without those that are links."""
    blocks = parsed(f"<ul><li><a href=x>{MIDDLE}</a></li></ul><p>{LONG}</p><p>{LONG}</p>").blocks

    assert text(blocks.text, segments(blocks)) == f"{LONG}\n{LONG}"


@given(documents)
def test_every_block_is_one_segment_without_evidence(html: str) -> None:
    """Words and links decide on each block; that nothing else is known of it is what the segments say."""
    blocks = parsed(html).blocks
    made = segments(blocks)

    assert np.array_equal(blocks.starts, made.starts)
    assert np.array_equal(blocks.ends, made.ends)
    expected = [Label.CONTENT if is_main else Label.BOILERPLATE for is_main in main_blocks(blocks)]

    assert expected == made.labels.tolist()
    assert {(0.5, 16, 0, 0, False)} == set(
        zip(
            made.scores.tolist(),
            made.bits.tolist(),
            made.siblings.tolist(),
            made.snapshots.tolist(),
            made.conflicts.tolist(),
            strict=True,
        )
    )
