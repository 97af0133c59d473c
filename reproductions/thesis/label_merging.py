"""Merge the labels that the crosses of a capture give its nodes (thesis 2.4).

Nodes that all crosses with an opinion label alike inherit that label; evidence decides the rest.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dbce_spark.model import Bits, Label
from reproductions.thesis.nodes import Nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinions:
    """The labels that the crosses give the nodes of a capture, cut wherever the bits of one of them change."""

    nodes: Nodes
    labels: npt.NDArray[np.uint8]  # shape (crosses, nodes)
    scores: npt.NDArray[np.float32]  # share of the evidence that speaks for content

    @property
    def agreed(self) -> Bits:
        """Return the label of each node that the crosses agree on, UNDECIDED for the others."""
        content, boilerplate = self._any(Label.CONTENT), self._any(Label.BOILERPLATE)
        return _labels(content & ~boilerplate, boilerplate & ~content)

    @property
    def conflicts(self) -> npt.NDArray[np.bool_]:
        return self._any(Label.CONTENT) & self._any(Label.BOILERPLATE)

    def _any(self, label: Label) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = (self.labels == label).any(axis=0)
        return found


def by_evidence(opinions: Opinions) -> Bits:
    """Decide by the captures in the crosses, as `resolve` does: those that lack a text against those that hold
    it."""
    decided = _labels(opinions.scores > 0.5, opinions.scores < 0.5)
    return np.where(opinions.conflicts, decided, opinions.agreed)


def _labels(content: npt.NDArray[np.bool_], boilerplate: npt.NDArray[np.bool_]) -> Bits:
    return np.select([content, boilerplate], [Label.CONTENT, Label.BOILERPLATE], Label.UNDECIDED).astype(np.uint8)
