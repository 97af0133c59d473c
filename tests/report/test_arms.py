"""The arms of a cross show what they share with its page."""

from pathlib import Path

import numpy as np

from dbce_spark import config
from dbce_spark.html import page
from dbce_spark.model import Label
from dbce_spark.report.arms import fullest, masked_segments
from dbce_spark.report.page_sample import Pick
from dbce_spark.report.page_views import views
from dbce_spark.report.report_output import ReportOutput


def test_marked_spans_hold_the_masked_words() -> None:
    """The spans of a mask are its runs of words, cut where a block ends."""
    html = "<p>one two three four</p><p>five 六七 eight</p>".encode()
    blocks = page.parse(html, "utf-8", config.default().page).blocks
    mask = np.array([0, 1, 1, 1, 1, 0, 1, 0], np.bool_)
    segments = masked_segments(blocks, mask, Label.CONTENT)
    spans = zip(segments.starts.tolist(), segments.ends.tolist(), strict=True)
    assert ["two three four", "five", "七"] == [blocks.text[start:end] for start, end in spans]
    assert [0, 1, 1] == segments.blocks.tolist()


def test_no_word_is_marked_by_an_empty_mask() -> None:
    """Pages that share nothing give no segments."""
    blocks = page.parse(b"<p>one two</p>", "utf-8", config.default().page).blocks
    assert len(masked_segments(blocks, np.zeros(2, np.bool_), Label.CONTENT)) == 0


def test_the_fullest_cross_has_most_arms_then_similarity() -> None:
    """More arms count before more similarity, and the id decides between equals."""
    some = [
        {"cross_id": cross_id, "bits": bits, "up_similarity": up, "down_similarity": 0.5}
        for cross_id, bits, up in [("d", "11100", 1.0), ("c", "11110", 0.7), ("b", "11110", 0.9), ("a", "11110", 0.7)]
    ]
    assert "b" == fullest(some)["cross_id"]
    assert "a" == fullest([one for one in some if one["cross_id"] != "b"])["cross_id"]


def test_siblings_share_the_frame_and_snapshots_the_article(finished: Path) -> None:
    """For an article captured twice, siblings share the text around it, and the other capture shares nearly all."""
    source = ReportOutput(str(finished))
    rows = {row["url"]: row for row in source.rows(ids(source), ["url", "status", "crosses"]).values()}
    view = next(views([Pick(rows["http://large.example/article/0"]["capture_id"], "")], source))
    shares = {arm.name: arm.shared_words / arm.words for arm in view.arms}
    assert {True} == {share < 0.2 for name, share in shares.items() if name in ("up", "down")}
    assert {True} == {share > 0.9 for name, share in shares.items() if name in ("prev", "next")}
    around = next(arm for arm in view.arms if arm.name == "up").document
    assert '<span class="dbce-boilerplate">Home of the site</span>' in around
    assert '<span class="dbce-content">' not in around


def ids(source: ReportOutput) -> list[str]:
    return [one for batch in source.batches("extractions", ["capture_id"]) for one in batch["capture_id"].to_pylist()]
