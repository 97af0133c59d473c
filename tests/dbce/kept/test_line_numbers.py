"""Numbers of lines beside code."""

import pytest

from dbce_spark.dbce.kept.line_numbers import line_numbers
from tests.support.builders import parsed


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("<td><div><pre>1\n2\n3</pre></div><td><pre>a\n\nb</pre>", ["a\n\nb"]),
        ("<td><pre><a href=#9> 9</a><br><a href=#10>10</a></pre><td><pre>a\nb</pre>", ["a\nb"]),
        ("<td><pre>1\n2\n3</pre><td><pre>a\nb</pre>", ["1\n2\n3", "a\nb"]),
        ("<td><pre>1\n3</pre><td><pre>a\nb</pre>", ["1\n3", "a\nb"]),
        ("<td><pre>1</pre><td><pre>a</pre>", ["1", "a"]),
        ("<td><p>1\n2</p><td><pre>a\nb</pre>", ["1 2", "a\nb"]),
        ("<td><pre>1\n2</pre><tr><td><pre>a\nb</pre>", ["1\n2", "a\nb"]),
        ("<td><pre>x\ny</pre><td><pre>1\n2</pre>", ["x\ny", "1\n2"]),
    ],
)
def test_numbers_of_lines_are_dropped(row: str, expected: list[str]) -> None:
    """As many as the lines of the code in the next cell; others are text."""
    blocks = parsed(f"<table><tr>{row}</table>").blocks

    assert expected == [blocks.text_of(at) for at in range(len(blocks)) if at not in line_numbers(blocks)]
