"""Chapter 4 of the thesis: T001 to T006 on the best cross of each page, their accuracy, scores and times."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dbce_spark.config import DbceConfig
from dbce_spark.evaluation.scoring.node_scores import Confusion
from dbce_spark.files.markdown_table import table
from reproductions.thesis import gold_sample, plots, prepared
from reproductions.thesis.gold_sample import Sample
from reproductions.thesis.learned_cases import CASES
from reproductions.thesis.outcomes import Outcome, compared
from reproductions.thesis.phases import PHASES

Measured = Mapping[str, Sequence[Outcome]]
"""Outcomes by test case."""

COUNTED = ("nodes", "labelled", "content", "boilerplate")
"""Counts of nodes: of all, of those with a label, and of those of either label."""


def measure(sample: Sample, config: DbceConfig) -> Measured:
    """Measure all test cases. As in the thesis, a capture is measured in one cross."""
    one_cross = replace(config, cross=replace(config.cross, per_capture=1))
    annotations = prepared.annotations(sample.archive, prepared.found_crosses(sample.archive, one_cross), one_cross)
    return {name: gold_sample.outcomes(sample, annotations, case) for name, case in CASES.items()}


def scores(measured: Mapping[str, Measured]) -> str:
    """Lay out table 4.2, by set: every test case, not the best three only."""
    return compared(
        ("set", "case"), {(name, case): some for name, one in measured.items() for case, some in one.items()}
    )


def nodes(measured: Mapping[str, Measured]) -> str:
    """Lay out figures 4.3 and 4.4 (right) as a table: nodes, those with a label, and DOM elements, by set."""
    rows = []
    for name, one in measured.items():
        some = one[next(iter(CASES))]
        counts = _counts(some)
        numbers = (len(some), sum(page.elements for page in some), *counts.values())
        rows.append((name, *(f"{number:,}" for number in numbers)))
    return table(("set", "pages", "DOM elements", *COUNTED), rows)


def _counts(some: Sequence[Outcome]) -> dict[str, int]:
    """Count the nodes of some pages, under the names of COUNTED."""
    labelled = sum((page.all_nodes for page in some), Confusion())
    numbers = (
        sum(page.nodes for page in some),
        labelled.nodes,
        labelled.content_nodes,
        labelled.boilerplate_nodes,
    )
    return dict(zip(COUNTED, numbers, strict=True))


def times(measured: Mapping[str, Measured]) -> str:
    """Lay out figures 4.5 and 4.6 as a table: mean milliseconds of CPU a page, by phase."""
    return table(
        ("set", "case", *PHASES, "all"),
        [
            (name, case, *(f"{mean:.1f}" for mean in [*means, sum(means)]))
            for name, one in measured.items()
            for case, some in one.items()
            if (means := [float(np.mean([1000 * page.seconds[phase] for page in some])) for phase in PHASES if some])
        ],
    )


def figure_4_3(measured: Mapping[str, Measured]) -> str:
    """Plot how many nodes there are, how many of them have a label, and which, by set: SVG."""
    return plots.bars("Nodes by set", {name: _counts(one[next(iter(CASES))]) for name, one in measured.items()})


def figure_4_4(measured: Mapping[str, Measured]) -> tuple[str, str]:
    """Plot the time of a page over all test cases, and the DOM elements of its crosses, by set: two SVGs."""
    times = {
        name: {"all cases": [1000 * sum(page.seconds.values()) for some in one.values() for page in some]}
        for name, one in measured.items()
    }
    elements = {
        name: {"DOM elements": [float(page.elements) for page in one[next(iter(CASES))]]}
        for name, one in measured.items()
    }
    return (
        plots.boxes("Milliseconds of CPU a page", times, most=plots.most(times)),
        plots.boxes("DOM elements of the crosses of a page", elements, most=plots.most(elements)),
    )


def figure_4_5(measured: Measured, name: str) -> str:
    """Plot the time of a page by phase and test case, of one set: SVG. Figures 4.5 and 4.6 have one for each domain."""
    by_phase = {
        phase: {case: [1000 * page.seconds[phase] for page in some] for case, some in measured.items()}
        for phase in PHASES
    }
    return plots.boxes(f"Milliseconds of CPU a page: {name}", by_phase, most=plots.most(by_phase))


def figure_4_7(measured: Mapping[str, Measured]) -> str:
    """Plot the accuracy of pages by test case: SVG."""
    every = {case: [one.all_nodes.accuracy for some in measured.values() for one in some[case]] for case in CASES}
    return plots.boxes("Accuracy by test case", {"all pages": every})


def figure_4_8(measured: Mapping[str, Measured]) -> str:
    """Plot the accuracy of pages by set and test case: SVG. The thesis has four domains where we have sets of many."""
    by_set: dict[str, dict[str, list[float]]] = defaultdict(dict)
    for name, some in measured.items():
        for case, found in some.items():
            by_set[name][case] = [one.all_nodes.accuracy for one in found]
    return plots.boxes("Accuracy by set and test case", by_set)
