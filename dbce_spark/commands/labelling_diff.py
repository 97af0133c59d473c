"""Diff of any two labellings of the same pages: of people, gold, modes of the method, other extractors.

People label segments, extractors give texts. A segment is content to a text if the text holds it (`leaves.held`); pages
that nobody has cut into segments are cut at their text nodes.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from dbce_spark.annotation.labels import labelling
from dbce_spark.annotation.markup import page_file
from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.annotation.markup.submission import Tags
from dbce_spark.errors import InputError
from dbce_spark.evaluation import datasets, extracted_texts
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.scoring import leaves
from dbce_spark.evaluation.scoring.leaves import Leaves
from dbce_spark.evaluation.scoring.metrics import words
from dbce_spark.files import jsonl
from dbce_spark.html.dom import PageError
from dbce_spark.log import counted
from dbce_spark.report import overlay
from dbce_spark.report.overlay import Contrast, Names

GOLD = "gold"
"""Names the text that people marked in gold pages."""


@dataclass(frozen=True, slots=True)
class _Page:
    """A page that has labels. A field without a value is ""."""

    sheet: Sheet
    number: str  # its id, in its set
    dataset: str = ""
    gold: str = ""


Labels = Callable[[_Page], Tags | None]
"""The tags of a page, one a segment; None: it has none."""


def write(pages: Iterable[str], reference: str, given: str, output: str) -> str:
    """Write two labellings over the pages that both have, and an index that begins with those that differ most.

    pages: files of pages as annotators have them, or gold pages. reference, given: "gold"; DIR@EXTRACTOR, where
    `dbce evaluate` wrote to DIR; a file of labels; FILE@ANNOTATOR of submissions. Returns how much differs, as text.

    Raises:
        InputError: an input cannot be read, the labels are not of these pages, or no page has both.
    """
    sides = [part.rpartition("@") if "@" in part else (part, "", "") for part in (reference, given)]
    labels = [_labels(path, name) for path, _, name in sides]
    names = Names(*(name or Path(path).stem for path, _, name in sides))
    try:
        shown = overlay.write(output.rstrip("/"), _contrasts(pages, *labels), names)
    except PageError as error:
        raise InputError(f"a page cannot be shown: {error}") from error
    if not shown:
        raise InputError("no page has labels of both; give the pages that were labelled")
    total = sum(one.words for one in shown)
    share = 100 * sum(one.differing for one in shown) / max(1, total)
    return f"{counted(len(shown), 'page')}, {share:.1f} % of {total:,} words differ\nin {output.rstrip('/')}/index.html"


def _contrasts(paths: Iterable[str], reference: Labels, given: Labels) -> Iterator[Contrast]:
    for page in (page for path in paths for page in _pages(path)):
        first = reference(page)
        second = None if first is None else given(page)
        if first is not None and second is not None:
            yield labelling.contrast(page.sheet, first, second)


def _pages(path: str) -> Iterator[_Page]:
    if not Path(path).is_dir() and any("segments" in fields for _, fields in jsonl.read_first(path)):
        return (_Page(one, one.page) for one in page_file.read(path))
    return map(_gold_page, datasets.read([path]).pages)


def _gold_page(page: GoldPage) -> _Page:
    text_nodes = leaves.parse_leaves(page.html)
    cut = Sheet(
        page=f"{page.dataset} {page.page_id}",
        html=page.html,
        text=text_nodes.joined,
        segments=tuple(SegmentSpan("", *span) for span in text_nodes.spans),
        url=page.url,
    )
    return _Page(cut, page.page_id, page.dataset, page.gold)


def _labels(path: str, name: str) -> Labels:
    if path == GOLD:
        return lambda page: _tags(page, page.gold) if page.gold else None
    if Path(path).is_dir():
        return _extractor_labels(path, name)
    by_page = labelling.read(path, name)
    return lambda page: by_page.get(page.number)


def _extractor_labels(folder: str, name: str) -> Labels:
    """Label by the texts of an extractor. A page without the name of a set gets the text of any set that has its id."""
    rows = extracted_texts.read(folder).rows
    extractors = sorted(pc.unique(rows["extractor"]).to_pylist())
    if name not in extractors:
        raise InputError(
            f"{folder}: no texts of {name or 'no name'}; give {folder}@NAME, of {', '.join(extractors) or 'none'}"
        )
    chosen = rows.filter(pc.equal(rows["extractor"], name)).select(["dataset", "page_id", "text"]).to_pylist()
    of_sets = {(row["dataset"], row["page_id"]): row["text"] for row in chosen}
    of_any = {row["page_id"]: row["text"] for row in chosen}

    def labels(page: _Page) -> Tags | None:
        text = of_sets.get((page.dataset, page.number)) if page.dataset else of_any.get(page.number)
        return None if text is None else _tags(page, text)

    return labels


def _tags(page: _Page, text: str) -> Tags:
    """Label the segments that a text holds as content, all others as boilerplate."""
    texts = page.sheet.texts
    return leaves.labels(Leaves(tuple(texts), tuple(range(len(texts))), tuple(map(words, texts))), text)
