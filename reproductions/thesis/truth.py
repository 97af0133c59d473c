"""The labels that gold texts give the text nodes of a page, and how well others agree with them."""

import numpy as np

from dbce_spark.evaluation import leaves
from dbce_spark.evaluation.node_scores import Confusion, confusion
from dbce_spark.model import Bits, Label


def text_node_labels(html: str, gold: str) -> Bits:
    """The label of each text node: content if the gold text holds it (`leaves.held`).

    One without a word, such as one of punctuation, is undecided: nothing is known of it.
    """
    found = leaves.parse_leaves(html)
    has_words = np.array([bool(words) for words in found.words], np.bool_)
    held = leaves.held(found, gold)
    return np.select([~has_words, held], [Label.UNDECIDED, Label.CONTENT], Label.BOILERPLATE).astype(np.uint8)


def counts(labels: Bits, truth: Bits) -> Confusion:
    """Nodes whose truth is known. One that is left undecided counts as boilerplate: it is not in the main text."""
    known = truth != Label.UNDECIDED
    return confusion((truth == Label.CONTENT)[known], (labels == Label.CONTENT)[known])
