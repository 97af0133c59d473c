"""Numbers of lines: a column of a table beside the code that they count."""

import numpy as np

from dbce_spark.model import Blocks


def line_numbers(blocks: Blocks) -> list[int]:
    """Find the line numbers of a page: as many in a <pre> as lines in the <pre> of the next cell of the row. Nobody
    copies these."""
    found = []
    for at in np.flatnonzero(blocks.words[:-1] > 1).tolist():
        row = _row_of_code(blocks.xpaths[at])
        if row and row == _row_of_code(blocks.xpaths[at + 1]):
            numbers = blocks.text_of(at).split("\n")
            if len(numbers) == blocks.text_of(at + 1).count("\n") + 1 and _is_series(numbers):
                found.append(at)
    return found


def _row_of_code(xpath: str) -> str:
    """Find the path of the row that a <pre> stands in; "" of any other block."""
    before, cell, within = xpath.rpartition("/td[")
    return before if cell and "/pre[" in within else ""


def _is_series(numbers: list[str]) -> bool:
    """Test for numbers that ascend by one."""
    if len(numbers) < 2 or not all(one.strip().isdecimal() and len(one.strip()) < 7 for one in numbers):
        return False
    first = int(numbers[0])
    return [*map(int, numbers)] == [*range(first, first + len(numbers))]
