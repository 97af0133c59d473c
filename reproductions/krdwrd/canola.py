"""KrdWrd's corpus canola: the votes that were published with it as submissions, and its pages with their gold tags.

The votes are a folder with a table a page (ID.stats), a row a text node: its words, the merged tag with the agreement
in percent, and a column an annotator. A node that an annotator's copy of the page lacked has "null" in the column, one
that no tag reached "undefined"; a row without words, which no annotator could see, has "undefined" in their place.
`plan.canola` names the pages that count. When each was submitted, KrdWrd did not publish.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from dbce_spark.annotation.labels.majority import Master
from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.annotation.markup.submission import Submission, Tags, text_digest
from dbce_spark.errors import InputError
from dbce_spark.files import jsonl
from dbce_spark.files.jsonl import Fields, field
from dbce_spark.html.dom import parse_unrepaired
from dbce_spark.html.elements import DROPPED_TAGS
from dbce_spark.model import Label

LABEL_OF = {
    "krdwrd-tag-1": Label.BOILERPLATE,
    "krdwrd-tag-2": Label.UNDECIDED,
    "krdwrd-tag-3": Label.CONTENT,
    "krdwrd-tag-mrgtie": Label.UNDECIDED,
}

_MISSING, _UNKNOWN = "null", "undefined"
_TAG = re.compile(r"krdwrd-tag-(?:\d|mrgtie)")
_ANY_TAG = re.compile(r"krdwrd-tag-\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """The submissions of a page's annotators."""

    page: str
    words: tuple[int, ...]  # of each text node; 0 where the votes have none
    merged: tuple[Label, ...]  # as KrdWrd merged it
    submissions: tuple[Submission, ...]

    @property
    def master(self) -> Master:
        """Make the page that a submission of the whole page fits; each text is a number of words only."""
        return Master(segments=len(self.words), text_digest=_digest(self.words))


def read(folder: str) -> Iterator[Votes]:
    """Read the pages that count, in the order of the plan.

    Raises:
        InputError: a file is missing, or a table is not of this kind.
    """
    for page in _lines(Path(folder) / "plan.canola"):
        yield _page(page, Path(folder) / f"{page}.stats")


def pages(path: str) -> Iterator[tuple[Sheet, Tags]]:
    """Iterate over the pages of canola as JSON lines with `html_annotated`, where elements around text have tags as
    classes.

    A text node is a segment, unless the project reads none there: KrdWrd counted choices of forms, too. None: no tag
    reached it, or one that the manual does not know.

    Raises:
        InputError: it cannot be read, or a line has no such page.
    """
    for place, fields in jsonl.read(path):
        yield _annotated(fields, place)


def _annotated(fields: Fields, place: str) -> tuple[Sheet, Tags]:
    html = field(fields, "html_annotated", "a text", place)
    root = parse_unrepaired(html)
    if root is None:
        raise InputError(f"{place}: html_annotated has no element")
    texts, spans, tags = [], [], []
    at = 0
    for raw, xpath, tag in _text_nodes(root):
        words = " ".join(raw.split())
        texts.append(words)
        spans.append(SegmentSpan(xpath, at, at + len(words)))
        tags.append(LABEL_OF.get(tag))
        at += len(words) + 1
    page = Sheet(
        page=field(fields, "id", "a text", place),
        html=html,
        text="\n".join(texts),
        segments=tuple(spans),
        url=str(fields.get("url") or ""),
        site=str(fields.get("site") or ""),
    )
    return page, tuple(tags)


def _text_nodes(root: Any) -> Iterator[tuple[str, str, str]]:
    """Iterate over the text nodes that are read and have a word: text, XPath of the parent, and the tag that reached
    it."""
    tree = root.getroottree()
    tags: list[str] = []
    unseen = 0
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            found = _ANY_TAG.search(element.get("class") or "")
            tags.append(found[0] if found else tags[-1] if tags else "")
            unseen += element.tag in DROPPED_TAGS
        elif event == "end":
            tags.pop()
            unseen -= element.tag in DROPPED_TAGS
        text = element.text if event == "start" else element.tail
        holder = element if event == "start" else element.getparent()
        if text and text.strip() and not unseen and holder is not None:
            yield text, tree.getpath(holder), tags[-1]


def _page(page: str, path: Path) -> Votes:
    lines = _lines(path)
    if len(lines) < 2 or "\t" not in lines[1]:
        raise InputError(f"{path}: is no table of votes, whose second line names its columns")
    _, (_, _, *annotators), *cells = [line.split("\t") for line in lines]
    for number, row in enumerate(cells, 3):
        if len(row) != len(annotators) + 2:
            raise InputError(f"{path}:{number}: not {len(annotators) + 2} columns but {len(row)}")
        if row[0] != _UNKNOWN and not row[0].isdecimal():
            raise InputError(f"{path}:{number}: {row[0]!r} is no number of words")
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
    """Read one column: of the nodes that the annotator's copy had."""
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
