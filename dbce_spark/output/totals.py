"""Sum up the run.json of all increments of a version of a collection, so that it reads as that of one output."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dbce_spark.archive import failed_files
from dbce_spark.model import RejectReason, digest
from dbce_spark.output.collection import Version

_SUMMED = (
    "records_read", "captures", "extractions", "revisits", "relabelled", "page_files", "capped_buckets", "files",
)  # fmt: skip

Run = Mapping[str, Any]


def sum_runs(version: Version, runs: Sequence[Run]) -> dict[str, Any]:
    """Sum up the entries of run.json that readers use. `runs` are those of each crawl of the version, the oldest first.

    Every record has one outcome here, too: each run looks up again all originals that were not found before, so
    revisits without one are those of the last. `crossed`, `single`, `flags` and `duplicates` are left out, since runs
    count captures again that they label again. `collection` names the version.
    """
    last = runs[-1]
    stale = sum(run["rejects"].get(RejectReason.REVISIT_UNRESOLVED, 0) for run in runs[:-1])
    rejects = _summed(run["rejects"] for run in runs) - Counter({RejectReason.REVISIT_UNRESOLVED: stale})
    settled = version.settings["config"]
    return {
        **{name: sum(run.get(name, 0) for run in runs) for name in _SUMMED},
        "rejects": dict(sorted(rejects.items())),
        "skipped": dict(sorted(_summed(run["skipped"] for run in runs).items())),
        "seconds": dict(_summed(run["seconds"] for run in runs)),
        "pages_per_second_per_core": last["pages_per_second_per_core"],
        "largest_bucket": max(run["largest_bucket"] for run in runs),
        "failed_files": failed_files.join_reports([run["failed_files"] for run in runs]),
        "plan": digest(*(run["plan"] for run in runs)),
        "config": {name: values | settled.get(name, {}) for name, values in last["config"].items()},
        "versions": last["versions"],
        "collection": {
            "version": version.number,
            "made": version.made,
            "crawls": len(runs),
            "increments": [increment.number for increment in version.increments],
        },
    }


def _summed(parts: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Add up counts, or seconds, by their names."""
    found: Counter[str] = Counter()
    for part in parts:
        found.update(part)
    return found
