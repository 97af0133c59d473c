"""The plot of confidence, from results."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.__main__ import main
from dbce_spark.evaluation.scoring import scores
from tests.support.page_scores import made_scores, page


def results(folder: Path) -> str:
    """Three pages by one extractor, the last one without a confidence."""
    made = made_scores([page(at, site=str(at)) for at in range(3)], {"dbce": [0.4, 0.9, 1.0]})
    scores.write(f"{folder}/scores.parquet", replace(made, confidences=np.array([[0.3, 0.96, np.nan]])))
    return str(folder)


def test_a_dot_is_where_confidence_and_f1_are(tmp_path: Path) -> None:
    """Two pages are two dots, each with its numbers; the page without a confidence has none."""
    assert 0 == main(["confidence", results(tmp_path), "--output", str(tmp_path / "plot.svg")])
    drawn = (tmp_path / "plot.svg").read_text(encoding="utf-8")
    assert 2 == drawn.count("<circle")
    assert "confidence under 0.5, 1 pages: mean 0.300, F1 0.400" in drawn


def test_results_without_confidence_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of another extractor, and in a folder that holds no results."""
    folder = results(tmp_path)
    arguments = ["--output", str(tmp_path / "plot.svg")]
    assert 0 != main(["confidence", folder, "--extractor", "lxml", *arguments])
    assert "lxml has no confidence on any page" in capsys.readouterr().err
    assert 0 != main(["confidence", str(tmp_path / "none"), *arguments])
    assert "is no file of scores that `dbce evaluate` wrote" in capsys.readouterr().err
