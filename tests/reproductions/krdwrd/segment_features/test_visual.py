"""Features of a segment's look."""

import numpy as np

from dbce_spark.annotation.markup.rendering import UNSEEN, RenderedText, Rendering
from reproductions.krdwrd.segment_features import visual


def features_of(run: RenderedText) -> dict[str, float]:
    page = Rendering(page="p", width=1000, height=5000, runs=(run,))
    return dict(zip(visual.NAMES, visual.features(page)[0].tolist(), strict=True))


def test_there_are_as_many_as_in_table_41() -> None:
    """8."""
    assert len(visual.NAMES) == 8


def test_two_lines_are_measured_in_pages() -> None:
    """Two boxes, the first of them indented: 100 and 300 of 1,000 pixels from the left, at a fifth of the height."""
    found = features_of(RenderedText(boxes=((300, 1000, 100, 20), (100, 1020, 200, 20)), font_size=16, is_visible=True))

    assert (round(float(np.expm1(found["area"]))), round(float(np.expm1(found["boxes"])))) == (6000, 2)
    assert (found["left"], found["top"], found["spread of left edges"], found["visible"]) == (0.1, 0.2, 0.1, 1.0)


def test_what_takes_no_room_is_not_seen() -> None:
    """And has no place."""
    assert set(features_of(UNSEEN).values()) == {0.0}
