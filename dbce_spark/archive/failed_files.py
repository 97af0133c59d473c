"""The bytes and records lost of each file, and the check that ends a run in which too many files failed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbce_spark.errors import BudgetError
from dbce_spark.log import counted, without_credentials
from dbce_spark.model import Reject, RejectReason

_NAMED = 20
"""Failed files that run.json names."""
_LISTED = 3
"""Failed files that the error names."""


@dataclass(frozen=True, slots=True, order=True)
class Loss:
    """The loss of one file: in bytes if it was read whole, in records if it was read by an index."""

    path: str
    lost: int
    of: int
    reason: str

    @property
    def has_failed(self) -> bool:
        """Return whether more than half of the file was lost."""
        return 2 * self.lost > self.of


def file_loss(path: str, rejects: Sequence[Reject], size: Callable[[str], int]) -> Loss | None:
    """Sum up the loss of a file that was read whole from all its rejects; None if nothing was lost.

    A file that storage does not give, or that is no archive, is lost as a whole. `size` gives the bytes of a file as
    stored; it is called only where bytes were lost.
    """
    for reject in rejects:
        is_foreign = reject.reason is RejectReason.NOT_AN_ARCHIVE and reject.warc_file == path  # not a file in a zip
        if is_foreign or reject.reason is RejectReason.FILE_UNREADABLE:
            return Loss(path, 1, 1, reason_of(reject))
    lost = sum(reject.lost_bytes for reject in rejects)
    if not lost:
        return None
    return Loss(path, lost, size(path), reason_of(max(rejects, key=lambda reject: reject.lost_bytes)))


def reason_of(reject: Reject) -> str:
    """Write why a record was rejected, in short."""
    return f"{reject.reason}: {reject.detail}"[:300]


def join_losses(losses: Iterable[Loss], records: dict[str, int]) -> list[Loss]:
    """Merge the losses of files that several tasks read parts of into one a file. `records` has the number of records
    that an index names in each file."""
    by_path: dict[str, Loss] = {}
    for loss in sorted(losses):
        before = by_path.get(loss.path)
        total = records.get(loss.path, loss.of)
        by_path[loss.path] = Loss(loss.path, loss.lost + (before.lost if before else 0), total, (before or loss).reason)
    return list(by_path.values())


def report(losses: Iterable[Loss], files: int) -> dict[str, Any]:
    """Count the failed files for run.json, and name the first of them with their reasons."""
    failed = sorted(loss for loss in losses if loss.has_failed)
    return {"count": len(failed), "of": files, "first": dict(map(_named, failed[:_NAMED]))}


def join_reports(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up the counts of several runs, as `report` makes them, and name the first of all."""
    first = [item for one in reports for item in one["first"].items()]
    return {
        "count": sum(one["count"] for one in reports),
        "of": sum(one["of"] for one in reports),
        "first": dict(first[:_NAMED]),
    }


def _named(loss: Loss) -> tuple[str, str]:
    return without_credentials(loss.path), without_credentials(loss.reason)


def allowed(share: float, files: int) -> int:
    """Return how many of some files may fail."""
    return int(round(share * files, 6))  # .29 of 100 are 28.999999999999996


def check(failed_files: dict[str, Any], share: float, outcome: str = "what could be read is written") -> None:
    """End a run of which more than `share` of the files failed, as counted by `report`. `outcome` is of the others.

    Raises:
        BudgetError: with the first few of them.
    """
    count, total = failed_files["count"], failed_files["of"]
    if count <= allowed(share, total):
        return
    first: Sequence[tuple[str, str]] = list(failed_files["first"].items())[:_LISTED]
    listed = "; ".join(f"{path} ({reason[:120]})" for path, reason in first)
    raise BudgetError(
        f"{count:,} of {counted(total, 'file')} failed, more than --max-failed-files {share:g} allows; {outcome}."
        f" First: {listed}"
    )
