"""Tables, code and links of Markdown, beside those of a page that are in its gold text."""

import lzma
from pathlib import Path

import pytest

from benchmarks import structure_scores
from dbce_spark.files import jsonl

TABLE = [["a", "b"], ["c", "d"]]
HTML = (
    "<p><a href=/menu/of/all>all the other pages</a> <a href='http://[no'>no address</a></p>"
    "<p>See <a href=/one>the first of pages</a>.</p>"
    "<table><tr><th>Year</th><th>Ships</th></tr><tr><td>1900</td><td>seven</td></tr></table>"
    "<table><tr><th>menu</th><th>other</th></tr><tr><td>x</td><td>y</td></tr></table><pre>a = 1\nb = 2</pre>"
)
GOLD = "See the first of pages.\nYear\nShips\n1900\nseven\na = 1\nb = 2"


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (TABLE, 1.0),
        ([["a", "b"]], 1 - 3 / 7),
        ([["a", "b"], ["c", "e"]], 1 - 1 / 7),
        ([["a", "b"], ["c", "d", "e"]], 1 - 1 / 8),
    ],
    ids=["same", "row", "other cell", "one cell more"],
)
def test_tables_are_compared_as_trees(other: structure_scores.Table, expected: float) -> None:
    """A node that is missing costs 1, of all nodes."""
    assert expected == pytest.approx(structure_scores.teds(TABLE, other))


def test_what_is_in_the_gold_text_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tables, its code and its links; others cost precision."""
    path = tmp_path / "gold.jsonl.xz"
    with lzma.open(path, "wb") as file:
        file.write(jsonl.line({"id": "1", "url": "", "html": HTML, "gold": GOLD, "dataset": "t", "lang": "en"}))
    table = "| Year | Ships |\n| --- | --- |\n| 1900 | seven |\n"
    menu = "| menu | other |\n| --- | --- |\n| x | y |"
    answers = {
        "all": f"See [the first of pages](/one).\n\n{table}\n```\na = 1\nb = 2\n```",
        "half": f"[all](/menu/of/all) [the first](/one)\n\n{table}\n\n{menu}\n\n    a = 1\n    c",
        "none": "See the first of pages.",
    }
    extractors = {name: lambda answer=answer: lambda _: answer for name, answer in answers.items()}
    monkeypatch.setattr(structure_scores, "EXTRACTORS", extractors)

    lines = structure_scores.measure([str(path)], [*answers])

    assert [
        "|  | tables (1) | code (1) | links (1) |",
        "| --- | --- | --- | --- |",
        "| all | 1.000 | 1.000 | 1.000 |",
        "| half | 0.667 | 0.500 | 0.667 |",
        "| none | 0.000 | 0.000 | 0.000 |",
    ] == lines.splitlines()
