"""The learner of a cross: with balanced examples, and with other parameters (thesis, chapters 5 and 6)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import patterns
from dbce_spark.dbce.dbce_elements import cut
from dbce_spark.evaluation.node_scores import Confusion
from dbce_spark.files.markdown_table import table
from dbce_spark.model import Annotation, Bits
from reproductions.thesis import gold_sample, prepared
from reproductions.thesis.cross_learning import (
    BALANCES,
    Balance,
    Learner,
    balanced,
    examples,
    forest,
    learn,
    nearest,
    reclassify,
    scaled,
)
from reproductions.thesis.gold_sample import Sample
from reproductions.thesis.label_merging import by_evidence
from reproductions.thesis.learned_cases import CASES, SEED, Case
from reproductions.thesis.outcomes import GoldCapture, compared, number
from reproductions.thesis.phases import Clock
from reproductions.thesis.truth import counts
from reproductions.thesis.windows import Vectors, vectors


def balancing(sample: Sample, config: DbceConfig) -> str:
    """Compare the learning set as it is, cut to the rarer label, filled up to the more frequent one, or weighed."""
    annotations = _best(sample, config)
    weighed = forest(trees=10, min_samples_leaf=1, class_weight="balanced", seed=SEED)
    tried: dict[tuple[str, ...], Case] = {
        (name, how): _balanced(CASES[name], balance)
        for name in ("T003", "T004", "T005", "T006")
        for how, balance in BALANCES.items()
    }
    tried["T006", "weighed"] = replace(CASES["T006"], learner=weighed)
    return compared(
        ("case", "learning set"),
        {names: gold_sample.outcomes(sample, annotations, case, by_evidence, Clock()) for names, case in tried.items()},
    )


@dataclass(frozen=True, slots=True)
class _Windowed:
    """A capture in its best cross: windows of three layers, the labels by patterns, and the truth."""

    site: str
    windows: Vectors
    labels: Bits
    truth: Bits


def tuning(sample: Sample, config: DbceConfig) -> str:
    """Choose parameters on half of the sites by the F1 of content, and measure on the other half, both ways round."""
    captures = [_windowed(sample.captures[capture_id], some[0]) for capture_id, some in _best(sample, config).items()]
    sites = sorted({one.site for one in captures})
    halves = [[one for one in captures if sites.index(one.site) % 2 == half] for half in (0, 1)]
    grid = _grid()
    measured = {name: [_counts(half, *how) for half in halves] for name, how in grid.items()}
    lines = []
    for kind, base in (("nearest", _BASES["nearest"]), ("forest", _BASES["forest"])):
        best = [
            max((n for n in grid if n[0] == kind), key=lambda n: measured[n][1 - test].content.f1) for test in (0, 1)
        ]
        tuned = measured[best[0]][0] + measured[best[1]][1]
        plain = sum(measured[base], Confusion())
        lines += [
            (" ".join(base), "as listed", *_four(plain)),
            *((" ".join(best[test]), f"tuned, half {test + 1}", *_four(measured[best[test]][test])) for test in (0, 1)),
            (kind, "tuned, both halves", *_four(tuned)),
        ]
    return table(("parameters", "", "acc", "F1 con", "F1 bp", "nodes"), lines)


_BASES = {"nearest": ("nearest", "3", "5", "uniform", "raw"), "forest": ("forest", "3", "10", "1")}


def _grid() -> dict[tuple[str, ...], tuple[int, Learner]]:
    """Make learners by kind, layers and parameters."""
    found: dict[tuple[str, ...], tuple[int, Learner]] = {}
    for layers, neighbours, weights in product((1, 2, 3), (1, 5, 15), ("uniform", "distance")):
        learner = nearest(neighbours=neighbours, weights=weights)
        found["nearest", str(layers), str(neighbours), weights, "raw"] = layers, learner
        found["nearest", str(layers), str(neighbours), weights, "scaled"] = layers, scaled(learner)
    for layers, trees, leaf in product((2, 3), (10, 50), (1, 5)):
        learner = forest(trees=trees, min_samples_leaf=leaf, class_weight=None, seed=SEED)
        found["forest", str(layers), str(trees), str(leaf)] = layers, learner
    return found


def _windowed(one: GoldCapture, annotation: Annotation) -> _Windowed:
    per_token = annotation.per_token()
    nodes = cut(one.capture.dom, per_token[None, :])
    labels = patterns.classify(annotation.cross.bits, per_token[nodes.starts])
    return _Windowed(one.gold.site, vectors(nodes, 3), labels, one.truth[nodes.texts])


def _counts(captures: Iterable[_Windowed], layers: int, learner: Learner) -> Confusion:
    found = []
    for one in captures:
        windows = one.windows[:, : one.windows.shape[1] * layers // 3]
        labels = reclassify(learn(learner, examples(windows, one.labels)), windows, one.labels)
        found.append(counts(labels, one.truth))
    return sum(found, Confusion())


def _four(counted: Confusion) -> tuple[str, ...]:
    return number(counted.accuracy), number(counted.content.f1), number(counted.boilerplate.f1), f"{counted.nodes:,}"


def _best(sample: Sample, config: DbceConfig) -> dict[str, list[Annotation]]:
    """Annotate the best cross of each capture."""
    one_cross = replace(config, cross=replace(config.cross, per_capture=1))
    return prepared.annotations(sample.archive, prepared.found_crosses(sample.archive, one_cross), one_cross)


def _balanced(case: Case, balance: Balance) -> Case:
    return case if case.learner is None else replace(case, learner=balanced(balance, case.learner))
