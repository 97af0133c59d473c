"""The measurement: the archives that are extracted, and the comparison of their runs."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.scale import scale_archives, shapes
from benchmarks.scale.runs import Run, extend, extract
from benchmarks.scale.scale_archives import Archive
from dbce_spark import config
from dbce_spark.files import storage
from dbce_spark.output.collection import Collection

GROWTH, SHAPES, WORKERS, COLLECTION = "growth", "shapes", "workers", "collection"
PARTS = (GROWTH, SHAPES, WORKERS, COLLECTION)
BASE = "base"
"""The name that each part has for its smallest run."""

MAX_RATIO = 1.15
"""Time a page that the largest archive may take, in that of the smallest."""
MAX_SHARE = 1.5
"""The most that a shape may cost, in its fair share."""
MAX_WORKER_BYTES = 1_500_000_000
"""Resident memory of a Python worker: two and Java's 2 GiB fit into 6 GB."""
MIN_SPEED_UP = 1.7
"""Of the map over files, with two workers for one: the rest is what they share."""

BASE_CAPTURES = 500
"""Captures of the run that measures the fixed cost: enough for every stage, and a task in most partitions."""
INCREMENTS = 10
"""Crawls by which a collection grows."""
_YOUNG, _OLD = ("3", "4", "5"), ("8", "9", "10")
"""Increments that are compared: each has earlier captures of both kinds, siblings and two snapshots."""
_MAP = "pages"
_COLUMNS = ("pages", "wall s", "cpu s", "others s", "ms/page", "x", "worker MB", "java MB")
_CLUSTER = "local-cluster[{},1,1024]"
"""Spark's own cluster on one machine: each worker has an executor of one core and 1,024 MiB in a process of its own."""
_EXECUTOR = {"spark.executor.memory": "1024m"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The parts of a measurement. `pages` are the sizes of the sample archives in captures, and `weight` is theirs
    (`sample_archive.write_archive`); the largest is for one worker and two. `shape_pages` is the size of the shapes,
    `crawl_pages` that of each crawl of the collection. `settings` are handed to every run, as `--set` is."""

    work: str
    output: str
    pages: Sequence[int]
    weight: int
    shape_pages: int
    crawl_pages: int
    parts: Sequence[str]
    settings: Sequence[str]


@dataclass
class Measurement:
    """The runs of a request, one after the other. After each the output has all figures so far."""

    request: Request
    report: dict[str, Any] = field(default_factory=dict)

    def write(self) -> str:
        """Measure the requested parts; return the figures as text.

        Raises:
            ConfigError: one of the settings is none.
            JobError: a run ended with an error.
        """
        config.load(settings=self.request.settings)
        self.report["settings"] = list(self.request.settings)
        measures = {GROWTH: self._growth, SHAPES: self._shapes, WORKERS: self._workers, COLLECTION: self._collection}
        for part in self.request.parts:
            measures[part]()
        return f"{text(self.report)}\nwritten to {self.request.output}"

    def _growth(self) -> None:
        measured = self.report[GROWTH] = {}
        base = self._run(self._sample(BASE_CAPTURES))
        self._keep(measured, BASE, base)
        least = None
        for pages in sorted(self.request.pages):
            run = self._run(self._sample(pages))
            ms = ms_per_page(run, base)
            least = least or ms
            self._keep(measured, f"{pages}", run, ms_per_page=ms, ratio=round(ms / least, 3))

    def _shapes(self) -> None:
        measured = self.report[SHAPES] = {}
        base = self._run(scale_archives.shaped(self._work, "plain", shapes.plain, BASE_CAPTURES))
        self._keep(measured, BASE, base)
        plain = self._run(self._shape("plain", shapes.plain))
        ms = ms_per_page(plain, base)
        self._keep(measured, "plain", plain, ms_per_page=ms)
        for name, shape in shapes.SHAPES.items():
            archive = self._shape(name, shape)
            run = self._run(archive)
            share = fair_share(run, archive.equivalents, base, ms)
            self._keep(measured, name, run, equivalents=archive.equivalents, fair_share=share)

    def _workers(self) -> None:
        measured = self.report[WORKERS] = {}
        archive = self._sample(max(self.request.pages))
        one, two = (
            extract(archive, self._work, self.request.settings, master=_CLUSTER.format(workers), spark=_EXECUTOR)
            for workers in (1, 2)
        )
        self._keep(measured, "1", one)
        self._keep(measured, "2", two, speed_up=speed_up(one.stages, two.stages))

    def _collection(self) -> None:
        measured = self.report[COLLECTION] = {}
        base = self._run(self._sample(BASE_CAPTURES))
        self._keep(measured, BASE, base)
        crawls = scale_archives.crawls(self._work, INCREMENTS, self.request.crawl_pages, self.request.weight)
        to = Collection(str(self._work / "collection"))
        shutil.rmtree(to.folder, ignore_errors=True)
        for number, crawl in enumerate(crawls, 1):
            single = self._run(crawl)
            self._keep(measured, f"{number} alone", single, ms_per_page=ms_per_page(single, base))
            run = extend(crawl, self._work, to, self.request.settings)
            ratio = round(run.cpu_seconds / single.cpu_seconds, 3)
            self._keep(measured, f"{number}", run, ms_per_page=ms_per_page(run, base), ratio=ratio)
        whole = self._run(scale_archives.together(crawls))
        self._keep(measured, "whole", whole, ms_per_page=ms_per_page(whole, base))

    @property
    def _work(self) -> Path:
        return Path(self.request.work)

    def _sample(self, captures: int) -> Archive:
        return scale_archives.sample(self._work, captures, self.request.weight)

    def _shape(self, name: str, shape: shapes.Shape) -> Archive:
        return scale_archives.shaped(self._work, name, shape, self.request.shape_pages)

    def _run(self, archive: Archive) -> Run:
        return extract(archive, self._work, self.request.settings)

    def _keep(self, place: dict[str, Any], name: str, run: Run, **figures: object) -> None:
        place[name] = asdict(run) | {"cpu_seconds": round(run.cpu_seconds, 2)} | figures
        storage.write_json(self.request.output, self.report)


def ms_per_page(run: Run, base: Run) -> float:
    """Measure processor milliseconds for each page that a run has beyond the base's, of its time beyond the base's."""
    return round((run.cpu_seconds - base.cpu_seconds) / max(1, run.pages - base.pages) * 1000, 3)


def fair_share(run: Run, equivalents: int, base: Run, plain_ms: float) -> float:
    """Divide the time of a run's pages by that of plain ones of the same weight: as many as these are worth
    (`shapes.Made.equivalents`), at `plain_ms` each. The base's time beyond its own pages is no page's."""
    of_any_run = base.cpu_seconds - base.pages * plain_ms / 1000
    return round((run.cpu_seconds - of_any_run) / (equivalents * plain_ms / 1000), 3)


def speed_up(one: Mapping[str, float], two: Mapping[str, float]) -> dict[str, float]:
    """Divide the seconds of each stage, by the clock, with one worker by those with two."""
    return {name: round(seconds / two[name], 2) for name, seconds in one.items() if two.get(name)}


def ageing(report: Mapping[str, Any]) -> float:
    """Divide the cost of late increments of the collection by that of early ones, each relative to its crawl alone; 1
    where they were not measured."""
    measured = report.get(COLLECTION, {})
    if _OLD[-1] not in measured:
        return 1.0
    young, old = (sum(measured[number]["ratio"] for number in numbers) for numbers in (_YOUNG, _OLD))
    return round(float(old / young), 3)


def over(report: Mapping[str, Any]) -> list[str]:
    """List the figures beyond their bounds, a sentence each."""
    found = [
        f"{name} captures: {one['ratio']} of the time a page of the smallest, more than {MAX_RATIO}"
        for name, one in report.get(GROWTH, {}).items()
        if one.get("ratio", 0) > MAX_RATIO
    ]
    found += [
        f"{name}: {one['fair_share']} of its fair share, more than {MAX_SHARE}"
        for name, one in report.get(SHAPES, {}).items()
        if one.get("fair_share", 0) > MAX_SHARE
    ]
    found += [
        f"{part} {name}: a Python worker of {one['worker_peak_bytes'] / 1e6:,.0f} MB"
        for part in PARTS
        for name, one in report.get(part, {}).items()
        if one["worker_peak_bytes"] > MAX_WORKER_BYTES
    ]
    gained = report.get(WORKERS, {}).get("2", {}).get("speed_up", {}).get(_MAP, MIN_SPEED_UP)
    if ageing(report) > MAX_RATIO:
        found.append(f"collection: late increments take {ageing(report)} of what early ones do, more than {MAX_RATIO}")
    if gained < MIN_SPEED_UP:
        found.append(f"two workers: {_MAP} {gained} times as fast as one, less than {MIN_SPEED_UP}")
    return found


def text(report: Mapping[str, Any]) -> str:
    """Lay the figures out as a table, and after it those that are over their bounds."""
    lines = [f"{'':24}" + "".join(f"{name:>10}" for name in _COLUMNS)]
    lines += [_row(f"{part} {name}", one) for part in PARTS for name, one in report.get(part, {}).items()]
    gained = report.get(WORKERS, {}).get("2", {}).get("speed_up", {})
    lines += [f"two workers for one: {name} x {times}" for name, times in gained.items()]
    lines += [
        f"collection {name}: {one['relabelled']:,} relabelled, {one['output_bytes'] / 1e6:.1f} MB"
        for name, one in report.get(COLLECTION, {}).items()
        if one["relabelled"]
    ]
    return "\n".join([*lines, *(f"over its bound: {sentence}" for sentence in over(report))])


def _row(name: str, one: Mapping[str, Any]) -> str:
    values = (
        f"{one['pages']:,}",
        *(f"{one[f'{kind}_seconds']:.1f}" for kind in ("wall", "cpu", "others_cpu")),
        one.get("ms_per_page", ""),
        one.get("ratio", one.get("fair_share", "")),
        *(f"{one[f'{kind}_peak_bytes'] / 1e6:.0f}" for kind in ("worker", "java")),
    )
    return f"{name:24}" + "".join(f"{value:>10}" for value in values)
