"""Merge the labels that the crosses of a capture give its nodes: by evidence, votes, caution, or learned (thesis 2.4).

Nodes that all crosses with an opinion label alike inherit that label; the rules differ in what becomes of the rest.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.dbce_elements import Nodes
from dbce_spark.model import Bits, Label
from reproductions.thesis.cross_learning import Learner, examples, learn, reclassify
from reproductions.thesis.windows import vectors

LAYERS = 3
"""Of the windows that the learned merge sees: the widest of the thesis."""


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


Rule = Callable[[Opinions], Bits]
"""Merges the labels of several crosses to one label a node."""


def by_evidence(opinions: Opinions) -> Bits:
    """Decide by the captures in the crosses, as `resolve` does: those that lack a text against those that hold
    it."""
    return _settled(opinions, _labels(opinions.scores > 0.5, opinions.scores < 0.5))


def by_votes(opinions: Opinions) -> Bits:
    """Decide by the greater number of crosses; a draw is undecided."""
    content = np.count_nonzero(opinions.labels == Label.CONTENT, axis=0)
    boilerplate = np.count_nonzero(opinions.labels == Label.BOILERPLATE, axis=0)
    return _settled(opinions, _labels(content > boilerplate, content < boilerplate))


def by_caution(opinions: Opinions) -> Bits:
    """Call boilerplate what one cross calls so: a text that a few siblings hold is the site's, whoever lacks it."""
    return _settled(opinions, np.full(len(opinions.nodes), Label.BOILERPLATE, np.uint8))


def learned(learner: Learner) -> Rule:
    """Label the nodes in conflict by a model of the nodes that the crosses agree on."""

    def rule(opinions: Opinions) -> Bits:
        agreed = opinions.agreed
        if not opinions.conflicts.any():
            return agreed
        windows = vectors(opinions.nodes, LAYERS)
        return _settled(opinions, reclassify(learn(learner, examples(windows, agreed)), windows, agreed))

    return rule


def rules(learner: Learner) -> Mapping[str, Rule]:
    """Return all rules by name."""
    return {"evidence": by_evidence, "votes": by_votes, "caution": by_caution, "learned": learned(learner)}


def _settled(opinions: Opinions, otherwise: Bits) -> Bits:
    return np.where(opinions.conflicts, otherwise, opinions.agreed)


def _labels(content: npt.NDArray[np.bool_], boilerplate: npt.NDArray[np.bool_]) -> Bits:
    return np.select([content, boilerplate], [Label.CONTENT, Label.BOILERPLATE], Label.UNDECIDED).astype(np.uint8)
