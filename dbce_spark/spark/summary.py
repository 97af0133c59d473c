"""What a run did, for a person: the figures of run.json in a dozen lines."""

from collections.abc import Mapping
from typing import Any


def text(report: Mapping[str, Any], output: str) -> str:
    """The summary that ends a run."""
    seconds = report["seconds"]
    stages = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())
    return "\n".join(
        [
            "",
            f"records       {report['records_read']:>12,}  in {report['files']:,} files",
            f"captures      {report['captures']:>12,}  pages, {report['skipped'].get('duplicate', 0):,} of them duplicates",
            f"extractions   {report['extractions']:>12,}  {report['crossed']:,} crossed, {report['single']:,} single",
            *_counts("rejects", report["rejects"]),
            *_counts("skipped", report["skipped"]),
            f"largest bucket{report['largest_bucket']:>12,}  captures; {report['capped_buckets']:,} buckets were cut into parts",
            f"time          {sum(seconds.values()):>10.1f} s  {stages}",
            f"speed         {report['pages_per_second_per_core']:>12,}  pages/s/core on {report['cores']} cores, start aside",
            f"output        {output}",
        ]
    )


def _counts(name: str, counts: Mapping[str, int]) -> list[str]:
    lines = [f"{name:14}{sum(counts.values()):>12,}"]
    return lines + [f"  {reason:24}{count:>12,}" for reason, count in sorted(counts.items(), key=lambda item: -item[1])]
