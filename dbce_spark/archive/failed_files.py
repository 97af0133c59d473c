"""How much of each file was lost, and whether so many files failed that a run says little of its collection."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dbce_spark.errors import BudgetError
from dbce_spark.log import without_credentials
from dbce_spark.model import Reject, RejectReason

_NAMED = 20
"""Failed files that run.json names."""
_TOLD = 3
"""Failed files that the error names."""


@dataclass(frozen=True, slots=True, order=True)
class Loss:
    """What was lost of one file: bytes of one that was read whole, records of one that was read by an index."""

    path: str
    lost: int
    of: int
    reason: str

    @property
    def has_failed(self) -> bool:
        """Whether more than half of it was lost."""
        return 2 * self.lost > self.of


def of_file(path: str, rejects: Iterable[Reject], size: Callable[[str], int]) -> Loss | None:
    """What was lost of a file that was read whole, by all rejects of it; None: nothing was.

    One that storage does not give is lost. `size` gives bytes as stored; it is asked only where bytes were lost.
    """
    lost = 0
    worst: Reject | None = None
    for one in rejects:
        if one.reason is RejectReason.FILE_UNREADABLE:
            return Loss(path, 1, 1, _reason(one))
        lost += one.lost_bytes
        if worst is None or one.lost_bytes > worst.lost_bytes:
            worst = one
    if worst is None or not lost:
        return None
    return Loss(path, lost, size(path), _reason(worst))


def _reason(reject: Reject) -> str:
    return f"{reject.reason}: {reject.detail}"[:300]


def joined(losses: Iterable[Loss], asked: dict[str, int]) -> list[Loss]:
    """One loss a file of those that several tasks have read parts of; `asked` says how many records of each."""
    found: dict[str, Loss] = {}
    for one in sorted(losses):
        before = found.get(one.path)
        of = asked.get(one.path, one.of)
        found[one.path] = Loss(one.path, one.lost + (before.lost if before else 0), of, (before or one).reason)
    return list(found.values())


def report(losses: Iterable[Loss], files: int) -> dict[str, Any]:
    """What run.json says: how many of how many files failed, and why the first of them did."""
    failed = sorted(one for one in losses if one.has_failed)
    return {"count": len(failed), "of": files, "first": dict(map(_told, failed[:_NAMED]))}


def _told(loss: Loss) -> tuple[str, str]:
    return without_credentials(loss.path), without_credentials(loss.reason)


def check(failed_files: dict[str, Any], share: float) -> None:
    """Ends a run of which more than this share of the files failed, by what `report` says of it.

    Raises:
        BudgetError: with the first few of them.
    """
    count, of = failed_files["count"], failed_files["of"]
    if count <= share * of:
        return
    first: Sequence[tuple[str, str]] = list(failed_files["first"].items())[:_TOLD]
    told = "; ".join(f"{path} ({reason[:120]})" for path, reason in first)
    raise BudgetError(
        f"{count:,} of {of:,} files failed, more than --max-failed-files {share:g} allows; what could be read is"
        f" written. First: {told}"
    )
