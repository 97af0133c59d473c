"""Merge many labellings into one: the majority's tag of each segment (KrdWrd 3.4.2).

A submission that does not count is refused with a reason, never lost: one of a page that has changed or is incomplete,
or of an annotator who was excluded.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from dbce_spark.annotation.markup.page_file import Sheet
from dbce_spark.annotation.markup.submission import Submission, parse_comments, tag_words
from dbce_spark.errors import InputError
from dbce_spark.files import jsonl
from dbce_spark.files.jsonl import Fields, field
from dbce_spark.model import LABELS_BY_WORD, Label

Votes = tuple[int, int, int]
"""Counts of the tags of one segment; `votes[label]` is that of a label."""


class RefusalReason(StrEnum):
    """The reason why a submission does not count."""

    UNKNOWN_PAGE = "unknown_page"  # the page is not in the corpus
    NODES_MISSING = "nodes_missing"  # it has another number of segments than the page
    TEXT_DIFFERS = "text_differs"  # the annotator was shown another text
    UNTAGGED = "untagged"  # not one segment has a tag
    EXCLUDED = "excluded"  # the annotator was excluded
    SUPERSEDED = "superseded"  # the annotator submitted the page again


@dataclass(frozen=True, slots=True, kw_only=True)
class Master:
    """The number of segments and the text that a submission of a page must have."""

    segments: int
    text_digest: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RefusedSubmission:
    """A submission that does not count."""

    page: str
    annotator: str
    submitted: int  # microseconds since 1970-01-01 UTC
    reason: RefusalReason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedPage:
    """A page with the labels of the majority."""

    page: str
    annotators: tuple[str, ...]  # whose submissions count, sorted
    tags: tuple[Label, ...]  # one a segment; UNDECIDED where two tags have as many votes, or none has any
    votes: tuple[Votes, ...]  # one a segment
    comments: tuple[int, ...] = ()  # segments that are readers' comments, ascending


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A corpus merged. Every submission is either accepted or refused; every page with one is merged or among
    `too_few`."""

    pages: tuple[MergedPage, ...]  # by their ids
    accepted: tuple[Submission, ...]  # those of merged pages and of pages with too few; by page and annotator
    refused: tuple[RefusedSubmission, ...]
    too_few: Mapping[str, int]  # pages with less than the minimum, and how many were accepted

    @property
    def counted(self) -> list[Submission]:
        """Return the submissions that the merged pages come from."""
        return [one for one in self.accepted if one.page not in self.too_few]


def master(sheet: Sheet) -> Master:
    """Return what a submission of a page must have."""
    return Master(segments=len(sheet.segments), text_digest=sheet.text_digest)


def merge(
    corpus: Mapping[str, Master], submissions: Iterable[Submission], *, minimum: int, excluded: Mapping[str, str]
) -> Merge:
    """Merge the submissions of every page that `minimum` annotators have submitted, by majority.

    excluded: annotators whose submissions do not count, each with the reason. The order of submissions does not matter.
    """
    fitting: dict[tuple[str, str], list[Submission]] = defaultdict(list)
    refused = []
    for one in submissions:
        if refusal := _refusal(one, corpus, excluded):
            refused.append(_refused(one, *refusal))
        else:
            fitting[one.page, one.annotator].append(one)
    accepted = []
    for _, own in sorted(fitting.items()):
        *earlier, last = sorted(own, key=_age)
        accepted.append(last)
        refused += [_refused(one, RefusalReason.SUPERSEDED, f"by one of {last.submitted}") for one in earlier]
    by_page: dict[str, list[Submission]] = defaultdict(list)
    for one in accepted:
        by_page[one.page].append(one)
    return Merge(
        pages=tuple(merge_page(page, own) for page, own in by_page.items() if len(own) >= minimum),
        accepted=tuple(accepted),
        refused=tuple(sorted(refused)),
        too_few={page: len(own) for page, own in by_page.items() if len(own) < minimum},
    )


def merge_page(page: str, submissions: Iterable[Submission]) -> MergedPage:
    """Merge the submissions of one page, which all have the same segments."""
    ordered = sorted(submissions, key=lambda one: one.annotator)
    votes = tuple(map(_votes, zip(*(one.tags for one in ordered), strict=True)))
    return MergedPage(
        page=page,
        annotators=tuple(one.annotator for one in ordered),
        tags=tuple(map(winner, votes)),
        votes=votes,
        comments=tuple(at for at, counts in enumerate(votes) if _are_comments(at, counts, ordered)),
    )


def winner(votes: Votes) -> Label:
    """Return the label with the most votes; UNDECIDED where two have as many, or none has any."""
    most = max(votes)
    return Label(votes.index(most)) if votes.count(most) == 1 else Label.UNDECIDED


def _are_comments(at: int, votes: Votes, submissions: Iterable[Submission]) -> bool:
    """Test whether a segment is content, and most of those who call it so say that readers wrote it."""
    marked = sum(at in one.comments for one in submissions)
    return winner(votes) is Label.CONTENT and 2 * marked > votes[Label.CONTENT]


def _refusal(
    submission: Submission, corpus: Mapping[str, Master], excluded: Mapping[str, str]
) -> tuple[RefusalReason, str] | None:
    """Return the reason why a submission does not count, with details; None if it counts."""
    master = corpus.get(submission.page)
    if master is None:
        return RefusalReason.UNKNOWN_PAGE, f"there is no page {submission.page}"
    if len(submission.tags) != master.segments:
        return RefusalReason.NODES_MISSING, f"{len(submission.tags)} segments, not {master.segments}"
    if submission.text_digest != master.text_digest:
        return RefusalReason.TEXT_DIFFERS, f"{submission.text_digest}, not {master.text_digest}"
    if all(tag is None for tag in submission.tags):
        return RefusalReason.UNTAGGED, f"none of {master.segments} segments has a tag"
    if submission.annotator in excluded:
        return RefusalReason.EXCLUDED, excluded[submission.annotator]
    return None


def _refused(submission: Submission, reason: RefusalReason, detail: str) -> RefusedSubmission:
    return RefusedSubmission(
        page=submission.page,
        annotator=submission.annotator,
        submitted=submission.submitted,
        reason=reason,
        detail=detail,
    )


def _age(submission: Submission) -> tuple[object, ...]:
    """Return a key that sorts by time; submissions of one moment have an order that does not depend on how they
    came."""
    return (
        submission.submitted,
        submission.seconds,
        submission.prelabelled,
        tuple(-1 if tag is None else int(tag) for tag in submission.tags),
    )


def _votes(tags: Iterable[Label | None]) -> Votes:
    """Count the tags of one segment."""
    counts = Counter(tags)
    return counts[Label.UNDECIDED], counts[Label.CONTENT], counts[Label.BOILERPLATE]


def _as_fields(page: MergedPage) -> Fields:
    return {
        "page": page.page,
        "annotators": list(page.annotators),
        "tags": tag_words(page.tags),
        **({"comments": [*page.comments]} if page.comments else {}),
        "votes": [list(votes) for votes in page.votes],
    }


def _from_fields(fields: Fields, place: str) -> MergedPage:
    try:
        tags = tuple(LABELS_BY_WORD[word] for word in field(fields, "tags", "a list", place))
        votes = tuple((int(u), int(c), int(b)) for u, c, b in field(fields, "votes", "a list", place))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{place}: tags must be words of labels, and votes three numbers each: {error}") from error
    if len(tags) != len(votes):
        raise InputError(f"{place}: {len(tags)} tags and {len(votes)} votes; give one of each a segment")
    return MergedPage(
        page=field(fields, "page", "a text", place),
        annotators=tuple(map(str, field(fields, "annotators", "a list", place))),
        tags=tags,
        votes=votes,
        comments=parse_comments(fields, tags, place),
    )


_LINES = jsonl.LinesOf(_as_fields, _from_fields)
write, read = _LINES.write, _LINES.read
