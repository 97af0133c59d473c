"""What a run did, for a person: the figures of run.json in a dozen lines."""

from collections.abc import Mapping
from typing import Any


def text(report: Mapping[str, Any], output: str) -> str:
    """The summary that ends a run."""
    seconds = report["seconds"]
    stages = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())
    cut = report["capped_buckets"]
    return "\n".join(
        [
            "",
            *_selection(report.get("selection")),
            _line("records", report["records_read"], f"in {report['files']:,} files"),
            _line("extractions", report["extractions"], f"{report['crossed']:,} crossed, {report['single']:,} single"),
            _line("revisits", report["revisits"], "captures more that share an extraction"),
            *_counts("rejects", report["rejects"]),
            *_counts("skipped", report["skipped"]),
            _line("largest bucket", report["largest_bucket"], f"captures; {cut:,} buckets were cut into runs"),
            _line("seconds", round(sum(seconds.values()), 1), stages),
            _line(
                "speed", report["pages_per_second_per_core"], f"pages/s/core on {report['cores']} cores, start aside"
            ),
            f"output          {output}",
        ]
    )


def _selection(told: Mapping[str, Any] | None) -> list[str]:
    """What became of the lines of an index."""
    if told is None:
        return []
    return [
        _line("index lines", told["read"], f"{told['selected']:,} selected, {told['duplicate']:,} of them twice"),
        *(f"  {name:24}{count:>12,}" for name, count in told["skipped"].items()),
    ]


def _line(name: str, value: float, remark: str = "") -> str:
    return f"{name:14}{value:>12,}  {remark}".rstrip()


def _counts(name: str, counts: Mapping[str, int]) -> list[str]:
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [_line(name, sum(counts.values())), *(f"  {reason:24}{count:>12,}" for reason, count in rows)]
