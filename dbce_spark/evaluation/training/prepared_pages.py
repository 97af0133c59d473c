"""All of the gold pages that training takes, whichever of them are trained on: codes, labels, weights, neighbours."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
import numpy.typing as npt

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.classifier.classify import Binning
from dbce_spark.dbce.classifier.layout import Layout
from dbce_spark.evaluation.training import example_columns, shown_neighbours, training_examples, word_weights
from dbce_spark.evaluation.training.boosted_trees import SEED, Weights
from dbce_spark.evaluation.training.shown_neighbours import ShownNeighbours
from dbce_spark.evaluation.training.site_owners import MIN_WORDS, find_owners
from dbce_spark.evaluation.training.training_examples import Example
from dbce_spark.evaluation.training.word_weights import NamedSlots
from dbce_spark.model import Codes

COUNTED_WORDS = 60
"""Most words that a block weighs by: a page's score is decided by its long blocks, but not the longest alone."""

PAGE_WEIGHT = 1700
"""The weight of all blocks of a page, about what they would by their words: scores are means over pages, and a
short post under a hundred comments is a page as well."""

HOST_PAGES = 25
"""Pages of one host that weigh as pages; more of them share that weight."""

WEIGHT_OF_SET = {"formasaurus-read": 0.5}
"""The weight of a page of a set where it is not 1: this set was chosen for its forms, so it has more of
them than an archive would, and at full weight forms cost other pages (docs/quality.md)."""

ARTICLE_WEIGHT = 0.5
"""The weight of an article to the forest of whole pages, where that of another page is 1: most pages that readers
labelled are articles, which are easy, and at full weight they cost other pages (docs/quality.md)."""

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedPages:
    """Gold pages ready to be trained on. Rows are blocks, page after page."""

    examples: Sequence[Example]
    owners: Sequence[str]  # of each page, the site that stands for all that share texts with its own
    page_of_row: Numbers  # the index of each row's page
    page_binning: Binning
    page_codes: Codes  # (features, rows)
    slots: NamedSlots
    is_content: Mask  # by the reader, where one labelled the page, or by the set
    is_reply: Mask
    marks_replies: Mask  # of each row, whether its set marks comments
    is_article: Mask  # content by the set
    weights: Weights
    article_weights: Weights  # 0 where no set marks the page
    whole_weights: Weights  # 0 where a reader labelled others only; else each block of a page weighs the same
    neighbours: Mapping[str, ShownNeighbours]  # by capture id
    few_neighbours: Mapping[str, ShownNeighbours]  # with most of them hidden

    @property
    def sites(self) -> list[str]:
        """List the site of each page."""
        return [one.page.capture.site for one in self.examples]

    def of_pages(self, is_chosen: Mask) -> "PreparedPages":
        """Choose some of the pages, which `is_chosen` marks."""
        rows = is_chosen[self.page_of_row]
        return replace(
            self,
            examples=[*compress(self.examples, is_chosen)],
            owners=[*compress(self.owners, is_chosen)],
            page_of_row=(np.cumsum(is_chosen) - 1)[self.page_of_row[rows]],
            page_codes=self.page_codes[:, rows],
            slots=self.slots.of_pages(is_chosen),
            is_content=self.is_content[rows],
            is_reply=self.is_reply[rows],
            marks_replies=self.marks_replies[rows],
            is_article=self.is_article[rows],
            weights=self.weights[rows],
            article_weights=self.article_weights[rows],
            whole_weights=self.whole_weights[rows],
        )


def prepare(examples: Sequence[Example], config: DbceConfig) -> PreparedPages:
    """Compute the bins, labels and weights of all blocks of the pages."""
    page_binning, page_codes = _page_codes(examples)
    page_of_row = np.repeat(np.arange(len(examples)), [len(one.page.blocks) for one in examples])
    counted = _of_blocks(examples, lambda one: one.counted)
    is_content = _is_most(_of_blocks(examples, lambda one: one.marked.held), counted)
    is_reply = _is_most(_of_blocks(examples, lambda one: one.marked.replied), counted)
    is_article = _is_most(_of_blocks(examples, lambda one: (one.by_set or one.marked).held), counted)
    weights, article_weights, whole_weights = _weights(examples, counted, page_of_row)
    layouts = (Layout([one.parsed for one in some]) for some in training_examples.batches(examples))
    neighbours = shown_neighbours.find_all(examples, config)
    return PreparedPages(
        examples=examples,
        owners=_owners(examples),
        page_of_row=page_of_row,
        page_binning=page_binning,
        page_codes=page_codes,
        slots=word_weights.named_slots(layouts),
        is_content=is_content,
        is_reply=is_reply & ~is_content,
        marks_replies=_marks_replies(examples)[page_of_row],
        is_article=is_article,
        weights=weights,
        article_weights=article_weights,
        whole_weights=whole_weights,
        neighbours=neighbours,
        few_neighbours=shown_neighbours.hide_most(examples, neighbours, config, SEED),
    )


def _owners(examples: Sequence[Example]) -> list[str]:
    """Name for each page the site that stands for its own and for those that share texts with it."""
    long_texts = (
        (one.page.capture.site, one.parsed.blocks.text_of(at))
        for one in examples
        for at in np.flatnonzero(one.parsed.blocks.words >= MIN_WORDS).tolist()
    )
    owners = find_owners(long_texts)
    return [owners.get(one.page.capture.site, one.page.capture.site) for one in examples]


def _page_codes(examples: Sequence[Example]) -> tuple[Binning, Codes]:
    """Cut the features of pages by themselves into bins, by a sample of them."""
    sample = example_columns.sampled(examples, SEED)
    binning = example_columns.binning(example_columns.page_columns(sample))
    codes = [
        binning.codes(example_columns.page_columns(some), sum(len(one.page.blocks) for one in some))
        for some in training_examples.batches(examples)
    ]
    return binning, np.concatenate(codes, axis=1)


def _of_blocks(examples: Sequence[Example], column: Callable[[Example], Numbers]) -> Numbers:
    """Join a column of the blocks of each example."""
    return np.concatenate([column(one) for one in examples])


def _is_most(marked: Numbers, counted: Numbers) -> Mask:
    """Mark the blocks of which at least half of the counted words are marked."""
    return (2 * marked >= counted) & (counted > 0)


def _marks_replies(examples: Sequence[Example]) -> Mask:
    """Mark the pages whose comments are known: by a reader, or as their set keeps comments apart."""
    marking = {one.gold.dataset for one in examples if one.gold.comments}
    return np.array([one.by_reader is not None or one.gold.dataset in marking for one in examples], np.bool_)


def _weights(examples: Sequence[Example], counted: Numbers, page_of_row: Numbers) -> tuple[Weights, Weights, Weights]:
    """Weigh all blocks: for scores, for articles, and for whole pages."""
    has_set = np.array([one.by_set is not None for one in examples], np.bool_)
    has_reader = np.array([one.by_reader is not None for one in examples], np.bool_)
    by_page = _page_weights(examples)
    weights = _spread(by_page, np.minimum(counted, COUNTED_WORDS), page_of_row)
    is_whole = has_reader if has_reader.any() else has_set
    by_type = np.array([ARTICLE_WEIGHT if one.gold.page_type == "article" else 1.0 for one in examples])
    by_whole_page = by_page * is_whole * by_type
    whole_weights = _spread(by_whole_page, (counted > 0).astype(np.int64), page_of_row)
    return weights, weights * has_set[page_of_row], whole_weights


def _page_weights(examples: Sequence[Example]) -> Weights:
    """Weigh each page by its set, and by how many pages its host has."""
    of_host = Counter(one.host for one in examples)
    return np.array(
        [
            PAGE_WEIGHT * WEIGHT_OF_SET.get(one.gold.dataset, 1.0) * min(1.0, HOST_PAGES / of_host[one.host])
            for one in examples
        ]
    )


def _spread(by_page: Weights, by_block: Numbers, page_of_row: Numbers) -> Weights:
    """Spread the weight of each page over its blocks by their own weights."""
    return by_block * (by_page / np.maximum(np.bincount(page_of_row, by_block), 1))[page_of_row]
