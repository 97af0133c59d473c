"""Gold pages as examples: the bins of every block, its label, and the evidence of siblings on it."""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq
from tqdm import tqdm

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, context, crosses, evidence, features, local, page_links, pools, sites, units
from dbce_spark.dbce.classify import Binning, block_keys
from dbce_spark.dbce.features import Columns
from dbce_spark.dbce.forest import BINS
from dbce_spark.dbce.layout import Layout
from dbce_spark.dbce.pages import TOGETHER, build_page
from dbce_spark.evaluation.datasets import GoldPage, Nodes
from dbce_spark.evaluation.metrics import words
from dbce_spark.html.dom import PageError
from dbce_spark.html.page import Parsed, parse
from dbce_spark.model import CLASS, Annotation, Cross, Page, PageFeatures

SAMPLE = 60_000
"""Blocks whose values the edges of the bins are taken from."""

WITHOUT_URL = 8
"""Of so many pages one is shown without its URL."""

FEW = 3
"""Most siblings of a page that is shown with few of them."""


@dataclass(frozen=True, slots=True)
class Example:
    """A gold page as its siblings see it, and for each block how many of its words are counted, and how many of them
    are content and comments, as its set marks them and as a reader does who copied the whole page."""

    gold: GoldPage
    page: Page
    parsed: Parsed
    counted: npt.NDArray[np.int64]
    by_set: "Marked | None"
    by_reader: "Marked | None"

    @property
    def marked(self) -> "Marked":
        """Return the reader's marks, or where there are none those of the set."""
        found = self.by_reader or self.by_set
        if found is None:
            raise ValueError(f"{self.gold.page_id} is marked by no one")
        return found


@dataclass(frozen=True, slots=True)
class Marked:
    """Of each block the counted words that are content, and those that are comments."""

    held: npt.NDArray[np.int64]
    replied: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ShownNeighbours:
    """The neighbours of a page: the pools it is a wanted member of, and its crosses annotated.

    Snapshots are not learned from: those of few sites would teach what kind of sites have some (docs/method.md)."""

    siblings: tuple[str, ...]
    annotations: tuple[Annotation, ...]


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
        texts = _texts(parsed)
        counted = np.array([len(text) for text in texts], np.int64)
        made = build_page(fetch, parsed, None, config)
        by_set = None if one.nodes else Marked(held(one.gold, texts), held(one.comments, texts))
        by_reader = _marked_by_nodes(_without_title(one.nodes, parsed.declared.title), texts) if one.nodes else None
        example = Example(one, made, parsed, counted, by_set, by_reader)
        twin = found.get(made.capture_id)
        if twin is not None:
            of_set, of_reader = (one, twin.gold) if by_set else (twin.gold, one)
            example = replace(
                twin,
                gold=replace(of_set, page_type=of_reader.page_type or of_set.page_type),
                by_set=twin.by_set or by_set,
                by_reader=twin.by_reader or by_reader,
            )
        found[made.capture_id] = example
    return [*found.values()]


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


def _marked_by_nodes(nodes: Nodes, texts: Sequence[Sequence[str]]) -> Marked:
    """Count the words of each block that a reader labelled content and comments, by the text nodes of the page."""
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


def _texts(parsed: Parsed) -> list[list[str]]:
    """Split each block into words as metrics count them."""
    text, starts, ends = parsed.blocks.text, parsed.blocks.starts.tolist(), parsed.blocks.ends.tolist()
    return [words(text[start:end]) for start, end in zip(starts, ends, strict=True)]


def held(gold: str, texts: Sequence[Sequence[str]]) -> npt.NDArray[np.int64]:
    """Count the words of each block that are in the longest common subsequence of all blocks and a gold text."""
    numbers: dict[str, int] = {}
    target = [numbers.setdefault(word, len(numbers)) for word in words(gold)]
    prediction = [numbers.setdefault(word, len(numbers)) for text in texts for word in text]
    common = np.zeros(len(prediction) + 1, np.int64)
    for step in LCSseq.opcodes(target, prediction):
        if step.tag == "equal":
            common[step.dest_start + 1 : step.dest_end + 1] = 1
    ends = np.cumsum([0, *map(len, texts)])
    of_blocks: npt.NDArray[np.int64] = np.diff(np.cumsum(common)[ends])
    return of_blocks


def binning(names: Sequence[str], columns: Columns) -> Binning:
    """Cut features into bins of about as many blocks each; fewer where a feature has fewer values."""
    edges = []
    for name in names:
        values = np.unique(columns[name])
        if len(values) > BINS:
            values = np.unique(np.quantile(columns[name], np.arange(1, BINS) / BINS, method="lower"))
            edges.append(values[1:] if values[0] == columns[name].min() else values)
        else:
            edges.append(values[1:])
    return Binning(tuple(names), tuple(edges))


def joined(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def batches(examples: Sequence[Example]) -> Iterable[Sequence[Example]]:
    for start in range(0, len(examples), TOGETHER):
        yield examples[start : start + TOGETHER]


def page_columns(examples: Sequence[Example]) -> Columns:
    """Compute the features of all blocks by their page alone."""
    laid_out = (Layout([one.parsed for one in some]) for some in batches(examples))
    return joined([features.of_pages(pages) | page_links.of_pages(pages) for pages in laid_out])


def context_columns(examples: Sequence[Example], scores: npt.NDArray[np.int64]) -> Columns:
    """Compute the features of all blocks from first scores of them."""
    parts, start = [], 0
    for some in batches(examples):
        pages = Layout([one.parsed for one in some])
        parts.append(context.of_pages(pages, scores[start : start + len(pages)]))
        start += len(pages)
    return joined(parts)


def row_columns(examples: Sequence[Example], scores: npt.NDArray[np.int64]) -> Columns:
    """Compute the features of all blocks that need no elements, from scores of them."""
    parts, start = [], 0
    for some in batches(examples):
        pages = Layout([one.parsed for one in some])
        keys = [key.astype(np.uint64) for key in block_keys(pages)[CLASS:]]
        parts.append(context.of_rows(pages, keys, scores[start : start + len(pages)]))
        start += len(pages)
    return joined(parts)


def unit_columns(examples: Sequence[Example], scores: npt.NDArray[np.int64]) -> Columns:
    """Compute the features of all blocks from scores of them, pooled over the units of the page."""
    parts, start = [], 0
    for some in batches(examples):
        pages = Layout([one.parsed for one in some])
        of_rows = scores[start : start + len(pages)]
        parts.append(units.columns(pages, units.of_pages(pages), pages.link_words, of_rows, np.arange(len(pages))))
        start += len(pages)
    return joined(parts)


def sampled(examples: Sequence[Example], seed: int) -> list[Example]:
    """Draw examples of about SAMPLE blocks together."""
    order = list(examples)
    random.Random(seed).shuffle(order)
    ends = np.cumsum([len(one.page.blocks) for one in order])
    return order[: int(np.searchsorted(ends, SAMPLE)) + 1]


def page_features(examples: Sequence[Example], scores: npt.NDArray[np.int64]) -> dict[str, PageFeatures]:
    """Collect the features of the pages that their neighbours see, by capture id."""
    found: dict[str, PageFeatures] = {}
    start = 0
    for some in batches(examples):
        pages = Layout([one.parsed for one in some])
        keys = block_keys(pages)
        for at, one in enumerate(some):
            rows = slice(int(pages.starts[at]), int(pages.starts[at + 1]))
            of_page = scores[start + rows.start : start + rows.stop].astype(np.uint16)
            found[one.page.capture_id] = PageFeatures(
                capture_id=one.page.capture_id,
                url_key=one.page.capture.url_key,
                timestamp=one.page.capture.timestamp,
                words=one.page.blocks.words,
                link_words=one.page.blocks.link_words,
                first_scores=of_page,
                keys=np.ascontiguousarray(keys[:, rows]),
            )
        start += len(pages)
    return found


def beside(examples: Sequence[Example], config: DbceConfig) -> dict[str, ShownNeighbours]:
    """Find the neighbours of each page when nothing is hidden, by capture id: exactly as in a run over all of them."""
    pages = [one.page for one in examples]
    siblings: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for pool, wanted in pools.sibling_pools(buckets.members(pages), config.bucket.cap):
        siblings |= {capture_id: tuple(pool) for capture_id in wanted}
    found = sites.choose_crosses(buckets.members(pages), config)
    annotated = local.annotate_crosses([one.cross for one in found], pages, config)
    return {
        one.capture_id: ShownNeighbours(siblings[one.capture_id], tuple(annotated[one.capture_id])) for one in pages
    }


def hidden(
    examples: Sequence[Example], whole: Mapping[str, ShownNeighbours], config: DbceConfig, seed: int
) -> dict[str, ShownNeighbours]:
    """Hide siblings at random: half of the pages keep none of them, the others at most FEW.

    Else a page without siblings would reveal its kind of site: in a collection of news sites only the odd pages
    have none.
    """
    urls = {one.page.capture_id: one.page.capture.url_key for one in examples}
    chosen: dict[str, tuple[str, ...]] = {}
    few_crosses: list[Cross] = []
    for one in examples:
        capture_id, draw = one.page.capture_id, random.Random(f"{seed}/{one.page.capture_id}")
        others = sorted({other for other in whole[capture_id].siblings if urls[other] != urls[capture_id]})
        some = draw.sample(others, min(draw.randint(1, FEW), len(others))) if draw.random() < 0.5 else []
        chosen[capture_id] = (capture_id, *some) if some else ()
        if some:
            few_crosses.append(crosses.of_siblings(capture_id, some))
    annotated = local.annotate_crosses(few_crosses, [one.page for one in examples], config)
    return {
        capture_id: ShownNeighbours(some, tuple(annotated.get(capture_id, ()))) for capture_id, some in chosen.items()
    }


def evidence_columns(
    examples: Sequence[Example], shown: Mapping[str, ShownNeighbours], seen: Mapping[str, PageFeatures]
) -> list[tuple[Columns, Columns]]:
    """Compute the features of each page's blocks from siblings and crosses; empty where there are none."""
    wanted: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for capture_id, one in shown.items():
        wanted[one.siblings].add(capture_id)
    of_pools = {some: evidence.of_siblings([seen[other] for other in some], ids) for some, ids in wanted.items()}
    columns = []
    for example in examples:
        capture_id, words_of = example.page.capture_id, example.page.blocks.words
        one = shown[capture_id]
        siblings = of_pools[one.siblings].get(capture_id)
        columns.append((siblings or {}, evidence.of_crosses(words_of, one.annotations)))
    return columns
