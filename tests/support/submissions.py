"""Submissions in one line."""

from collections.abc import Sequence

from dbce_spark.annotation.labels.majority import Master
from dbce_spark.annotation.markup.submission import Submission
from dbce_spark.model import Label

TAG_OF = {"u": Label.UNDECIDED, "c": Label.CONTENT, "b": Label.BOILERPLATE, "-": None, "r": Label.CONTENT}


def submission(
    annotator: str,
    tags: str | Sequence[Label | None],
    *,
    page: str = "p",
    digest: str = "d",
    at: int = 0,
    took: float = 0,
) -> Submission:
    """An annotator's tags of a page, given as letters ("cb-u", "r" for a reader's comment) or as they are; `at` in
    seconds."""
    return Submission(
        annotator=annotator,
        page=page,
        submitted=at * 1_000_000,
        seconds=float(took),
        text_digest=digest,
        tags=tuple(TAG_OF[tag] if isinstance(tag, str) else tag for tag in tags),
        comments=tuple(at for at, tag in enumerate(tags) if tag == "r"),
    )


def corpus(**segments: int) -> dict[str, Master]:
    """Pages by the number of their segments, all with the digest "d"."""
    return {page: Master(segments=count, text_digest="d") for page, count in segments.items()}
