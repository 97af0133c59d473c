"""The test cases of the thesis by name (section 4.2), and how one of them labels a capture."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dbce_spark.annotation.markup.token_dom import Dom
from dbce_spark.dbce import patterns, single
from dbce_spark.dbce.annotation_merge import resolve
from dbce_spark.dbce.kept import main_text
from dbce_spark.model import Annotation, Bits, Blocks, Label, Segments
from reproductions.thesis.cross_learning import Learner, examples, forest, learn, nearest, reclassify
from reproductions.thesis.label_merging import Opinions, by_evidence
from reproductions.thesis.nodes import Nodes, cut_nodes, token_labels
from reproductions.thesis.phases import Clock
from reproductions.thesis.windows import vectors

SEED = 2047226289
"""Of whatever is random: the seed that the thesis's experiments ran with (chapter 4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test case. `layers` of the window and `learner` are None where nothing is learned."""

    layers: int | None
    learner: Learner | None
    undecided: Label  # what a node that no pattern knows becomes at last


_NEAREST = nearest(neighbours=5)
_FOREST = forest(trees=10, seed=SEED)

CASES: Mapping[str, Case] = {
    "T001": Case(layers=None, learner=None, undecided=Label.UNDECIDED),
    "T002": Case(layers=None, learner=None, undecided=Label.BOILERPLATE),
    "T003": Case(layers=1, learner=_NEAREST, undecided=Label.UNDECIDED),
    "T004": Case(layers=2, learner=_NEAREST, undecided=Label.UNDECIDED),
    "T005": Case(layers=3, learner=_NEAREST, undecided=Label.UNDECIDED),
    "T006": Case(layers=3, learner=_FOREST, undecided=Label.UNDECIDED),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """The `<dbce>` elements of a capture in one cross, with their labels.

    `elements` are the labels of the elements above them, by their path in the Dom (thesis 2.3, "set the parent's
    class").
    """

    nodes: Nodes
    labels: Bits
    elements: Mapping[str, Label]


def label(dom: Dom, annotation: Annotation, case: Case, clock: Clock) -> Labelled:
    """Run stage 2 for one cross: bit patterns, and where the case has one a model of them that labels all anew."""
    with clock.phase("classify"):
        per_token = annotation.per_token()
        nodes = cut_nodes(dom, per_token[None, :])
        labels = patterns.labels_of_bits(annotation.cross.bits, per_token[nodes.starts])
    with clock.phase("classify_pp"):
        elements = propagate(dom, nodes, labels)
    if case.learner is None or case.layers is None:
        return Labelled(nodes=nodes, labels=labels, elements=elements)
    with clock.phase("learn"):
        windows = vectors(nodes, case.layers)
        model = learn(case.learner, examples(windows, labels))
    with clock.phase("reclassify"):
        labels = reclassify(model, windows, labels)
        elements = propagate(dom, nodes, labels)
    return Labelled(nodes=nodes, labels=labels, elements=elements)


def propagate(dom: Dom, nodes: Nodes, labels: Bits) -> dict[str, Label]:
    """Derive the labels of elements from those of the nodes in them, by path."""
    holders = dom.text_parents[nodes.texts].tolist()
    return patterns.propagate(
        (dom.paths[holder], Label(value)) for holder, value in zip(holders, labels.tolist(), strict=True)
    )


def opinions(dom: Dom, blocks: Blocks, annotations: Sequence[Annotation], labelled: Iterable[Labelled]) -> Opinions:
    """Collect the labels of several crosses, on nodes that are cut wherever the bits of one of them change."""
    nodes = cut_nodes(dom, np.stack([annotation.per_token() for annotation in annotations]))
    per_token = np.stack([token_labels(one.nodes, one.labels) for one in labelled])
    segments = resolve(blocks, annotations, undecided=Label.UNDECIDED)
    return Opinions(
        nodes=nodes,
        labels=per_token[:, nodes.starts],
        scores=segments.scores[_segments_of(dom, nodes, segments)],
    )


def merged(dom: Dom, blocks: Blocks, annotations: Sequence[Annotation], case: Case, clock: Clock) -> tuple[Nodes, Bits]:
    """Merge the labels of all crosses of a capture, at least one, under one test case, by evidence; return its nodes
    and their labels."""
    ordered = sorted(annotations, key=lambda one: one.cross.cross_id)
    labelled = [label(dom, one, case, clock) for one in ordered]
    with clock.phase("merge"):
        crosses_opinions = opinions(dom, blocks, ordered, labelled)
        labels = by_evidence(crosses_opinions)
        return crosses_opinions.nodes, np.where(labels == Label.UNDECIDED, case.undecided, labels).astype(np.uint8)


def text(dom: Dom, blocks: Blocks, nodes: Nodes, labels: Bits) -> str:
    """Join the content nodes, one line a block; neighbours in one block are not torn apart."""
    ends = np.append(np.flatnonzero((np.diff(nodes.blocks) != 0) | (np.diff(labels) != 0)), len(nodes) - 1)
    starts = np.concatenate(([0], ends[:-1] + 1))
    is_content = labels[starts] == Label.CONTENT
    starts, ends = starts[is_content], ends[is_content]
    content = single.without_evidence(
        nodes.blocks[starts],
        dom.token_starts[nodes.starts[starts]],
        dom.token_ends[nodes.ends[ends] - 1],
        Label.CONTENT,
    )
    return main_text.text(blocks.text, content)


def _segments_of(dom: Dom, nodes: Nodes, segments: Segments) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Find the segment that each node lies in: nodes are cut at text nodes too, so each lies in one."""
    return np.searchsorted(segments.starts, dom.token_starts[nodes.starts], side="right") - 1
