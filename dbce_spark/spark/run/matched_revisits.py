"""The revisits of a run and their originals, where one process holds all captures. Needs no PySpark."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dbce_spark.archive.revisits import Resolved, resolve, share, unresolved
from dbce_spark.dbce.pages import DUPLICATE
from dbce_spark.model import Capture, Reject, Revisit, Skip
from dbce_spark.spark.run.stage_counts import RevisitCounts


@dataclass(frozen=True, slots=True)
class MatchedRevisits:
    """Revisits that share an extraction, those without an original, and the counts of all."""

    shared: list[Resolved]
    rejects: list[Reject]
    counts: RevisitCounts


def match(captures: Sequence[Capture], revisits: Sequence[Revisit]) -> MatchedRevisits:
    """Find the originals of revisits among all captures that were read, which may hold one several times."""
    found = resolve(captures, revisits)
    outcomes = [one or unresolved(revisit) for one, revisit in zip(found, revisits, strict=True)]
    ids = {capture.capture_id for capture in captures}
    shared = share(ids, [one for one in outcomes if isinstance(one, Resolved)])
    rejects = [one for one in outcomes if isinstance(one, Reject)]
    skipped = Counter(one.filter for one in outcomes if isinstance(one, Skip))
    counts = RevisitCounts(
        shared=len(shared.revisits),
        rejects=Counter(str(one.reason) for one in rejects),
        skipped=skipped + Counter({DUPLICATE.filter: shared.duplicates}),
        dropped=+Counter({DUPLICATE.filter: len(captures) - len(ids)}),
    )
    return MatchedRevisits(shared.revisits, rejects, counts)
