"""Read and write submissions: the tags that an annotator gave to a page, one a segment, in page order.

Tags are put on elements, small and large, and resolved for the segments before they are submitted: a tag reaches
everything below its element that has none of its own ("pushed down", KrdWrd 3.4.2).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from dbce_spark.errors import InputError
from dbce_spark.files import jsonl
from dbce_spark.files.jsonl import Fields, field
from dbce_spark.model import LABEL_WORDS, LABELS_BY_WORD, Label, digest

Tags = tuple[Label | None, ...]
"""Tags in page order, one a segment; None: the annotator gave it none, neither its own nor one from above."""

COMMENT = "comment"
"""The mark of readers' comments: they have the tag of content, and stand among the comments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One annotator's tags of one page, as last submitted."""

    annotator: str  # a name that only the project can resolve to a person
    page: str  # id of the page
    submitted: int  # microseconds since 1970-01-01 UTC
    seconds: float  # that the annotator had the page open; 0 if unknown
    text_digest: str  # `text_digest` of the segments that the annotator was shown
    tags: Tags
    comments: tuple[int, ...] = ()  # segments that are readers' comments, ascending
    prelabelled: str = ""  # the model whose labels stood there at the start, "" if none did


def annotator_name(account: int) -> str:
    """Return the name under which an account appears in exports."""
    return f"annotator-{account}"


def text_digest(texts: Iterable[str]) -> str:
    """Return the digest of a page's segments: equal digests mean the same segments with the same words."""
    return digest(*(" ".join(text.split()) for text in texts))


def as_fields(submission: Submission) -> Fields:
    """Return a submission as a JSON line has it."""
    return {
        "annotator": submission.annotator,
        "page": submission.page,
        "submitted": submission.submitted,
        "seconds": submission.seconds,
        "text_digest": submission.text_digest,
        "tags": tag_words(submission.tags),
        **({"comments": [*submission.comments]} if submission.comments else {}),
        "prelabelled": submission.prelabelled,
    }


def from_fields(fields: Fields, place: str) -> Submission:
    """Return the submission that a JSON object holds; `place` names the line in errors.

    Raises:
        InputError: a field is missing, or of the wrong kind.
    """
    tags = parse_tags(fields, place)
    return Submission(
        annotator=field(fields, "annotator", "a text", place),
        page=field(fields, "page", "a text", place),
        submitted=field(fields, "submitted", "a whole number", place),
        seconds=float(field(fields, "seconds", "a number", place)),
        text_digest=field(fields, "text_digest", "a text", place),
        tags=tags,
        comments=parse_comments(fields, tags, place),
        prelabelled=field({"prelabelled": "", **fields}, "prelabelled", "a text", place),
    )


def parse_comments(fields: Fields, tags: Tags, place: str) -> tuple[int, ...]:
    """Return the segments that a JSON line names as readers' comments, none where it has no such field.

    Raises:
        InputError: one has not the tag of content.
    """
    found = field({"comments": [], **fields}, "comments", "a list", place)
    content = [at for at, tag in enumerate(tags) if tag is Label.CONTENT]
    if not {*map(repr, found)} <= {*map(repr, content)}:
        raise InputError(f"{place}: comments must be numbers of segments, from 0, that have the tag content")
    return tuple(sorted({*found}))


def tag_words(tags: Tags) -> list[str | None]:
    """Return tags as JSON lines have them: by their words, None where there is none."""
    return [None if tag is None else tag.word for tag in tags]


def parse_tags(fields: Fields, place: str) -> Tags:
    """Return the tags of a JSON line; `place` names the line in errors.

    Raises:
        InputError: there are none, or there is none of such a name.
    """
    return tuple(_parse_tag(word, place) for word in field(fields, "tags", "a list", place))


def _parse_tag(word: object, place: str) -> Label | None:
    """Return the tag that a JSON line names; `place` names the line in errors.

    Raises:
        InputError: there is none of this name.
    """
    if word is None:
        return None
    if not isinstance(word, str) or word not in LABELS_BY_WORD:
        raise InputError(f"{place}: {word!r} is no tag; it must be one of {', '.join(LABEL_WORDS)}, or null")
    return LABELS_BY_WORD[word]


_LINES = jsonl.LinesOf(as_fields, from_fields)
write, read = _LINES.write, _LINES.read
