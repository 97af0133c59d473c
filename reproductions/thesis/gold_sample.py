"""Gold pages chosen for an experiment, read, and with the labels of their text nodes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import xxhash

from dbce_spark.config import DbceConfig
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.model import Annotation, Bits
from reproductions.thesis import learned_cases, prepared
from reproductions.thesis.learned_cases import CASES, Case
from reproductions.thesis.outcomes import GoldCapture, LabelledCapture, Outcome, outcome
from reproductions.thesis.phases import Clock
from reproductions.thesis.prepared import Archive
from reproductions.thesis.truth import text_node_labels

MIN_SIBLINGS = 2
"""Other pages of its group that a page of a sample has: enough to fill both vertical arms of a cross."""


PER_GROUP = 12
"""Pages of one group in a sample, so that no site decides the result; enough for every cross."""


def chosen(pages: Sequence[GoldPage], count: int) -> list[GoldPage]:
    """Choose groups of pages with siblings, the first pages of each, ordered by a hash of the names, about `count` in
    all."""
    siblings = datasets.siblings(pages)
    groups: dict[str, list[GoldPage]] = defaultdict(list)
    for page in pages:
        if siblings[page.page_id] >= MIN_SIBLINGS:
            groups[page.group].append(page)
    found: list[GoldPage] = []
    for group in sorted(groups, key=lambda name: xxhash.xxh3_64_intdigest(name.encode())):
        if len(found) < count:
            found += groups[group][:PER_GROUP]
    return found


def across_versions(pages: Iterable[GoldPage]) -> list[GoldPage]:
    """Group the pages by site alone, so that captures of different versions meet."""
    return [replace(page, group=page.site) for page in pages]


@dataclass(frozen=True, slots=True)
class Sample:
    """An archive whose captures all have a gold text, and these captures by id, in the order of their pages."""

    archive: Archive
    captures: Mapping[str, GoldCapture]


def read(pages: Sequence[GoldPage], config: DbceConfig) -> Sample:
    """Read all these pages as a sample."""
    archive = prepared.archive((page.fetch(at) for at, page in enumerate(pages)), config)
    captures: dict[str, GoldCapture] = {}
    for page, capture_id in zip(pages, archive.places, strict=True):
        if isinstance(capture_id, str) and capture_id not in captures:
            capture = archive.captures[capture_id]
            truth = text_node_labels(page.html, page.gold)
            captures[capture_id] = GoldCapture(gold=page, capture=capture, truth=truth)
    return Sample(archive, captures)


def outcomes(sample: Sample, annotations: Mapping[str, Sequence[Annotation]], case: Case) -> list[Outcome]:
    """Measure a test case on each capture that has annotations; its time is that of reading it, too."""
    found = []
    for capture_id, of_capture in annotations.items():
        one = sample.captures[capture_id]
        dom, blocks = one.capture.dom, one.capture.page.blocks
        clock = Clock()
        nodes, labels = learned_cases.merged(dom, blocks, of_capture, case, clock)
        labelled = LabelledCapture(nodes=nodes, labels=labels, pattern_labels=patterns_alone(one, of_capture))
        read = one.capture.clock.seconds
        seconds = {phase: read[phase] + spent for phase, spent in clock.seconds.items()}
        found.append(outcome(one, labelled, _elements(sample.archive, of_capture), seconds))
    return found


def _elements(archive: Archive, annotations: Sequence[Annotation]) -> int:
    """Count the DOM elements of all captures in some crosses, each capture once."""
    captures = {capture_id for one in annotations for capture_id in one.cross.arms if capture_id}
    return sum(len(archive.captures[capture_id].dom.names) for capture_id in captures)


def patterns_alone(one: GoldCapture, annotations: Sequence[Annotation]) -> Bits:
    """Label the nodes of a capture by T001."""
    capture = one.capture
    return learned_cases.merged(capture.dom, capture.page.blocks, annotations, CASES["T001"], Clock())[1]
