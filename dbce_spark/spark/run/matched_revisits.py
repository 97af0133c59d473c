"""The revisits of a run and their originals, where one process holds all captures. Needs no PySpark."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dbce_spark.archive.revisits import PriorCapture, Resolved, resolve, share, unresolved
from dbce_spark.dbce.pages import DUPLICATE, LIMIT
from dbce_spark.model import Capture, Reject, Revisit, Skip
from dbce_spark.spark.run.stage_counts import RevisitCounts


@dataclass(frozen=True, slots=True)
class PriorCaptures:
    """The captures of the prior state of a collection: those that have pages, and the ids of all, revisits too."""

    pages: Sequence[PriorCapture] = ()
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class MatchedRevisits:
    """Revisits that share an extraction, those without an original, as rejects and as they are, and the counts of
    all."""

    shared: list[Resolved]
    rejects: list[Reject]
    pending: list[Revisit]
    counts: RevisitCounts


def match(
    captures: Sequence[Capture], revisits: Sequence[Revisit], prior: PriorCaptures | None = None
) -> MatchedRevisits:
    """Find the originals of revisits among all captures that were read, which may hold one several times, and those of
    the prior state."""
    before = prior or PriorCaptures()
    found = resolve([*captures, *before.pages], revisits)
    outcomes = [one or unresolved(revisit) for one, revisit in zip(found, revisits, strict=True)]
    ids = {capture.capture_id for capture in captures}
    new = ids - before.ids
    resolved = [one for one in outcomes if isinstance(one, Resolved)]
    # A page that goes no further, as an earlier revisit was the same capture, has no extraction to share.
    with_row = new | {page.capture_id for page in before.pages}
    beyond = sum(one.original_id not in with_row for one in resolved)
    shared = [one for one in share(ids | before.ids, resolved).revisits if one.original_id in with_row]
    skipped = Counter(one.filter for one in outcomes if isinstance(one, Skip))
    rejects = [one for one in outcomes if isinstance(one, Reject)]
    repeated = {DUPLICATE.filter: len(resolved) - beyond - len(shared), LIMIT.filter: beyond}
    counts = RevisitCounts(
        shared=len(shared),
        rejects=Counter(str(one.reason) for one in rejects),
        skipped=skipped + Counter(repeated),
        dropped=+Counter({DUPLICATE.filter: len(captures) - len(new)}),
    )
    pending = [revisit for revisit, one in zip(revisits, outcomes, strict=True) if isinstance(one, Reject)]
    return MatchedRevisits(shared, rejects, pending, counts)
