"""Chapter 4 of the thesis: T001 to T006 on the best cross of each page, their accuracy, scores and times."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dbce_spark.config import DbceConfig
from dbce_spark.files.markdown_table import table
from reproductions.thesis import boxplots, gold_sample, prepared
from reproductions.thesis.gold_sample import Sample
from reproductions.thesis.learned_cases import CASES
from reproductions.thesis.outcomes import Outcome, compared
from reproductions.thesis.phases import PHASES, Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Outcomes by test case, and seconds by test case and phase over all of them."""

    outcomes: Mapping[str, Sequence[Outcome]]
    seconds: Mapping[str, Mapping[str, float]]


def measure(sample: Sample, config: DbceConfig) -> Measured:
    """Measure all test cases. As in the thesis, a capture is measured in one cross."""
    one_cross = replace(config, cross=replace(config.cross, per_capture=1))
    annotations = prepared.annotations(sample.archive, prepared.found_crosses(sample.archive, one_cross), one_cross)
    read = Clock()
    for capture_id in annotations:
        for phase, seconds in sample.archive.captures[capture_id].clock.seconds.items():
            read.seconds[phase] += seconds
    found: dict[str, list[Outcome]] = {}
    times: dict[str, Mapping[str, float]] = {}
    for name, case in CASES.items():
        clock = Clock()
        found[name] = gold_sample.outcomes(sample, annotations, case, clock)
        times[name] = {phase: read.seconds[phase] + clock.seconds[phase] for phase in PHASES}
    return Measured(outcomes=found, seconds=times)


def scores(measured: Mapping[str, Measured]) -> str:
    """Lay out table 4.2, by set: every test case, not the best three only."""
    return compared(
        ("set", "case"),
        {(name, case): some for name, one in measured.items() for case, some in one.outcomes.items()},
    )


def times(measured: Mapping[str, Measured]) -> str:
    """Lay out figures 4.5 and 4.6 as a table: milliseconds of CPU a page, by phase."""
    return table(
        ("set", "case", *PHASES, "all"),
        [
            (
                name,
                case,
                *(f"{1000 * value / len(one.outcomes[case]):.1f}" for value in [*some.values(), sum(some.values())]),
            )
            for name, one in measured.items()
            for case, some in one.seconds.items()
            if one.outcomes[case]
        ],
    )


def figure_4_7(measured: Mapping[str, Measured]) -> str:
    """Plot the accuracy of pages by test case: SVG."""
    every = {
        case: [one.all_nodes.accuracy for some in measured.values() for one in some.outcomes[case]] for case in CASES
    }
    return boxplots.boxes("Accuracy by test case", {"all pages": every})


def figure_4_8(measured: Mapping[str, Measured]) -> str:
    """Plot the accuracy of pages by set and test case: SVG. The thesis has four domains where we have sets of many."""
    by_set: dict[str, dict[str, list[float]]] = defaultdict(dict)
    for name, some in measured.items():
        for case, found in some.outcomes.items():
            by_set[name][case] = [one.all_nodes.accuracy for one in found]
    return boxplots.boxes("Accuracy by set and test case", by_set)
