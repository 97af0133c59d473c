"""Bit-pattern classification (thesis 2.3 and appendix B): the label of a segment by the captures it was found in."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from dbce_spark.model import Bits, Label

C, B = Label.CONTENT, Label.BOILERPLATE

TABLES: Mapping[str, Mapping[str, Label]] = {
    # Table B.1: crosses with two entries
    "11000": {"10000": C, "11000": B},
    # Table B.2: crosses with three entries (v1)
    "11100": {"10000": C, "10100": B, "11000": B, "11100": B},
    # Table B.3: crosses with three entries (v2)
    "11001": {"10000": B, "10001": C, "11000": B, "11001": B},
    "11010": {"10000": B, "10010": C, "11000": B, "11010": B},
    # Table B.4: crosses with up to four entries
    "11011": {
        "10000": B,
        "10001": B,
        "10010": B,
        "10011": C,
        "11000": B,
        "11001": B,
        "11010": B,
        "11011": B,
    },
    # Table B.5: crosses with up to five entries
    "11101": {"10001": C, "11101": B},
    "11110": {"10010": C, "11110": B},
    "11111": {"10011": C, "11111": B},
}
"""Cross bits -> segment bits -> label, in the order (cur, up, down, prev, next). Every other pattern is undecided."""


def _as_array() -> npt.NDArray[np.uint8]:
    labels = np.full((32, 32), Label.UNDECIDED, np.uint8)
    for cross, of_cross in TABLES.items():
        for segment, label in of_cross.items():
            labels[int(cross, 2), int(segment, 2)] = label
    return labels


_LABELS = _as_array()


def labels_of_bits(cross_bits: int, segment_bits: Bits) -> Bits:
    """Label each segment by its occurrence bits, in a cross with these arms: uint8, one a segment."""
    labels: Bits = _LABELS[cross_bits][segment_bits]
    return labels


def propagate(labelled: Iterable[tuple[str, Label]]) -> dict[str, Label]:
    """Label elements by the text in them: from the deepest layer up, a group hands on its one label.

    `labelled` are the XPaths of the elements that hold the segments, with the segments' labels. The result maps every
    element that got a label to it; one whose children disagree has none, and neither have those above it. Elements
    without text do not count.
    """
    layers: dict[int, dict[str, Label | None]] = defaultdict(dict)
    for xpath, label in labelled:
        _agree(layers[xpath.count("/")], xpath, label)
    for depth in range(max(layers, default=0), 1, -1):
        for xpath, label_or_none in layers[depth].items():
            _agree(layers[depth - 1], xpath.rpartition("/")[0], label_or_none)
    found = {xpath: label for layer in layers.values() for xpath, label in layer.items()}
    return {xpath: label for xpath, label in sorted(found.items()) if label is not None}


def _agree(layer: dict[str, Label | None], xpath: str, label: Label | None) -> None:
    layer[xpath] = label if layer.get(xpath, label) == label else None
