"""Features of how a segment looks: of the boxes that a browser gives its text (KrdWrd 2.2.3.3)."""

from math import log1p

import numpy as np

from dbce_spark.annotation.markup.rendering import RenderedText, Rendering
from reproductions.krdwrd.segment_features import Values

NAMES = (
    "area",  # logarithm of pixels
    "boxes",  # lines and pieces of lines, logarithm
    "spread of left edges",  # standard deviation, in widths of the page
    "height of a box",  # mean, logarithm of pixels
    "left",  # of the leftmost box, in widths of the page
    "top",  # of the topmost box, in heights of the page
    "font size",  # logarithm of pixels
    "visible",
)


def features(rendering: Rendering) -> Values:
    """Compute one row a segment, with the columns of NAMES; of a segment without a box all but the font size is 0."""
    rows = [_of_run(run, max(1.0, rendering.width), max(1.0, rendering.height)) for run in rendering.runs]
    return np.array(rows, np.float64).reshape(-1, len(NAMES))


def _of_run(run: RenderedText, width: float, height: float) -> list[float]:
    boxes = np.array(run.boxes, np.float64).reshape(-1, 4)
    if not len(boxes):
        return [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, log1p(run.font_size), 0.0]
    left, top, wide, high = boxes.T
    return [
        log1p(float((wide * high).sum())),
        log1p(len(boxes)),
        float(left.std()) / width,
        log1p(float(high.mean())),
        float(left.min()) / width,
        float(top.min()) / height,
        log1p(run.font_size),
        float(run.is_visible),
    ]
