"""Estimate how uneven a large archive is: sites, buckets and the largest share of one task, drawn at random.

Nothing of it was read: sizes are drawn by laws that were fitted to published counts. Sites are drawn, not captures, so
a billion of these takes seconds.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.cost import Measured
from dbce_spark.config import DbceConfig

CAPTURES = 1_000_000_000
EXPONENTS = (1.0, 1.2)
"""Exponents beside the fitted one, for crawls that no politeness has levelled. 1 is Zipf's own; at 1.2 the largest site
is a fifth of the archive."""

CRAWLED, CRAWLED_SITES = 2_495_190_754, 38_304_026
"""Captures and registered domains of CC-MAIN-2024-42 (commoncrawl/cc-crawl-statistics at 011ff43f, plots/crawlsize)."""
LARGEST_CRAWLED = 14_995_155
"""Captures of the largest of these, blogspot.com (the same, plots/domains-top-500.csv). The law that follows has
105,953 for the 500th, which has 104,961."""

CARRIED_BYTES = 24_500
"""What a page carries to its site (`carried` of its staged row): mean of the sample archive, --weight 6. Real pages had
14,000 to 18,000 (four sites), so sites are taken for large a little early."""

_TEMPLATES = 30
_TEMPLATE_EXPONENT = 3.0
"""Templates of a site by Zipf's law: the largest then has .83 of its pages. Largest buckets of real sites had .67, .73,
.81 and 1.0 of them."""

_MEMBER_BYTES = 700
"""A row of a bucket: a signature of 512 bytes, ids and the URL key."""
_COUNTED_BYTES = 200
"""A row of a bucket when it is joined to the bucket's size: without its signature."""
_COMPARED_SECONDS = 1e-5
"""Seconds to set a capture beside `bucket.cap` others (conf/dbce.toml, bucket.cap)."""
_HASH_BYTES = 8

Sizes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skew:
    """The sizes in one drawn archive: captures, unless named otherwise."""

    exponent: float
    sites: int
    largest_site: int
    large_sites: int
    large_share: float
    largest_bucket: int
    capped_buckets: int
    runs: int
    largest_run: int
    partitions: int
    largest_partition_bytes: float


def harmonic(sites: float, exponent: float) -> float:
    """Sum rank^-exponent over the ranks up to `sites`: the first thousand added, the others as an integral."""
    head = min(int(sites), 1000)
    first = float((np.arange(1, head + 1) ** -exponent).sum())
    low, high = head + 0.5, sites + 0.5
    if sites <= head:
        return first
    if abs(exponent - 1) < 1e-9:
        return first + float(np.log(high / low))
    return first + float((high ** (1 - exponent) - low ** (1 - exponent)) / (1 - exponent))


def fitted(sites: float, largest_share: float) -> float:
    """Find the exponent of the Zipf law by which the largest of `sites` sites has this share."""
    low, high = 0.0, 4.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 / harmonic(sites, middle) < largest_share else (low, middle)
    return low


def site_sizes(captures: int, sites: int, exponent: float) -> Sizes:
    """Draw the captures of each site, about `captures` together, the largest first."""
    sizes = np.arange(1, sites + 1, dtype=np.float64) ** -exponent
    sizes *= captures / harmonic(sites, exponent)
    return np.rint(sizes, out=sizes).astype(np.int64)


def buckets(sizes: Sizes) -> Sizes:
    """Size the largest buckets of sites in each band: one for each template."""
    shares = np.arange(1, _TEMPLATES + 1, dtype=np.float64) ** -_TEMPLATE_EXPONENT
    made: Sizes = np.rint(np.outer(sizes, shares / shares.sum())).astype(np.int64).ravel()
    return made


def last_runs(sizes: Sizes, cap: int) -> Sizes:
    """Compute `buckets.last_chunk` of each size."""
    last: Sizes = np.maximum(0, (2 * sizes + cap) // (2 * cap) - 1)
    return last


def draw(
    captures: int, sites: int, exponent: float, partition_bytes: float, config: DbceConfig, rng: np.random.Generator
) -> Skew:
    """Draw one archive, as the stages would share it out."""
    sizes = site_sizes(captures, sites, exponent)
    is_large = sizes > config.bucket.whole_site_bytes / CARRIED_BYTES
    large, small = sizes[is_large], sizes[~is_large]
    largest = buckets(large)
    last = last_runs(largest, config.bucket.cap)
    partitions = max(1, int(np.ceil(small.sum() * CARRIED_BYTES / partition_bytes)))
    loads = np.bincount(rng.integers(partitions, size=len(small)), weights=small, minlength=partitions)
    return Skew(
        exponent=exponent,
        sites=sites,
        largest_site=int(sizes.max(initial=0)),
        large_sites=len(large),
        large_share=float(large.sum() / max(1, sizes.sum())),
        largest_bucket=int(largest.max(initial=0)),
        capped_buckets=int(np.count_nonzero(last)),
        runs=int((last[last > 0] + 1).sum()),
        largest_run=int((largest - last * config.bucket.cap).max(initial=0)),
        partitions=partitions,
        largest_partition_bytes=float(loads.max() * CARRIED_BYTES),
    )


def drawn(captures: int, partition_bytes: float, config: DbceConfig, seed: int = 1) -> list[Skew]:
    """Draw an archive of `captures` captures by each law: the fitted one, and those that are worse."""
    rng = np.random.default_rng(seed)
    sites = max(1, round(captures * CRAWLED_SITES / CRAWLED))
    exponents = (fitted(CRAWLED_SITES, LARGEST_CRAWLED / CRAWLED), *EXPONENTS)
    return [draw(captures, sites, one, partition_bytes, config, rng) for one in exponents]


def text(skews: list[Skew], page: Measured, config: DbceConfig) -> str:
    """Lay the drawn sizes out, a column for each law, and the most that a task then holds, as lines for a person."""
    whole = config.bucket.whole_site_bytes
    rows = {
        "exponent of Zipf's law": [f"{one.exponent:.2f}" for one in skews],
        "sites": [f"{one.sites:,}" for one in skews],
        "captures of the largest": [f"{one.largest_site:,}" for one in skews],
        "sites taken bucket by bucket": [f"{one.large_sites:,}" for one in skews],
        "... with of all captures": [f"{one.large_share:.0%}" for one in skews],
        "captures in the largest bucket": [f"{one.largest_bucket:,}" for one in skews],
        "buckets over the cap, a band": [f"{one.capped_buckets:,}" for one in skews],
        "... and their runs": [f"{one.runs:,}" for one in skews],
        "captures in the largest run": [f"{one.largest_run:,}" for one in skews],
        "... MB": [f"{one.largest_run * _MEMBER_BYTES / 1e6:,.1f}" for one in skews],
        "... seconds": [f"{one.largest_run * _COMPARED_SECONDS:,.2f}" for one in skews],
        "MB in the largest partition": [f"{one.largest_partition_bytes / 1e6:,.0f}" for one in skews],
        "GB of it that meet its size": [f"{one.largest_bucket * _COUNTED_BYTES / 1e9:,.2f}" for one in skews],
    }
    lines = [f"{name:32}" + "".join(f"{cell:>14}" for cell in cells) for name, cells in rows.items()]
    pages = whole / CARRIED_BYTES
    together = round(3 * 1.5 * config.bucket.cap)  # a run, and the captures before and behind each of it
    return "\n".join(
        [
            *lines,
            f"whatever is drawn: a site looked at whole has at most {whole / 1e6:,.0f} MB, {pages:,.0f} pages and"
            f" {pages * page.cpu_ms / 1000:,.0f} s;",
            f"crosses annotated together have {together:,} captures: {together * CARRIED_BYTES / 1e6:,.0f} MB, and"
            f" {together * config.page.max_tokens * _HASH_BYTES / 1e6:,.0f} MB where each has the most words",
        ]
    )
