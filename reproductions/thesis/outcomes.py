"""The outcome of a way of labelling on each page: counts of nodes, and the text beside the gold text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.scoring.metrics import rouge_l, words
from dbce_spark.evaluation.scoring.node_scores import Confusion
from dbce_spark.files.markdown_table import table
from dbce_spark.model import Bits, Label
from reproductions.thesis import learned_cases
from reproductions.thesis.nodes import Nodes
from reproductions.thesis.prepared import Capture
from reproductions.thesis.truth import counts


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldCapture:
    """A capture with the true labels of its text nodes."""

    gold: GoldPage
    capture: Capture
    truth: Bits  # one a text node


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One page under one way of labelling. `by_patterns` counts only the nodes that the bit patterns label."""

    site: str
    elements: int  # of the DOM, of all captures in the crosses of the page
    nodes: int  # also those without truth
    all_nodes: Confusion
    by_patterns: Confusion
    undecided: float  # share of the nodes
    f1: float  # ROUGE-L of the texts
    seconds: Mapping[str, float]  # of CPU, by phase


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCapture:
    """The nodes of a capture with their labels under one way of labelling, and by the bit patterns alone."""

    nodes: Nodes
    labels: Bits
    pattern_labels: Bits


def outcome(one: GoldCapture, labelled: LabelledCapture, elements: int, seconds: Mapping[str, float]) -> Outcome:
    """Measure one page, of whose crosses the captures have so many elements."""
    nodes, labels, pattern_labels = labelled.nodes, labelled.labels, labelled.pattern_labels
    truth = one.truth[nodes.texts]
    decided = pattern_labels != Label.UNDECIDED
    text = learned_cases.text(one.capture.dom, one.capture.page.blocks, nodes, labels)
    return Outcome(
        site=one.gold.site,
        elements=elements,
        nodes=len(labels),
        all_nodes=counts(labels, truth),
        by_patterns=counts(labels[decided], truth[decided]),
        undecided=float(np.mean(labels == Label.UNDECIDED)),
        f1=rouge_l(words(one.gold.gold), words(text)).f1,
        seconds=seconds,
    )


HEAD = ("acc", "P con", "R con", "F1 con", "P bp", "R bp", "F1 bp", "acc of known", "undecided", "ROUGE-L F1")
"""Columns of `figures`: accuracy and scores over all nodes, pooled; `acc of known` leaves out what the patterns do not
label, as appendix D does for all but T002; the last is the mean over pages."""


def figures(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Format the cells under `HEAD`."""
    every = sum((one.all_nodes for one in outcomes), Confusion())
    by_patterns = sum((one.by_patterns for one in outcomes), Confusion())
    undecided, f1 = (float(np.mean([getattr(one, name) for one in outcomes])) for name in ("undecided", "f1"))
    return tuple(map(number, (*every.figures, by_patterns.accuracy, undecided, f1)))


def compared(first: Sequence[str], rows: Mapping[tuple[str, ...], Sequence[Outcome]]) -> str:
    """Make a table of `figures`, a row a name; `first` heads the columns of the names."""
    return table((*first, "pages", *HEAD), (_row(names, some) for names, some in rows.items() if some))


def _row(names: Iterable[str], outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    return (*names, f"{len(outcomes):,}", *figures(outcomes))


def number(value: float) -> str:
    """Write a share with three places, without the zero before them: ".883"."""
    return f"{value:.3f}".removeprefix("0") if value < 1 else f"{value:.3f}"
