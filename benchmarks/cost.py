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
    memory_gb: PositiveFloat
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
class Bill:
    """The resources of a run over `captures` captures. Bytes are of the whole run, `hours` by the clock, the rest as
    named; money is in dollars, `output_usd` for a month."""

    captures: int
    hours: float
    core_hours: float
    vcpus: int
    instances: int
    input_bytes: float
    shuffle_bytes: float
    staged_bytes: float
    output_bytes: float
    tasks: int
    partitions: int
    partition_bytes: float
    block_bytes: float
    gets: int
    puts: int
    on_demand_usd: float
    spot_usd: float
    requests_usd: float
    disks_usd: float
    output_usd: float


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
    compute, storage = prices.compute, prices.storage
    core_hours = captures * page.cpu_ms / 1000 / 3600
    paid_hours = core_hours / compute.busy
    vcpus = math.ceil(paid_hours / hours)
    shuffled, staged, written, read = (
        captures * each for each in (page.shuffle_bytes, page.staged_bytes, page.output_bytes, page.input_bytes)
    )
    partition = partition_bytes(shuffled, prices.shuffle)
    partitions = math.ceil(shuffled / partition)
    readers = math.ceil(staged / partition)
    tasks = math.ceil(read / prices.files.input_bytes)
    gets, puts = requests(captures, page, prices.files, config)
    share_of_month = hours / _MONTH
    return Bill(
        captures=captures,
        hours=hours,
        core_hours=core_hours,
        vcpus=vcpus,
        instances=math.ceil(vcpus / compute.vcpus),
        input_bytes=read,
        shuffle_bytes=shuffled,
        staged_bytes=staged,
        output_bytes=written,
        tasks=tasks,
        partitions=partitions,
        partition_bytes=partition,
        block_bytes=shuffled / (partitions * readers),
        gets=gets,
        puts=puts,
        on_demand_usd=paid_hours * compute.on_demand_vcpu_hour,
        spot_usd=paid_hours * (1 + compute.spot_repeated) * compute.spot_vcpu_hour,
        requests_usd=gets / 1000 * storage.gets_1000 + puts / 1000 * storage.puts_1000,
        disks_usd=share_of_month * (staged * storage.shared_gb_month + shuffled * storage.disk_gb_month) / 1e9,
        output_usd=written / 1e9 * storage.object_gb_month,
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
    rows = {
        "captures": [f"{one.captures:,}" for one in bills],
        "core-hours": [f"{one.core_hours:,.0f}" for one in bills],
        f"vCPUs, to end within {bills[0].hours:g} h": [f"{one.vcpus:,}" for one in bills],
        "instances": [f"{one.instances:,}" for one in bills],
        "TB read": [_tb(one.input_bytes) for one in bills],
        "TB shuffled": [_tb(one.shuffle_bytes) for one in bills],
        "TB staged": [_tb(one.staged_bytes) for one in bills],
        "TB written": [_tb(one.output_bytes) for one in bills],
        "input tasks": [f"{one.tasks:,}" for one in bills],
        "spark.sql.shuffle.partitions": [f"{one.partitions:,}" for one in bills],
        "MB a partition": [f"{one.partition_bytes / 1e6:,.0f}" for one in bills],
        "KB a shuffle block": [f"{one.block_bytes / 1e3:,.0f}" for one in bills],
        "S3 GETs": [f"{one.gets:,}" for one in bills],
        "S3 PUTs": [f"{one.puts:,}" for one in bills],
        "$ compute, on demand": [_usd(one.on_demand_usd) for one in bills],
        "$ compute, spot": [_usd(one.spot_usd) for one in bills],
        "$ requests": [_usd(one.requests_usd) for one in bills],
        "$ staging and shuffles": [_usd(one.disks_usd) for one in bills],
        "$ output, a month": [_usd(one.output_usd) for one in bills],
    }
    lines = [f"{name:30}" + "".join(f"{cell:>16}" for cell in cells) for name, cells in rows.items()]
    return "\n".join([head, *lines])


def _tb(size: float) -> str:
    return f"{size / 1e12:,.3f}"


def _usd(money: float) -> str:
    return f"{money:,.2f}"
