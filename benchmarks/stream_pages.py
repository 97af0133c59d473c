"""The first pages of each site that has enough of them, as sets to be streamed: gold pages in JSON lines."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbce_spark.errors import InputError
from dbce_spark.evaluation import datasets, formats
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting import gold_stream
from dbce_spark.evaluation.scoring import stream_course
from dbce_spark.files import jsonl


@dataclass(frozen=True, slots=True)
class Bounds:
    """The sites of a set that are taken, and how much of them."""

    least: int  # pages that a site must have
    most: int  # of which these are taken, the first that came


def write(paths: Sequence[str], output: str, bounds: Bounds) -> dict[str, int]:
    """Write the chosen pages of each set as a file of its name in the folder `output`, in the order of its lines;
    return how many each has.

    Raises:
        InputError: a set cannot be read, or no site has enough pages.
    """
    chosen = {
        name: {page.page_id for page in choose(pages, bounds)} for name, pages in datasets.read(paths).sets.items()
    }
    if not any(chosen.values()):
        raise InputError(f"{', '.join(paths)}: no site has {bounds.least} pages; give more sets, or a lower --least")
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for path in paths:
        for entry in formats.entries(path):
            name = datasets.set_name(entry, path)
            if entry.fields["id"] in chosen.get(name, ()):
                found[name].append(entry.fields)
    return {name: jsonl.write(f"{output}/{name}.jsonl.xz", fields) for name, fields in found.items()}


def choose(pages: Sequence[GoldPage], bounds: Bounds) -> list[GoldPage]:
    """Choose pages of a set; a site is what a stream takes for one, a registered domain."""
    arrived = gold_stream.arrivals(pages)
    counts = Counter(map(gold_stream.domain, arrived))
    return [
        page
        for page, nth in zip(arrived, stream_course.positions(arrived), strict=True)
        if counts[gold_stream.domain(page)] >= bounds.least and nth <= bounds.most
    ]
