"""Gold pages as examples: their blocks, and how many words of each are content."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq
from tqdm import tqdm

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.page_lots import TOGETHER, cut_lots
from dbce_spark.dbce.pages import build_page
from dbce_spark.evaluation.datasets import GoldPage, Nodes
from dbce_spark.evaluation.scoring.metrics import words
from dbce_spark.html.dom import PageError
from dbce_spark.html.page import Parsed, parse
from dbce_spark.model import Page

WITHOUT_URL = 8
"""Of so many pages one is shown without its URL."""


@dataclass(frozen=True, slots=True)
class Example:
    """A gold page as its siblings see it, with the words of its blocks that are counted, and the marks of these."""

    gold: GoldPage
    page: Page
    parsed: Parsed
    counted: npt.NDArray[np.int64]  # words of each block
    by_set: "Marked | None"
    by_reader: "Marked | None"  # who copied the whole page

    @property
    def host(self) -> str:
        """Return the host of the page, by its set or by its URL."""
        return self.gold.site or self.page.capture.site

    @property
    def marked(self) -> "Marked":
        """Return the reader's marks, or where there are none those of the set.

        Raises:
            ValueError: there are neither.
        """
        found = self.by_reader or self.by_set
        if found is None:
            raise ValueError(f"{self.gold.page_id} is marked by no one")
        return found


@dataclass(frozen=True, slots=True)
class Marked:
    """Of each block the counted words that are content, and those that are comments."""

    held: npt.NDArray[np.int64]
    replied: npt.NDArray[np.int64]


def read(gold: Iterable[GoldPage], config: DbceConfig) -> list[Example]:
    """Parse the gold pages that can be, in their order. There is no classifier yet: they come without features.

    A page that a set marks and a reader labelled too (the same capture) is one example with both.
    """
    found: dict[str, Example] = {}
    for one in tqdm(list(gold), desc="pages", unit=" pages", leave=False, disable=None):
        fetch = one.fetch(0)
        try:
            parsed = parse(fetch.html, fetch.capture.declared_charset, config.page, _shown_url(one))
        except PageError:
            continue
        example = _example(one, build_page(fetch, parsed, None, config), parsed)
        twin = found.get(example.page.capture_id)
        found[example.page.capture_id] = example if twin is None else _merged(twin, example)
    return [*found.values()]


def batches(examples: Sequence[Example]) -> Iterable[Sequence[Example]]:
    """Iterate over the examples, as many at a time as are measured together where the classifier is used."""
    return cut_lots(examples, lambda one: len(one.page.blocks), TOGETHER)


def _example(gold: GoldPage, page: Page, parsed: Parsed) -> Example:
    texts = _texts(parsed)
    counted = np.array([len(text) for text in texts], np.int64)
    if gold.nodes:
        by_reader = _marked(_without_title(gold.nodes, parsed.declared.title), texts)
        return Example(gold, page, parsed, counted, by_set=None, by_reader=by_reader)
    by_set = Marked(held(gold.gold, texts), held(gold.comments, texts))
    return Example(gold, page, parsed, counted, by_set=by_set, by_reader=None)


def _merged(first: Example, second: Example) -> Example:
    """Join two examples of one capture, marked by a set and by a reader."""
    of_set, of_reader = (second.gold, first.gold) if second.by_set else (first.gold, second.gold)
    return replace(
        first,
        gold=replace(of_set, page_type=of_reader.page_type or of_set.page_type),
        by_set=first.by_set or second.by_set,
        by_reader=first.by_reader or second.by_reader,
    )


def _shown_url(one: GoldPage) -> str:
    """Choose the URL that a page is shown with: one page in WITHOUT_URL is shown without, as users may have none."""
    is_hidden = random.Random(f"url/{one.page_id}").random() < 1 / WITHOUT_URL
    return "" if is_hidden else one.url


def _without_title(nodes: Nodes, title: str) -> Nodes:
    """Drop the title of the page's head, which stands in no block.

    Its label, no content, would else go to the words of the heading that says the same.
    """
    at = next((at for at, (_, text) in enumerate(nodes) if text == title), None)
    return nodes if at is None or nodes[at][0] == 1 else [*nodes[:at], *nodes[at + 1 :]]


def _texts(parsed: Parsed) -> list[list[str]]:
    """Split each block into words as metrics count them."""
    text, starts, ends = parsed.blocks.text, parsed.blocks.starts.tolist(), parsed.blocks.ends.tolist()
    return [words(text[start:end]) for start, end in zip(starts, ends, strict=True)]


def held(gold: str, texts: Sequence[Sequence[str]]) -> npt.NDArray[np.int64]:
    """Count the words of each block that are in the longest common subsequence of all blocks and a gold text."""
    return _marked([(1, gold)], texts).held


def _marked(nodes: Nodes, texts: Sequence[Sequence[str]]) -> Marked:
    """Count the words of each block that text nodes of content hold, and nodes of comments: by the longest common
    subsequence of all blocks and all nodes."""
    numbers: dict[str, int] = {}
    labels: list[int] = []
    target: list[int] = []
    for label, text in nodes:
        of_node = [numbers.setdefault(word, len(numbers)) for word in words(text)]
        target += of_node
        labels += [label] * len(of_node)
    page = [numbers.setdefault(word, len(numbers)) for text in texts for word in text]
    of_words = np.zeros(len(page), np.int64)
    for step in LCSseq.opcodes(target, page):
        if step.tag == "equal":
            of_words[step.dest_start : step.dest_end] = labels[step.src_start : step.src_end]
    ends = np.cumsum([0, *map(len, texts)])
    held, replied = (np.diff(np.concatenate(([0], np.cumsum(of_words == label)))[ends]) for label in (1, 2))
    return Marked(held, replied)
