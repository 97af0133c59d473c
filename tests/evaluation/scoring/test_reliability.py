"""Confidences beside the F1 that was reached."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dbce_spark.evaluation.reporting import evaluation_report, evaluation_summary, score_plots
from dbce_spark.evaluation.scoring import reliability
from dbce_spark.evaluation.scoring.analysis import analyse
from dbce_spark.evaluation.scoring.node_scores import Confusion, NodeScoreRow
from dbce_spark.evaluation.scoring.reliability import Reliability
from dbce_spark.evaluation.scoring.scores import Scores
from tests.support.page_scores import made_scores, page

CONFIDENCE = [0.2, 0.49, 0.5, 0.97, 0.98, 1.0, math.nan]
F1 = [0.1, 0.5, 0.6, 0.9, 0.95, 1.0, 0.3]
PAGES = [page(at, site=str(at), page_type="article" if at < 5 else "") for at in range(7)]
READ = ("article", "listing", "", "article", "article", "article", "")


def scores() -> Scores:
    """Two extractors; only the second one estimates anything, on all pages but the last."""
    made = made_scores(PAGES, {"peer": [0.5] * 7, "ours": F1})
    return replace(made, confidences=np.array([[math.nan] * 7, CONFIDENCE]), read_types=(("",) * 7, READ))


def measured() -> Reliability:
    found = reliability.measure(scores())
    assert found
    return found


def test_pages_are_counted_between_bounds() -> None:
    """A bound belongs to the upper step; steps without pages and pages without confidence are left out."""
    steps = measured().steps
    assert [("under 0.5", 2), ("0.5 to 0.6", 1), ("0.95 to 0.98", 1), ("0.98 to 1", 2)] == [
        (step.name, step.pages) for step in steps
    ]
    assert pytest.approx([0.345, 0.5, 0.97, 0.99]) == [step.confidence for step in steps]
    assert pytest.approx([0.3, 0.6, 0.9, 0.975]) == [step.f1 for step in steps]
    assert [0.0, 0.0, 1.0, 1.0] == [step.good for step in steps]
    assert [True, False, False, True] == [step.interval.is_known for step in steps]


def test_the_first_extractor_with_confidences_is_measured() -> None:
    """Its confidence is .015 too high on average, and ranks as F1 does; without any there is nothing to measure."""
    found = measured()
    assert "ours" == found.extractor
    assert pytest.approx(0.015) == found.excess
    assert pytest.approx(1.0) == found.correlation
    assert reliability.measure(made_scores(PAGES, {"peer": F1})) is None


def test_page_types_are_counted_where_both_are_known() -> None:
    """Three articles read as such, one as a listing; no page without a type of the gold or one that was read."""
    assert {("article", "article"): 3, ("listing", "article"): 1} == measured().types


def test_summary_and_report_show_the_confidence() -> None:
    """A row a step with its interval, the types, and a dot a step in the plot; nothing if no extractor has any."""
    nodes = [NodeScoreRow("made", name, Confusion(1, 1, 1, 1)) for name in ("peer", "ours")]
    analysed = analyse(scores(), nodes)
    summary = evaluation_summary.text(analysed, [])
    assert "| 0.98 to 1 | 2 | 0.990 | 0.975 (0.950-1.000) | 100.0 % |" in summary
    assert "| read as | article |" in summary
    assert 4 == score_plots.reliability_plot(measured().steps).count("<circle")
    assert 'id="confidence"' in evaluation_report.html(analysed, scores(), [], {})

    plain = made_scores(PAGES, {"peer": F1, "ours": F1})
    assert "## Confidence" not in evaluation_summary.text(analyse(plain, nodes), [])
    assert 'id="confidence"' not in evaluation_report.html(analyse(plain, nodes), plain, [], {})
