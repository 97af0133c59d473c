"""Label undecided nodes by their neighbours, as jusText does with short texts (thesis, chapter 5, "Reclassification").

Not one of the thesis's test cases; it proposes it as a way to do without learning. Measured as T007.
"""

import numpy as np

from dbce_spark.dbce.dbce_elements import TEXT_DENSITY, Nodes
from dbce_spark.model import Bits, Label


def in_context(nodes: Nodes, labels: Bits, *, min_density: float) -> Bits:
    """Call undecided nodes content between two content nodes as dense as `min_density`, and boilerplate elsewhere.

    The two are the nearest decided nodes before and behind, in reading order; densities are words a line.
    """
    decided = np.flatnonzero(labels != Label.UNDECIDED)
    open_nodes = np.flatnonzero(labels == Label.UNDECIDED)
    carries = (labels == Label.CONTENT) & (nodes.metrics[: len(nodes), TEXT_DENSITY] >= min_density)
    carries_at = np.concatenate(([False], carries[decided], [False]))
    behind = np.searchsorted(decided, open_nodes) + 1
    settled = labels.copy()
    settled[open_nodes] = np.where(carries_at[behind - 1] & carries_at[behind], Label.CONTENT, Label.BOILERPLATE)
    return settled
