"""Wider crosses: a capture beside more of its siblings, and the merged labels of several crosses.

Chapter 6 of the thesis asks for the first, section 2.4 for a learned merge.
"""

from dataclasses import dataclass
from itertools import product

from dbce_spark.config import DbceConfig
from dbce_spark.evaluation.node_scores import Confusion
from dbce_spark.files.markdown_table import table
from dbce_spark.model import Bits
from reproductions.thesis import gold_sample, learned_cases, neighbourhoods, prepared
from reproductions.thesis.cross_learning import forest
from reproductions.thesis.gold_sample import Sample
from reproductions.thesis.label_merging import Opinions, rules
from reproductions.thesis.learned_cases import CASES, SEED
from reproductions.thesis.outcomes import GoldCapture, Outcome, compared, number, outcome
from reproductions.thesis.phases import Clock
from reproductions.thesis.truth import counts

WIDTHS = (1, 2, 3, 5)
"""Crosses of a capture that are merged: 2 to 10 siblings."""

_CASES = ("T001", "T006")

RULES = rules(forest(trees=10, min_samples_leaf=1, class_weight=None, seed=SEED))
"""Of merging; the learned one with the classifier of T006."""


@dataclass
class _Quarrel:
    """Counts of nodes, of nodes that crosses disagree on, and how right each rule is about these."""

    nodes: int
    in_conflict: int
    right: dict[str, Confusion]


def wider(sample: Sample, config: DbceConfig) -> str:
    """Compare one cross of a capture with several, with further siblings each, under each rule of merging; count how
    often crosses disagree on a node and each rule is then right.

    Only captures with siblings for the widest are measured, but for its last arm.
    """
    crosses = [
        cross
        for members in sample.archive.members_by_site().values()
        for cur in members
        if len(neighbourhoods.siblings(cur, members)) >= 2 * max(WIDTHS) - 1
        for cross in neighbourhoods.wide(cur, members, max(WIDTHS))
    ]
    annotations = prepared.annotations(sample.archive, crosses, config)
    found: dict[tuple[str, ...], list[Outcome]] = {}
    quarrels: dict[tuple[str, ...], _Quarrel] = {}
    for (name, count), rule in product(product(_CASES, WIDTHS), RULES):
        found[name, str(count), rule] = []
        quarrels[name, str(count)] = _Quarrel(0, 0, dict.fromkeys(RULES, Confusion()))
    for capture_id, some in annotations.items():
        capture = sample.captures[capture_id]
        for name in _CASES:
            labelled = [
                learned_cases.label(capture.capture.dom, annotation, CASES[name], Clock()) for annotation in some
            ]
            for count in WIDTHS:
                opinions = learned_cases.opinions(
                    capture.capture.dom, capture.capture.page.blocks, some[:count], labelled[:count]
                )
                merged = _merged(
                    capture, opinions, gold_sample.patterns_alone(capture, some[:count]), quarrels[name, str(count)]
                )
                for rule, of_rule in merged.items():
                    found[name, str(count), rule].append(of_rule)
    head = ("case", "crosses", "nodes", "in conflict", *(f"acc by {rule}" for rule in RULES))
    conflicts_table = table(head, [(*names, *_quarrel_row(quarrel)) for names, quarrel in quarrels.items()])
    return f"{compared(('case', 'crosses', 'merge'), found)}\n\n{conflicts_table}"


def _merged(capture: GoldCapture, opinions: Opinions, alone: Bits, quarrel: _Quarrel) -> dict[str, Outcome]:
    """Merge a capture by each rule. Labels of nodes in conflict are counted in `quarrel`."""
    truth = capture.truth[opinions.nodes.texts]
    quarrel.nodes += len(opinions.nodes)
    quarrel.in_conflict += int(opinions.conflicts.sum())
    found = {}
    for name, rule in RULES.items():
        labels = rule(opinions)
        quarrel.right[name] += counts(labels[opinions.conflicts], truth[opinions.conflicts])
        found[name] = outcome(capture, opinions.nodes, labels, alone)
    return found


def _quarrel_row(quarrel: _Quarrel) -> tuple[str, ...]:
    shares = [number(counted.accuracy) for counted in quarrel.right.values()]
    return f"{quarrel.nodes:,}", number(quarrel.in_conflict / max(quarrel.nodes, 1)), *shares
