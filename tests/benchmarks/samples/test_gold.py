"""The pages of the sample archive as gold."""

import json
from pathlib import Path

import pytest

from benchmarks.samples import write_archive
from benchmarks.samples.sample_gold import write_gold
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.scoring import facts


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    write_gold(path, pages=40, seed=1)
    return path


def test_gold_is_what_the_labels_say(gold: Path, tmp_path: Path) -> None:
    """A line for every page that labels.jsonl has, with its content and without its comments."""
    write_archive(tmp_path / "archive", pages=40, seed=1)
    labels, lines = (
        [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
        for path in (tmp_path / "archive" / "labels.jsonl", gold)
    )
    expected = [(one["url"], one["timestamp"], "\n".join(one["content"]), one["lang"]) for one in labels]
    assert expected == [(one["url"], one["wayback_ts"], one["gold"], one["lang"]) for one in lines]


def test_gold_of_the_sample_has_no_error(gold: Path) -> None:
    """Every word of it is in its page; pages have siblings and snapshots."""
    (pages,) = datasets.read([str(gold)]).sets.values()
    measured = facts.measure(pages)
    assert [] == [one.page_id for one in measured if one.gold_error]
    assert {True} == {one.siblings > 0 for one in measured}
    assert max(one.snapshots for one in measured) >= 2
