"""Runs of blocks that stand once more right behind themselves are kept once."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.kept.repeated_blocks import LEAST_BLOCKS, without_repeats
from dbce_spark.model import Blocks
from tests.support.builders import parsed


def kept(texts: str | list[str], words: int = 5, dropped: str = "", tag: str = "p") -> list[bool]:
    """Keep blocks of these letters, each repeated as so many words, but for those that are dropped already."""
    blocks = parsed("".join(f"<{tag}>{' '.join([text] * words)}</{tag}>" for text in texts)).blocks
    is_kept = np.array([text not in dropped for text in texts])
    left: list[bool] = without_repeats(blocks, np.array([*map(ord, texts)]), is_kept).tolist()
    return left


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ("abcdabcd", "abcd----"),
        ("abcdabcdabcd", "abcd--------"),
        ("xabcdabcdy", "xabcd----y"),
        ("abcabc", "abcabc"),
        ("abcdxabcd", "abcdxabcd"),
        ("aaaaaaaa", "aaaaaaaa"),
        ("aabcaabc", "aabc----"),
    ],
)
def test_a_run_that_follows_itself_is_kept_once(texts: str, expected: str) -> None:
    """However often; not one of three blocks, one that comes again later, or one block time and again."""
    assert [sign != "-" for sign in expected] == kept(texts)


def test_few_words_are_no_run() -> None:
    """Cells of a table may recur row by row."""
    assert all(kept("abcdabcd", words=4))


def test_rows_that_are_equal_are_kept() -> None:
    """A log has the same line twice."""
    blocks = parsed(
        "<table>"
        + "<tr><td>May the fourth<td>two more ships came in<td>none of them went out<td>the wide bay is calm and clear"
        * 2
    ).blocks

    assert without_repeats(blocks, np.tile(np.arange(4), 2), np.ones(8, np.bool_)).all()


def test_cells_of_equal_rows_keep_all_their_blocks() -> None:
    """Also the first block of a row, behind which another one of its cell follows."""
    others = ("two more ships came in", "none of them went out", "the wide bay is calm and clear")
    row = "<tr><td><p>May the</p><p>fourth</p>" + "".join(f"<td>{other}" for other in others)
    blocks = parsed(f"<table>{row * 2}</table>").blocks

    assert without_repeats(blocks, np.tile(np.arange(5), 2), np.ones(10, np.bool_)).all()


def test_rows_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each run: a page of 3,200 runs took six seconds."""
    looked: list[Blocks] = []
    in_rows = Blocks.in_rows

    def noted(blocks: Blocks) -> npt.NDArray[np.bool_]:
        looked.append(blocks)
        return in_rows(blocks)

    monkeypatch.setattr(Blocks, "in_rows", noted)
    texts = "".join(chr(at + step) for at in range(1000, 1200, 4) for step in [*range(4), *range(4)])

    assert 200 == sum(kept(texts))
    assert 1 == len(looked)


def test_what_is_dropped_between_does_not_count() -> None:
    """A run that follows itself behind a button follows itself."""
    assert [True] * 4 + [False] * 5 == kept("abcdxabcd", dropped="x")


def test_a_heading_that_follows_itself_is_kept_once() -> None:
    """As the title of a page does that stands for telephones, too; a paragraph may be said twice."""
    assert [True, False, True, True] == kept("aaba", words=2, tag="h2")
    assert [True, True, True, True] == kept("aaba", words=2)


def test_a_heading_and_a_paragraph_may_have_the_same_text() -> None:
    """In either order."""
    blocks = parsed("<p>news</p><h2>news</h2><p>news</p>").blocks

    assert without_repeats(blocks, np.array([7, 7, 7]), np.ones(3, np.bool_)).all()


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=24))
def test_every_text_that_is_kept_stays_once(texts: list[str]) -> None:
    """No text goes that is not there before, by the length of a run at least."""
    actual = kept(texts)

    assert set(texts) == {text for text, stays in zip(texts, actual, strict=True) if stays}
    for at in np.flatnonzero(~np.array(actual)).tolist():
        assert any(texts[at] == texts[at - length] for length in range(LEAST_BLOCKS, at + 1))
