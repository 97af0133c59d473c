"""Features of all blocks of examples, a column each, and the bins of their values."""

import random
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier import context, features, page_links, units
from dbce_spark.dbce.classifier.classify import Binning, block_keys
from dbce_spark.dbce.classifier.features import Columns
from dbce_spark.dbce.classifier.forest import BINS
from dbce_spark.dbce.classifier.layout import Layout
from dbce_spark.evaluation.training.training_examples import Example, batches
from dbce_spark.model import CLASS

SAMPLE = 60_000
"""Blocks whose values the edges of the bins are taken from."""

Scores = npt.NDArray[np.int64]
"""A score of each block of all examples, in their order."""


def page_columns(examples: Sequence[Example]) -> Columns:
    """Compute the features of all blocks by their page alone."""
    laid_out = (Layout([one.parsed for one in some]) for some in batches(examples))
    return joined([features.of_pages(pages) | page_links.of_pages(pages) for pages in laid_out])


def context_columns(examples: Sequence[Example], scores: Scores) -> Columns:
    """Compute the features of all blocks from first scores of them."""
    return joined([context.of_pages(pages, of_blocks) for pages, of_blocks in with_scores(examples, scores)])


def row_columns(examples: Sequence[Example], scores: Scores) -> Columns:
    """Compute the features of all blocks that need no elements, from scores of them."""
    parts = []
    for pages, of_blocks in with_scores(examples, scores):
        keys = [key.astype(np.uint64) for key in block_keys(pages)[CLASS:]]
        parts.append(context.of_rows(pages, keys, of_blocks))
    return joined(parts)


def unit_columns(examples: Sequence[Example], scores: Scores) -> Columns:
    """Compute the features of all blocks from scores of them, pooled over the units of the page."""
    return joined(
        [
            units.columns(pages, units.of_pages(pages), pages.link_words, of_blocks, np.arange(len(pages)))
            for pages, of_blocks in with_scores(examples, scores)
        ]
    )


def with_scores(examples: Sequence[Example], scores: Scores) -> Iterator[tuple[Layout, Scores]]:
    """Iterate over the layouts of all batches, each with the scores of its blocks."""
    start = 0
    for some in batches(examples):
        pages = Layout([one.parsed for one in some])
        yield pages, scores[start : start + len(pages)]
        start += len(pages)


def joined(parts: Sequence[Columns]) -> Columns:
    """Join the columns of some pages, one page behind the other; no pages have no columns."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}


def sampled(examples: Sequence[Example], seed: int) -> list[Example]:
    """Draw examples of about SAMPLE blocks together."""
    order = list(examples)
    random.Random(seed).shuffle(order)
    ends = np.cumsum([len(one.page.blocks) for one in order])
    return order[: int(np.searchsorted(ends, SAMPLE)) + 1]


def binning(columns: Columns) -> Binning:
    """Cut features into bins of about as many blocks each; fewer where a feature has fewer values."""
    names = sorted(columns)
    edges = []
    for name in names:
        values = np.unique(columns[name])
        if len(values) > BINS:
            values = np.unique(np.quantile(columns[name], np.arange(1, BINS) / BINS, method="lower"))
            edges.append(values[1:] if values[0] == columns[name].min() else values)
        else:
            edges.append(values[1:])
    return Binning(tuple(names), tuple(edges))
