"""Trains the forests: the first on pages alone, the second on the first's scores of pages it has not seen.

Two-stage training on out-of-fold scores is Wolpert's stacking (*Stacked generalization*, 1992), applied along the
page and across the pages of a template.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier.block_scores import integer_scores
from dbce_spark.dbce.classifier.class_words import ClassWords
from dbce_spark.dbce.classifier.classify import Binning, Classifier
from dbce_spark.dbce.classifier.features import Columns
from dbce_spark.dbce.classifier.forest import Forest
from dbce_spark.dbce.classifier.layout import Rows
from dbce_spark.dbce.classifier.page_types import PageTypes, page_codes
from dbce_spark.errors import InputError
from dbce_spark.evaluation.training import boosted_trees, example_columns, shown_neighbours, word_weights
from dbce_spark.evaluation.training.boosted_trees import NEVER, PARAMETERS, SEED, Weights
from dbce_spark.evaluation.training.example_columns import Scores, binning, joined
from dbce_spark.evaluation.training.prepared_pages import Mask, PreparedPages
from dbce_spark.evaluation.training.training_examples import Example
from dbce_spark.evaluation.training.word_weights import NamedSlots, WordCounts
from dbce_spark.model import Codes

PARTS = 5
"""Parts of the sites; rows of each are scored by forests of the other four, to learn the next forest from. With two,
the scores that forests learned from were worse than those they are used with (docs/quality.md)."""

FIRST_TREES, SECOND_TREES, ARTICLE_TREES, WHOLE_TREES, REPLY_TREES = 80, 200, 200, 400, 80

TYPE_TREES = 40
"""Of each type."""

MERGED = {
    "front": "page", "product": "page", "service": "page", "collection": "listing", "links": "listing",
    "table": "listing",
}  # fmt: skip
"""The names that types go by which a page without its URL, or so few pages, do not tell apart (docs/classifier.md)."""


def folds(sites: Sequence[str], count: int, pinned: Mapping[str, int] | None = None) -> npt.NDArray[np.int64]:
    """Assign each page the fold of its site: the pinned one, or one by which folds have about as many pages. All pages
    of a site are in one."""
    sizes = Counter(sites)
    order = sorted(sizes)
    random.Random(SEED).shuffle(order)
    totals = [0] * count
    chosen = {site: fold for site, fold in (pinned or {}).items() if site in sizes}
    for site in sorted(order, key=lambda site: (site not in chosen, -sizes[site])):
        fold = chosen.setdefault(site, totals.index(min(totals)))
        totals[fold] += sizes[site]
    return np.array([chosen[site] for site in sites])


def train(pages: PreparedPages, card: Mapping[str, Any]) -> Classifier:
    """Train a classifier on pages.

    Raises:
        InputError: they are of one site only.
    """
    if len(set(pages.owners)) < 2:
        raise InputError("pages of one site are not enough to train on; give pages of two sites or more")
    parts = folds(pages.owners, PARTS)[pages.page_of_row]
    content = _Target(pages.is_content, pages.weights, parts)
    reply = _Target(pages.is_reply, pages.weights * pages.marks_replies, parts)
    article = _Target(pages.is_article, pages.article_weights, parts)
    whole = _Target(pages.is_content, pages.whole_weights, parts)
    class_words, word_binning, of_words = _word_codes(pages, content)
    codes = np.concatenate((pages.page_codes, of_words))
    first, scores = content.stacked(codes, FIRST_TREES)
    first_replies, reply_scores = reply.stacked(codes, REPLY_TREES)
    binnings, codes = _second_codes(pages, codes, scores, reply_scores)
    second, scores = content.twice().stacked(codes, SECOND_TREES)
    third, around = _third_codes(pages.examples, scores, example_columns.row_columns)
    codes = np.concatenate((codes, around))
    of_article = article.twice().fit(codes, ARTICLE_TREES)
    replies = reply.twice().fit(codes, REPLY_TREES)
    units, pooled = _third_codes(pages.examples, scores, example_columns.unit_columns)
    codes = np.concatenate((codes, pooled))
    return Classifier(
        binnings={"page": pages.page_binning, "words": word_binning, **binnings, "third": third, "units": units},
        class_words=class_words,
        first=first,
        first_replies=first_replies,
        second=second,
        article=of_article,
        whole=whole.twice().fit(codes, WHOLE_TREES, boosted_trees.WHOLE_PARAMETERS),
        replies=replies,
        card=card,
        page_types=_page_types(pages, scores),
    )


@dataclass(frozen=True, slots=True)
class _Target:
    """The target of a forest: of each row its label, its weight (0: it is not trained on), and the part of the sites
    that it is in."""

    labels: Mask
    weights: Weights
    parts: npt.NDArray[np.int64]

    def twice(self) -> "_Target":
        """Repeat all rows behind themselves."""
        return _Target(np.tile(self.labels, 2), np.tile(self.weights, 2), np.tile(self.parts, 2))

    def fit(self, codes: Codes, trees: int, parameters: Mapping[str, Any] = PARAMETERS) -> Forest:
        """Train a forest on the rows that have a weight."""
        rows = self.weights > 0
        if not self.labels[rows].any():
            return boosted_trees.forest([NEVER])
        return boosted_trees.fit(codes[:, rows], self.labels[rows], self.weights[rows], trees, parameters)

    def stacked(self, codes: Codes, trees: int) -> tuple[Forest, Scores]:
        """Train a forest on all rows; score each row by one that was trained on the other parts."""
        scores = np.zeros(codes.shape[1], np.int64)
        for part in range(PARTS):
            is_own = self.parts == part
            of_others = replace(self, weights=self.weights * ~is_own).fit(codes, trees)
            scores[is_own] = integer_scores(of_others.log_odds(codes[:, is_own]))
        return self.fit(codes, trees), scores


def _word_codes(pages: PreparedPages, content: _Target) -> tuple[ClassWords, Binning, Codes]:
    """Learn what class words say from all rows; describe each row by what the other parts teach."""
    words = word_weights.count_common(pages.slots, [one.host for one in pages.examples])
    columns = _word_columns(pages.slots, words, content)
    learned = word_weights.learn(words, pages.slots.of_blocks, content.labels, content.weights)
    of_words = binning(columns)
    return learned, of_words, of_words.codes(columns, len(content.labels))


def _word_columns(slots: NamedSlots, words: WordCounts, content: _Target) -> Columns:
    """Compute the features of each row by class words, whose weights the rows of the other parts teach."""
    columns: Columns = {}
    for part in range(PARTS):
        is_own = content.parts == part
        of_others = word_weights.learn(words, slots.of_blocks, content.labels, content.weights * ~is_own)
        for name, values in slots.columns(of_others).items():
            columns.setdefault(name, np.empty(len(values)))[is_own] = values[is_own]
    return columns


def _second_codes(
    pages: PreparedPages, codes: Codes, scores: Scores, reply_scores: Scores
) -> tuple[dict[str, Binning], Codes]:
    """Compute the bins that only the second forest sees, and all it sees: first with all evidence, then with most
    hidden."""
    around = {
        "context": example_columns.context_columns(pages.examples, scores),
        "replies": example_columns.row_columns(pages.examples, reply_scores),
    }
    binnings = {group: binning(columns) for group, columns in around.items()}
    of_around = [binnings[group].codes(columns, codes.shape[1]) for group, columns in around.items()]
    seen = shown_neighbours.page_features(pages.examples, scores)
    all_evidence, few_evidence = (
        shown_neighbours.evidence_columns(pages.examples, shown, seen)
        for shown in (pages.neighbours, pages.few_neighbours)
    )
    binnings |= {group: binning(joined([*filter(None, of_pages)])) for group, of_pages in all_evidence.items()}
    both = [
        np.concatenate((codes, *of_around, *_evidence_codes(pages.examples, binnings, found)))
        for found in (all_evidence, few_evidence)
    ]
    return binnings, np.concatenate(both, axis=1)


def _evidence_codes(
    examples: Sequence[Example], binnings: Mapping[str, Binning], found: Mapping[str, Sequence[Columns]]
) -> list[Codes]:
    """Find the bins of evidence, of each group all pages one behind the other: (features, rows)."""
    blocks = [len(one.page.blocks) for one in examples]
    return [
        np.concatenate([binnings[group].codes(*of_page) for of_page in zip(of_pages, blocks, strict=True)], axis=1)
        for group, of_pages in found.items()
    ]


def _third_codes(
    examples: Sequence[Example], scores: Scores, columns_of: Callable[[Sequence[Example], Scores], Columns]
) -> tuple[Binning, Codes]:
    """Compute bins of features from second scores, and their codes, for the rows of `_second_codes`."""
    parts = [columns_of(examples, of_rows) for of_rows in np.split(scores, 2)]
    bins = binning(parts[0])
    return bins, np.concatenate([bins.codes(columns, len(scores) // 2) for columns in parts], axis=1)


def _page_types(pages: PreparedPages, scores: Scores) -> PageTypes | None:
    """Train the types of pages on those that have one and weigh as whole pages; None with fewer than two types.

    scores: second scores, for the rows of `_second_codes`. The bins are of all pages.
    """
    types = np.array([one.gold.page_type for one in pages.examples])
    is_whole = np.bincount(pages.page_of_row, pages.whole_weights) > 0
    chosen = np.flatnonzero(is_whole & (types != ""))
    names, labels = np.unique(types[chosen], return_inverse=True)
    if len(names) < 2:
        return None
    rows = Rows([one.page.blocks.words for one in pages.examples])
    shown = [
        page_codes(rows, pages.page_codes, pages.page_binning.highest, some)[:, chosen] for some in np.split(scores, 2)
    ]
    found = boosted_trees.fit(
        np.concatenate(shown, axis=1),
        np.tile(labels, 2),
        np.ones(2 * len(labels)),
        TYPE_TREES,
        boosted_trees.TYPE_PARAMETERS | {"num_class": len(names)},
    )
    return PageTypes(tuple(MERGED.get(one, one) for one in names.tolist()), found)
