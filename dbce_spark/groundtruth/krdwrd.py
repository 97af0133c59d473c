"""The votes that KrdWrd published with its corpus canola, as submissions.

A folder with a table a page (ID.stats), a row a text node: its words, the merged tag with the agreement in percent, and
a column an annotator. A node that an annotator's copy of the page lacked has "null" in the column, one that no tag
reached "undefined"; a row without words, which no annotator could see, has "undefined" in their place. `plan.canola`
names the pages that count. When each was submitted, KrdWrd did not publish.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbce_spark.errors import InputError
from dbce_spark.groundtruth.merge import Outline
from dbce_spark.groundtruth.submission import Submission, text_digest
from dbce_spark.labels import Label

LABEL_OF = {
    "krdwrd-tag-1": Label.BOILERPLATE,
    "krdwrd-tag-2": Label.UNDECIDED,
    "krdwrd-tag-3": Label.CONTENT,
    "krdwrd-tag-mrgtie": Label.UNDECIDED,
}

_MISSING, _UNKNOWN = "null", "undefined"
_TAG = re.compile(r"krdwrd-tag-(?:\d|mrgtie)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """A page as its annotators left it."""

    page: str
    words: tuple[int, ...]  # of each text node; 0 where none are said
    merged: tuple[Label, ...]  # as KrdWrd merged it
    submissions: tuple[Submission, ...]

    @property
    def outline(self) -> Outline:
        """What a submission of the whole page fits; no text is known but by how many words it has."""
        return Outline(segments=len(self.words), text_digest=_digest(self.words))


def read(folder: str) -> Iterator[Votes]:
    """The pages that count, in the order of the plan.

    Raises:
        InputError: a file is missing, or a table is not of this kind.
    """
    for page in _lines(Path(folder) / "plan.canola"):
        yield _page(page, Path(folder) / f"{page}.stats")


def _page(page: str, path: Path) -> Votes:
    _, head, *rows = _lines(path)
    _, _, *annotators = head.split("\t")
    cells = [row.split("\t") for row in rows]
    if wrong := next((at for at, row in enumerate(cells) if len(row) != len(annotators) + 2), None):
        raise InputError(f"{path}:{wrong + 3}: not {len(annotators) + 2} columns but {len(cells[wrong])}")
    words = tuple(0 if row[0] == _UNKNOWN else int(row[0]) for row in cells)
    columns = zip(*(row[2:] for row in cells), strict=True)
    return Votes(
        page=page,
        words=words,
        merged=tuple(_merged(row[1]) for row in cells),
        submissions=tuple(
            _submission(page, annotator, words, tags) for annotator, tags in zip(annotators, columns, strict=True)
        ),
    )


def _submission(page: str, annotator: str, words: Sequence[int], tags: Sequence[str]) -> Submission:
    """One column: of the nodes that the annotator's copy had."""
    kept = [(count, tag) for count, tag in zip(words, tags, strict=True) if tag != _MISSING]
    return Submission(
        annotator=annotator,
        page=page,
        submitted=0,
        seconds=0.0,
        text_digest=_digest([count for count, _ in kept]),
        tags=tuple(LABEL_OF.get(tag) for _, tag in kept),
    )


def _merged(cell: str) -> Label:
    found = _TAG.match(cell)
    return LABEL_OF[found[0]] if found else Label.UNDECIDED


def _digest(words: Sequence[int]) -> str:
    return text_digest(map(str, words))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error}; unpack KrdWrd's votes there") from error
