"""Render what a run did for a person: the figures of run.json in a dozen lines."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from dbce_spark.archive.index.capture_filter import PREFIX
from dbce_spark.dbce.pages import LOSSY_FLAGS
from dbce_spark.log import counted
from dbce_spark.spark.run.status_lines import by_frequency

_WITHOUT_PAGES = {"conversion:text", "type:metadata"}
"""The records of WET and of WAT files, as they are counted."""
_NO_PAGE = (
    "no record is a page; WET and WAT files hold texts and metadata of pages: give the WARC files that these are of"
)


def text(report: Mapping[str, Any], output: str) -> str:
    """Render the summary that ends a run."""
    seconds = report["seconds"]
    stages = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())
    cut = report["capped_buckets"]
    return "\n".join(
        [
            "",
            *_selection(report.get("selection")),
            _line("records", report["records_read"], _sources(report)),
            _line("extractions", report["extractions"], _of_all(report)),
            *_formats(report),
            *_flags(report),
            _line("revisits", report["revisits"], "captures more that share an extraction"),
            *_counts("rejects", report["rejects"]),
            *_counts("skipped", report["skipped"]),
            *_nothing_extracted(report),
            _line("largest bucket", report["largest_bucket"], f"captures; {counted(cut, 'bucket')} cut into chunks"),
            _line("seconds", round(sum(seconds.values()), 1), stages),
            _line(
                "speed",
                report["pages_per_second_per_core"],
                f"pages/s/core on {counted(report['cores'], 'core')}, start aside",
            ),
            f"output          {output}",
        ]
    )


def _sources(report: Mapping[str, Any]) -> str:
    """Render where records came from: in an increment some revisits did not come with its files, and count too."""
    files, earlier = counted(report["files"], "file"), report.get("revisits_taken_up", 0)
    return (
        f"in {files}; and {counted(earlier, 'revisit')} of earlier crawls, looked up again"
        if earlier
        else f"in {files}"
    )


def _of_all(report: Mapping[str, Any]) -> str:
    """Render how the written extractions were labelled: in an increment also those of earlier captures."""
    counts = f"{report['crossed']:,} crossed, {report['single']:,} single"
    earlier = report.get("relabelled", 0)
    return f"and {earlier:,} of earlier captures labelled again; together {counts}" if earlier else counts


def _selection(account: Mapping[str, Any] | None) -> list[str]:
    """Render what became of the lines of an index."""
    if account is None:
        return []
    remark = f"{account['selected']:,} selected, {account['duplicate']:,} of them twice"
    undeclared = ((f"selected without {name}", count) for name, count in account.get("undeclared", {}).items())
    return [
        _line("index lines", account["read"], remark),
        *_reasons(account["skipped"].items()),
        *_reasons(undeclared),
    ]


def _nothing_extracted(report: Mapping[str, Any]) -> list[str]:
    """Render why there is no extraction, if there is none: what the filters of the selection left out, before it the
    rejects, which all others are; or that the files hold no pages."""
    skipped = Counter(report["skipped"]) + Counter((report.get("selection") or {}).get("skipped", {}))
    left_out = {name: count for name, count in skipped.items() if name.startswith(PREFIX)}
    if report["extractions"] or report["revisits"]:
        return []
    if not left_out:
        kinds = report["skipped"].keys() - {"type:warcinfo"}
        is_of_texts = bool(kinds) and kinds <= _WITHOUT_PAGES
        return [f"no extraction: {_NO_PAGE}"] if is_of_texts and not report["rejects"] else []
    rejects = f"all that was selected was rejected, {_listed(report['rejects'])}, as rejects has it; "
    cause = f"the selection left out {_listed(left_out)}; docs/selection.md has what each filter fits"
    return [f"no extraction: {rejects if report['rejects'] else ''}{cause}"]


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in by_frequency(counts))


def _formats(report: Mapping[str, Any]) -> list[str]:
    """Render how many of the written extractions have each format that was asked for."""
    written = report["extractions"] + report.get("relabelled", 0)
    return [f"  {name:24}{count:>12,}  {count / written:.1%}" for name, count in report.get("formats", {}).items()]


def _flags(report: Mapping[str, Any]) -> list[str]:
    """Render how many of the written extractions are of a record that is cut or damaged."""
    return [f"  flag {name:19}{count:>12,}  {LOSSY_FLAGS[name]}" for name, count in report.get("flags", {}).items()]


def _line(name: str, value: float, remark: str = "") -> str:
    return f"{name:14}{value:>12,}  {remark}".rstrip()


def _counts(name: str, counts: Mapping[str, int]) -> list[str]:
    return [_line(name, sum(counts.values())), *_reasons(by_frequency(counts))]


def _reasons(counts: Iterable[tuple[str, int]]) -> list[str]:
    return [f"  {reason:24}{count:>12,}" for reason, count in counts]
