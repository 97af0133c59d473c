"""Scores as arrays and as rows."""

from pathlib import Path

import pyarrow.parquet as pq

from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.scoring import facts, scores
from dbce_spark.evaluation.scoring.node_scores import Confusion
from dbce_spark.evaluation.scoring.scores import NAMES, SCHEMA, Scores
from tests.support.fake_extractors import gold_pages, line

LINES = [
    line(name, html="<p>one two three four</p><p>five six</p>", gold="one two three four", site="a.example")
    for name in "abc"
]
TEXTS = {
    "half": {
        "a": Extracted("one two three four", 0.5, ""),
        "b": Extracted("one two", 0.25, ""),
        "c": Extracted("", 1.0, "timeout: no text after 1 s"),
    },
    "whole": dict.fromkeys("abc", Extracted("one two three four", 2.0, "")),
}


def made(folder: Path, order: tuple[str, ...] = ("whole", "half")) -> Scores:
    pages = gold_pages(folder, LINES)
    advanced: list[int] = []
    parts, counted = scores.score(pages, facts.measure(pages), TEXTS, advanced.append)
    assert 6 == sum(advanced)
    # Two leaves a page: half of the first, which "b" gives, is enough for it.
    assert {"half": Confusion(2, 1, 0, 3), "whole": Confusion(3, 0, 0, 3)} == {
        row.extractor: row.nodes for row in counted
    }
    return scores.join(parts, order)


def test_scores_stand_in_the_requested_order(tmp_path: Path) -> None:
    """Extractors as they were named, pages as they stand in the set; a miss is 0."""
    found = made(tmp_path)
    assert [[1.0, 1.0, 1.0], [1.0, 2 / 3, 0.0]] == found.f1.tolist()
    assert ("whole", "half") == found.extractors
    assert (("", "", ""), ("", "", "timeout: no text after 1 s")) == found.errors


def test_every_page_extractor_and_metric_is_a_row(tmp_path: Path) -> None:
    """Three pages, two extractors, all metrics, in the columns of the schema."""
    scores.write(str(tmp_path / "scores.parquet"), made(tmp_path))
    table = pq.read_table(tmp_path / "scores.parquet")
    rows = table.to_pylist()
    assert SCHEMA == table.schema
    assert 3 * 2 * len(NAMES) == len({(row["page_id"], row["extractor"], row["metric"]) for row in rows}) == len(rows)
    (row,) = [row for row in rows if (row["page_id"], row["extractor"], row["metric"]) == ("b", "half", "rouge_l")]
    expected = {
        "precision": 1.0,
        "recall": 0.5,
        "f1": 2 / 3,
        "siblings": 2,
        "snapshots": 0,
        "seconds": 0.25,
        "error": "",
    }
    assert expected == {name: row[name] for name in expected}
