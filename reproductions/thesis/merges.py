"""Wider crosses: a capture beside more of its siblings, and what the crosses then say of it put together.

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
from reproductions.thesis.outcomes import Judged, Outcome, compared, number, outcome
from reproductions.thesis.phases import Clock
from reproductions.thesis.truth import counts

WIDTHS = (1, 2, 3, 5)
"""Crosses of a capture that are merged: 2 to 10 siblings."""

WIDTHS = (1, 2, 3, 5)
"""Crosses of a capture that are merged: 2 to 10 siblings."""

_CASES = ("T001", "T006")

RULES = rules(forest(trees=10, min_samples_leaf=1, class_weight=None, seed=SEED))
"""Of merging; the learned one with the classifier of T006."""


@dataclass
class _Quarrel:
    """How many nodes there are, how many crosses quarrel over, and how right each rule is about these."""

    nodes: int
    in_conflict: int
    right: dict[str, Confusion]


def wider(of: Sample, config: DbceConfig) -> str:
    """One cross of a capture or several, with further siblings each, under each rule of merging; and how often crosses
    quarrel over a node and each rule is then right.

    Only captures with siblings for the widest are measured, but for its last arm.
    """
    crosses = [
        cross
        for members in of.archive.members_by_site().values()
        for cur in members
        if len(neighbourhoods.siblings(cur, members)) >= 2 * max(WIDTHS) - 1
        for cross in neighbourhoods.wide(cur, members, max(WIDTHS))
    ]
    annotations = prepared.annotations(of.archive, crosses, config)
    found: dict[tuple[str, ...], list[Outcome]] = {}
    quarrels: dict[tuple[str, ...], _Quarrel] = {}
    for (name, count), rule in product(product(_CASES, WIDTHS), RULES):
        found[name, str(count), rule] = []
        quarrels[name, str(count)] = _Quarrel(0, 0, dict.fromkeys(RULES, Confusion()))
    for capture_id, some in annotations.items():
        one = of.judged[capture_id]
        for name in _CASES:
            labelled = [learned_cases.label(one.capture.dom, annotation, CASES[name], Clock()) for annotation in some]
            for count in WIDTHS:
                said = learned_cases.opinions(one.capture.dom, one.capture.page.blocks, some[:count], labelled[:count])
                merged = _merged(one, said, gold_sample.patterns_alone(one, some[:count]), quarrels[name, str(count)])
                for rule, of_rule in merged.items():
                    found[name, str(count), rule].append(of_rule)
    head = ("case", "crosses", "nodes", "in conflict", *(f"acc by {rule}" for rule in RULES))
    told = table(head, [(*names, *_told(quarrel)) for names, quarrel in quarrels.items()])
    return f"{compared(('case', 'crosses', 'merge'), found)}\n\n{told}"


def _merged(one: Judged, said: Opinions, alone: Bits, quarrel: _Quarrel) -> dict[str, Outcome]:
    """What each rule makes of a capture. What it says of nodes in conflict is counted in `quarrel`."""
    truth = one.truth[said.nodes.texts]
    quarrel.nodes += len(said.nodes)
    quarrel.in_conflict += int(said.conflicts.sum())
    found = {}
    for name, rule in RULES.items():
        labels = rule(said)
        quarrel.right[name] += counts(labels[said.conflicts], truth[said.conflicts])
        found[name] = outcome(one, said.nodes, labels, alone)
    return found


def _told(quarrel: _Quarrel) -> tuple[str, ...]:
    shares = [number(one.accuracy) for one in quarrel.right.values()]
    return f"{quarrel.nodes:,}", number(quarrel.in_conflict / max(quarrel.nodes, 1)), *shares
