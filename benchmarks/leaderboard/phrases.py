"""Phrases of pages that a reader's copy must hold and must not hold, and texts scored by them.

Phrases are compared without case, white space and punctuation, as an extractor may break lines where it likes. Beside
that stands the measure of trafilatura's own evaluation: phrases as they are, all of them counted together.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from dbce_spark.files import jsonl

GOOD = 0.9
"""Share of what must be held, and of what must not, from which on both make a page good."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class PhrasePage:
    """The phrases of one page. `rows` are lists of cells that belong together."""

    page_id: str
    must: Sequence[str]
    must_not: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class PhraseScore:
    """A text by the phrases of some pages, as shares; NaN where there are no such phrases.

    `whole` and `torn` are of the rows: all cells are held, or some.
    """

    must: float
    must_not: float  # share of them that is absent
    good: float
    whole: float
    torn: float


@dataclass(frozen=True, slots=True)
class VerbatimScore:
    """Texts as trafilatura's evaluation scores them: its phrases found where they must be, and where they must not."""

    precision: float
    recall: float
    f1: float
    accuracy: float


class _Words:
    """A text without what extractors may choose: its words, and its letters for scripts without spaces."""

    def __init__(self, text: str):
        words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
        self.words, self.letters = f" {' '.join(words)} ", "".join(words)

    def holds(self, phrase: str) -> bool:
        """Test whether a phrase is in the text; one of Latin letters begins and ends with words of the text."""
        sought = _Words(phrase)
        return (
            sought.words in self.words
            if sought.letters and sought.letters.isascii()
            else sought.letters in self.letters
        )


def read(path: str) -> list[PhrasePage]:
    """Read the phrases of each page of a file.

    Raises:
        InputError: it cannot be read, or a line has no phrases.
    """
    return [
        PhrasePage(
            jsonl.field(fields, "id", "a text", place),
            jsonl.field(fields, "must", "a list", place),
            jsonl.field(fields, "must_not", "a list", place),
            [row for row in fields.get("rows") or [] if row],
        )
        for place, fields in jsonl.read(path)
    ]


def name_of(path: str) -> str:
    """Name the set of pages that a file of phrases is of."""
    return PurePosixPath(path).name.split(".")[0]


def write_pages(paths: Iterable[str], output: str) -> int:
    """Write the pages that the phrases are of, for `dbce evaluate`, and return how many they are.

    Their gold is what must be held. That is no whole text, so that their scores by words mean nothing.
    """
    return jsonl.write(output, chain.from_iterable(map(_pages, paths)))


def _pages(path: str) -> Iterator[dict[str, Any]]:
    for _, fields in jsonl.read(path):
        of_page = {name: fields.get(name) or "" for name in ("id", "url", "html")} | {"date": _date(fields.get("date"))}
        yield {
            **of_page,
            "page_type": fields.get("type", ""),
            "gold": "\n".join(fields["must"]),
            "dataset": name_of(path),
        }


def _date(written: str | None) -> str:
    """Return a date if it is one: some archives have such as 2008-10-294T05:21:46-0700."""
    try:
        datetime.fromisoformat(written or "")
    except ValueError:
        return ""
    return written or ""


def score(pages: Sequence[PhrasePage], texts: Mapping[str, str]) -> PhraseScore:
    """Score texts by page id. All phrases weigh the same, and so do all rows, and all pages among the good."""
    musts, absents, good, rows = [], [], [], []
    for page in pages:
        text = _Words(texts[page.page_id])
        must = [text.holds(one) for one in page.must]
        absent = [not text.holds(one) for one in page.must_not]
        good.append(all(_share(some) >= GOOD for some in (must, absent) if some))
        rows += [[text.holds(cell) for cell in row] for row in page.rows]
        musts += must
        absents += absent
    whole, torn = [all(row) for row in rows], [any(row) and not all(row) for row in rows]
    return PhraseScore(*map(_share, (musts, absents, good, whole, torn)))


def verbatim(pages: Sequence[PhrasePage], texts: Mapping[str, str]) -> VerbatimScore:
    """Score texts by page id as trafilatura's evaluation does."""
    must = [phrase in texts[page.page_id] for page in pages for phrase in page.must]
    must_not = [phrase in texts[page.page_id] for page in pages for phrase in page.must_not]
    right, wrong = sum(must), sum(must_not)
    return VerbatimScore(
        precision=right / max(right + wrong, 1),
        recall=_share(must),
        f1=2 * right / max(right + wrong + len(must), 1),
        accuracy=(right + len(must_not) - wrong) / max(len(must) + len(must_not), 1),
    )


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")
