"""Estimate the cost of a large run: from measured figures of a page, and from prices."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from dbce_spark.config import DbceConfig, PositiveFloat, PositiveInt, fill
from dbce_spark.errors import InputError
from dbce_spark.files.sources import READ_AHEAD

RUNS = (1_000_000, 100_000_000, 3_000_000_000)
"""Captures of a collection, of a national archive's year, and of one snapshot of Common Crawl."""

_MONTH = 730
"""Hours that clouds bill as a month."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The resources of one page: milliseconds of processor time, Java's and Python's, and bytes.

    `shuffle_bytes` of all shuffles together as stored, `staged_bytes` what stages hand on at most, `input_bytes` of the
    archive as stored.
    """

    cpu_ms: float
    shuffle_bytes: float
    staged_bytes: float
    output_bytes: float
    input_bytes: float


FIGURES = tuple(one.name for one in fields(Measured))
BENCHED = {
    "shuffle_bytes": "shuffle_bytes",
    "staged_bytes": "staging_peak_bytes",
    "output_bytes": "output_bytes",
    "input_bytes": "input_bytes",
}
"""Names that `make bench-scale` has for the bytes of a run (`scale.runs.Run`); its `ms_per_page` counts no start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute:
    on_demand_vcpu_hour: PositiveFloat
    spot_vcpu_hour: PositiveFloat
    vcpus: PositiveInt
    busy: PositiveFloat
    spot_repeated: PositiveFloat


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    object_gb_month: PositiveFloat
    puts_1000: PositiveFloat
    gets_1000: PositiveFloat
    shared_gb_month: PositiveFloat
    disk_gb_month: PositiveFloat


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    input_bytes: PositiveInt
    part_bytes: PositiveInt


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffle:
    partition_bytes: PositiveInt
    block_bytes: PositiveInt
    max_partition_bytes: PositiveInt


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The prices of conf/prices.toml, where each field is explained."""

    compute: Compute
    storage: Storage
    files: Files
    shuffle: Shuffle


@dataclass(frozen=True, slots=True, kw_only=True)
class Dollars:
    """The money that a run takes; `output` is for a month."""

    on_demand: float
    spot: float
    requests: float
    disks: float
    output: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """The resources of a run over `captures` captures, of which `run` has those of all pages together. `hours` are by
    the clock."""

    captures: int
    hours: float
    core_hours: float
    vcpus: int
    instances: int
    run: Measured
    tasks: int
    partitions: int
    partition_bytes: float
    block_bytes: float
    gets: int
    puts: int
    dollars: Dollars


def measured(path: str | None, given: Mapping[str, float | None]) -> Measured:
    """Read the resources of a page from the largest archive that `make bench-scale` has measured; `given` figures
    replace them.

    Raises:
        InputError: the file cannot be read as one, or a figure is in neither.
    """
    found: dict[str, float | None] = dict(_of_bench(path)) if path else {}
    found |= {name: value for name, value in given.items() if value is not None}
    figures = {name: value for name, value in found.items() if value is not None}
    if missing := [f"--{name.replace('_', '-')}" for name in FIGURES if name not in figures]:
        raise InputError(f"no figures of a page are given; name a bench-scale.json, or give {', '.join(missing)}")
    for name in FIGURES:
        if not figures[name] > 0:
            raise InputError(f"{name} is {figures[name]:g}; it must be above 0")
    return Measured(**{name: figures[name] for name in FIGURES})


def _of_bench(path: str) -> dict[str, float]:
    try:
        growth = json.loads(Path(path).read_text(encoding="utf-8"))["growth"]
        largest = max(growth.values(), key=lambda run: int(run["pages"]))
        return {"cpu_ms": float(largest["ms_per_page"])} | {
            figure: largest[name] / largest["pages"] for figure, name in BENCHED.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
        raise InputError(f"{path}: is not what `make bench-scale` writes: {type(error).__name__}: {error}") from error


def prices(path: str | None = None) -> Prices:
    """Load the shipped prices, overlaid by the file at `path`.

    Raises:
        ConfigError: a file that cannot be read, an unknown name, a value of the wrong type or not above 0.
    """
    return fill(Prices, "prices.toml", path=path)


def bill(captures: int, page: Measured, hours: float, prices: Prices, config: DbceConfig) -> Bill:
    """Estimate a run that is to end within `hours` by the clock."""
    run = Measured(**{name: captures * getattr(page, name) for name in FIGURES})
    core_hours = run.cpu_ms / 1000 / 3600
    vcpus = math.ceil(core_hours / prices.compute.busy / hours)
    partition = partition_bytes(run.shuffle_bytes, prices.shuffle)
    partitions, readers = (math.ceil(size / partition) for size in (run.shuffle_bytes, run.staged_bytes))
    gets, puts = requests(captures, page, prices.files, config)
    return Bill(
        captures=captures,
        hours=hours,
        core_hours=core_hours,
        vcpus=vcpus,
        instances=math.ceil(vcpus / prices.compute.vcpus),
        run=run,
        tasks=math.ceil(run.input_bytes / prices.files.input_bytes),
        partitions=partitions,
        partition_bytes=partition,
        block_bytes=run.shuffle_bytes / (partitions * readers),
        gets=gets,
        puts=puts,
        dollars=_dollars(run, core_hours / prices.compute.busy, hours, (gets, puts), prices),
    )


def _dollars(run: Measured, paid_hours: float, hours: float, asked: tuple[int, int], prices: Prices) -> Dollars:
    """Price a run of so many paid hours of cores and hours by the clock; asked: its GETs and PUTs."""
    compute, storage, (gets, puts) = prices.compute, prices.storage, asked
    held = run.staged_bytes * storage.shared_gb_month + run.shuffle_bytes * storage.disk_gb_month
    return Dollars(
        on_demand=paid_hours * compute.on_demand_vcpu_hour,
        spot=paid_hours * (1 + compute.spot_repeated) * compute.spot_vcpu_hour,
        requests=gets / 1000 * storage.gets_1000 + puts / 1000 * storage.puts_1000,
        disks=hours / _MONTH * held / 1e9,
        output=run.output_bytes / 1e9 * storage.object_gb_month,
    )


def partition_bytes(shuffled: float, shuffle: Shuffle) -> float:
    """Size the partitions of a shuffle between as many tasks on both sides: as large as its blocks need.

    n tasks that write and n that read exchange n² blocks, so a block has partition²/shuffled bytes.
    """
    wanted = math.sqrt(shuffled * shuffle.block_bytes)
    return min(max(wanted, shuffle.partition_bytes), shuffle.max_partition_bytes)


def requests(captures: int, page: Measured, files: Files, config: DbceConfig) -> tuple[int, int]:
    """Count (GETs, PUTs) of a run with input and output in an object store: of each file its size, read twice, and its
    ranges; of each file of the output its parts, its begin and its end."""
    read = captures * page.input_bytes
    gets = 2 * math.ceil(read / files.input_bytes) + math.ceil(read / READ_AHEAD)
    rows = min(config.output.rows_per_file, captures)
    written = math.ceil(captures / rows) * config.output.site_parts
    parts = max(1, math.ceil(rows * page.output_bytes / config.output.site_parts / files.part_bytes))
    return gets, written * (parts + 2)


def text(page: Measured, bills: list[Bill]) -> str:
    """Lay the bills out beside each other, as lines for a person."""
    head = (
        f"a page: {page.cpu_ms:.1f} ms of processor time; KB read {page.input_bytes / 1e3:.1f}, shuffled"
        f" {page.shuffle_bytes / 1e3:.1f}, staged {page.staged_bytes / 1e3:.1f}, written {page.output_bytes / 1e3:.1f}"
    )
    columns = [_column(one) for one in bills]
    return "\n".join([head, *(f"{name:30}" + "".join(f"{one[name]:>16}" for one in columns) for name in columns[0])])


def _column(one: Bill) -> dict[str, str]:
    """Format the figures of a bill, by what they are of."""
    return {
        "captures": f"{one.captures:,}",
        "core-hours": f"{one.core_hours:,.0f}",
        f"vCPUs, to end within {one.hours:g} h": f"{one.vcpus:,}",
        "instances": f"{one.instances:,}",
        "TB read": _tb(one.run.input_bytes),
        "TB shuffled": _tb(one.run.shuffle_bytes),
        "TB staged": _tb(one.run.staged_bytes),
        "TB written": _tb(one.run.output_bytes),
        "input tasks": f"{one.tasks:,}",
        "spark.sql.shuffle.partitions": f"{one.partitions:,}",
        "MB a partition": f"{one.partition_bytes / 1e6:,.0f}",
        "KB a shuffle block": f"{one.block_bytes / 1e3:,.0f}",
        "S3 GETs": f"{one.gets:,}",
        "S3 PUTs": f"{one.puts:,}",
        "$ compute, on demand": _usd(one.dollars.on_demand),
        "$ compute, spot": _usd(one.dollars.spot),
        "$ requests": _usd(one.dollars.requests),
        "$ staging and shuffles": _usd(one.dollars.disks),
        "$ output, a month": _usd(one.dollars.output),
    }


def _tb(size: float) -> str:
    return f"{size / 1e12:,.3f}"


def _usd(money: float) -> str:
    return f"{money:,.2f}"
