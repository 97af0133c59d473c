"""The labels that gold texts give the text nodes of a page, and the agreement of other labels with them."""

import numpy as np

from dbce_spark.evaluation.scoring import leaves
from dbce_spark.evaluation.scoring.node_scores import Confusion, confusion
from dbce_spark.model import Bits, Label


def text_node_labels(html: str, gold: str) -> Bits:
    """Label each text node: content if the gold text holds it (`leaves.held`).

    One without a word, such as one of punctuation, is undecided: it has no truth.
    """
    page_leaves = leaves.parse_leaves(html)
    has_words = page_leaves.has_words
    held = leaves.held(page_leaves, gold)
    return np.select([~has_words, held], [Label.UNDECIDED, Label.CONTENT], Label.BOILERPLATE).astype(np.uint8)


def counts(labels: Bits, truth: Bits) -> Confusion:
    """Count nodes with a decided truth. A node left undecided counts as boilerplate: it is not in the main text."""
    decided = truth != Label.UNDECIDED
    return confusion((truth == Label.CONTENT)[decided], (labels == Label.CONTENT)[decided])
