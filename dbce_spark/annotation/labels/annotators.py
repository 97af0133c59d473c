"""Measure annotators: their bias towards a tag, and the time they took (KrdWrd 3.4.3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from dbce_spark.annotation.labels.labels_settings import LabelsSettings
from dbce_spark.annotation.labels.majority import Master, Merge, MergedPage, merge
from dbce_spark.annotation.markup.submission import Submission
from dbce_spark.files import timestamps
from dbce_spark.log import counted
from dbce_spark.model import Label

Shares = tuple[float, float, float]
"""Shares of tags by label; they add up to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """The tags of an annotator beside the winning ones of the same segments. Ties, which have no winner, do not
    count."""

    annotator: str
    pages: int
    segments: int  # with a tag of the annotator's, and a winner
    given: Shares
    won: Shares
    agreed: float  # share of the segments where the annotator gave the winning tag

    @property
    def distance(self) -> float:
        """Return the share of tags that would have to change for the two to be alike: half the sum of the
        differences."""
        return sum(abs(given - won) for given, won in zip(self.given, self.won, strict=True)) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """The time that an annotator had a page open."""

    annotator: str
    page: str
    position: int  # among the pages of the annotator, from 1, in the order of submission
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The visits that were no breaks."""

    visits: tuple[Visit, ...]
    bound: float  # seconds from which a visit was a break; inf where there are no visits
    breaks: int
    unknown: int  # submissions without a time, and without one before them

    @property
    def by_annotator(self) -> dict[str, float]:
        """Sum the seconds of each annotator."""
        sums: dict[str, float] = defaultdict(float)
        for visit in self.visits:
            sums[visit.annotator] += visit.seconds
        return dict(sums)


def fences(values: Sequence[float], whisker: float) -> tuple[float, float]:
    """Return the bounds beyond which a value is an outlier: Q1 - whisker * IQR and Q3 + whisker * IQR, quartiles as in
    R."""
    if not values:
        return -inf, inf
    low, high = np.quantile(np.asarray(values, np.float64), (0.25, 0.75))
    reach = whisker * (high - low)
    return float(low - reach), float(high + reach)


def biases(merged_corpus: Merge) -> list[Bias]:
    """Measure the bias of each annotator of the merged pages, sorted by annotator."""
    pages = {page.page: page for page in merged_corpus.pages}
    by_annotator: dict[str, list[Submission]] = defaultdict(list)
    for one in merged_corpus.counted:
        by_annotator[one.annotator].append(one)
    return [_bias(annotator, submissions, pages) for annotator, submissions in sorted(by_annotator.items())]


def exclusions(merged_corpus: Merge, rules: LabelsSettings) -> dict[str, str]:
    """Return the annotators whose submissions should not count, each with the reason."""
    reasons = {}
    measured = biases(merged_corpus)
    _, high = fences([one.distance for one in measured], rules.whisker)
    bound = max(high, rules.tolerated_bias)
    for one in measured:
        if one.pages < rules.minimum_pages:
            reasons[one.annotator] = f"{counted(one.pages, 'page')}; {rules.minimum_pages} are the minimum"
        elif one.distance > bound:
            reasons[one.annotator] = f"bias of {one.distance:.3f}; {bound:.3f} is the bound"
    return reasons


def without_outliers(
    corpus: Mapping[str, Master],
    submissions: Sequence[Submission],
    *,
    excluded: Mapping[str, str],
    rules: LabelsSettings,
) -> Merge:
    """Merge in two steps: all submissions, and then without those of annotators that `exclusions` finds.

    Once, and not until no one is left to exclude: of any crowd someone is the most biased.
    """
    least = rules.minimum_submissions
    first = merge(corpus, submissions, minimum=least, excluded=excluded)
    found = exclusions(first, rules) | dict(excluded)
    return merge(corpus, submissions, minimum=least, excluded=found) if len(found) > len(excluded) else first


def times(submissions: Iterable[Submission], *, whisker: float) -> Times:
    """Measure how long annotators had pages open: as submitted, or since their submission before.

    Longer than the upper fence of all is a break, and left out.
    """
    by_annotator: dict[str, list[Submission]] = defaultdict(list)
    for one in submissions:
        by_annotator[one.annotator].append(one)
    visits, unknown = [], 0
    for annotator, own in sorted(by_annotator.items()):
        before = None
        for position, one in enumerate(sorted(own, key=lambda one: (one.submitted, one.page)), start=1):
            seconds = one.seconds or (0 if before is None else (one.submitted - before) / timestamps.SECOND)
            before = one.submitted
            if seconds > 0:
                visits.append(Visit(annotator=annotator, page=one.page, position=position, seconds=seconds))
            else:
                unknown += 1
    _, bound = fences([visit.seconds for visit in visits], whisker)
    kept = tuple(visit for visit in visits if visit.seconds <= bound)
    return Times(visits=kept, bound=bound, breaks=len(visits) - len(kept), unknown=unknown)


def practice(visits: Sequence[Visit], *, smoothing: int) -> list[tuple[int, float]]:
    """Measure for each position the mean seconds that annotators took longer there than others who came to the same
    page later in their own sequence (figure 3.6), smoothed over `smoothing` positions."""
    by_page: dict[str, list[Visit]] = defaultdict(list)
    for one in visits:
        by_page[one.page].append(one)
    found: dict[int, list[float]] = defaultdict(list)
    for one in visits:
        later = [
            other.seconds
            for other in by_page[one.page]
            if other.position > one.position and other.annotator != one.annotator
        ]
        if later:
            found[one.position].append(one.seconds - float(np.mean(later)))
    means = [(position, float(np.mean(seconds))) for position, seconds in sorted(found.items())]
    reach = smoothing // 2
    return [
        (position, float(np.mean([mean for near, mean in means if abs(near - position) <= reach])))
        for position, _ in means
    ]


def _bias(annotator: str, submissions: Sequence[Submission], pages: Mapping[str, MergedPage]) -> Bias:
    """Measure the bias of one annotator from all of its submissions."""
    given, won = np.zeros(len(Label), int), np.zeros(len(Label), int)
    agreed = 0
    for one in submissions:
        merged = pages[one.page]
        for tag, winning, votes in zip(one.tags, merged.tags, merged.votes, strict=True):
            if tag is not None and votes.count(max(votes)) == 1:
                given[tag] += 1
                won[winning] += 1
                agreed += tag == winning
    total = max(1, int(given.sum()))
    return Bias(
        annotator=annotator,
        pages=len(submissions),
        segments=int(given.sum()),
        given=_shares(given / total),
        won=_shares(won / total),
        agreed=agreed / total,
    )


def _shares(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Shares:
    first, second, third = values.tolist()
    return first, second, third
