"""Trains the forests: the first on pages alone, the second on the first's scores of pages it has not seen.

Two-stage training on out-of-fold scores is Wolpert's stacking (*Stacked generalization*, 1992), applied along the
page and across the pages of a template.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.block_scores import first_scores
from dbce_spark.dbce.class_words import ClassWords
from dbce_spark.dbce.classify import Binning, Classifier
from dbce_spark.dbce.features import Columns
from dbce_spark.dbce.forest import BINS, LEAVES, Forest
from dbce_spark.dbce.layout import Layout, Rows
from dbce_spark.dbce.page_types import PageTypes, page_codes
from dbce_spark.errors import InputError
from dbce_spark.evaluation.training import training_examples, word_weights
from dbce_spark.evaluation.training.training_examples import Example, ShownNeighbours
from dbce_spark.evaluation.training.word_weights import NamedSlots
from dbce_spark.model import Codes

Weights = npt.NDArray[np.float64]

SEED = 1
"""Of every draw, so that the same pages give the same classifier."""

COUNTED_WORDS = 60
"""Most words that a block weighs by: a page's score is decided by its long blocks, but not the longest alone."""

PAGE_WEIGHT = 1700
"""The weight of all blocks of a page, about what they would by their words: scores are means over pages, and a
short post under a hundred comments is a page as well."""

HOST_PAGES = 25
"""Pages of one host that weigh as pages; more of them share that weight."""

WEIGHT_OF_SET = {"formasaurus-read": 0.5}
"""The weight of a page of a set where it is not 1: this set was chosen for its forms, so it has more of
them than an archive would, and at full weight forms cost other pages (docs/method.md)."""

FIRST_TREES, SECOND_TREES, ARTICLE_TREES, WHOLE_TREES, REPLY_TREES = 80, 200, 200, 400, 80

_EVIDENCE = ("siblings", "crosses")
"""Groups of features, in the order of `training_examples.evidence_columns`."""

NEVER: Mapping[str, Any] = {"leaf_value": -20.0}
"""The tree that stands for comments where no set marks them."""

_PARAMETERS = {
    "objective": "binary",
    "learning_rate": 0.08,
    "num_leaves": LEAVES - 1,
    "min_data_in_leaf": 200,
    "feature_fraction": 0.1,
    "bagging_fraction": 0.6,
    "bagging_freq": 1,
    "lambda_l2": 20.0,
    "max_bin": BINS,
    "min_data_in_bin": 1,
    "feature_pre_filter": False,
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 2,
    "seed": SEED,
    "verbosity": -1,
}
"""Small steps, each tree on a tenth of the features: evidence of siblings is rarely split on where the page's own
features may be split on first. A fixed number of threads: sums depend on it."""


_WHOLE_PARAMETERS = _PARAMETERS | {"min_data_in_leaf": 60, "feature_fraction": 0.15, "extra_trees": True}
"""Pages that readers labelled whole are a fifth of all, and the features pooled over units are many. So each split is
the best of thresholds that are drawn, one a feature (Geurts et al., *Extremely randomized trees*, 2006)."""

TYPE_TREES = 40
"""Of each type."""

_TYPE_PARAMETERS = _PARAMETERS | {
    "objective": "multiclassova",
    "learning_rate": 0.15,
    "num_leaves": 8,
    "min_data_in_leaf": 6,
    "bagging_freq": 0,
    "lambda_l2": 1.0,
}
"""One type against all others. Rows are pages: there are few, and each comes twice."""

MERGED = {
    "front": "page", "product": "page", "service": "page", "collection": "listing", "links": "listing",
    "table": "listing",
}  # fmt: skip
"""The names that types go by which a page without its URL, or so few pages, do not tell apart (docs/classifier.md)."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that does not depend on which pages are trained on. Rows are blocks, page after page."""

    examples: Sequence[Example]
    pages: npt.NDArray[np.int64]  # of each row, the index of its page
    page_binning: Binning
    page_codes: Codes  # (features, rows)
    slots: NamedSlots
    is_content: npt.NDArray[np.bool_]  # by the reader, where one labelled the page, or by the set
    is_reply: npt.NDArray[np.bool_]
    marks_replies: npt.NDArray[np.bool_]  # of each row, whether its set marks comments
    is_article: npt.NDArray[np.bool_]  # content by the set
    weights: Weights
    article_weights: Weights  # 0 where no set marks the page
    whole_weights: Weights  # 0 where a reader labelled others only; else each block of a page weighs the same
    sites: Sequence[str]  # of each page
    whole: Mapping[str, ShownNeighbours]
    hidden: Mapping[str, ShownNeighbours]


def prepare(examples: Sequence[Example], config: DbceConfig) -> Prepared:
    """Compute the bins, labels and weights of all blocks of the pages."""
    sample = training_examples.page_columns(training_examples.sampled(examples, SEED))
    page_binning = training_examples.binning(sorted(sample), sample)
    codes = [
        page_binning.codes(training_examples.page_columns(some), sum(len(one.page.blocks) for one in some))
        for some in training_examples.batches(examples)
    ]
    sites = [one.page.capture.site for one in examples]
    counted = np.concatenate([one.counted for one in examples])
    held, replied = (np.concatenate([getattr(one.marked, name) for one in examples]) for name in ("held", "replied"))
    of_set = np.concatenate([(one.by_set or one.marked).held for one in examples])
    marking = {one.gold.dataset for one in examples if one.gold.comments}
    has_set, has_reader = (
        np.array([getattr(one, name) is not None for one in examples]) for name in ("by_set", "by_reader")
    )
    pages = np.repeat(np.arange(len(examples)), [len(one.page.blocks) for one in examples])
    by_page = _page_weights(examples)
    by_words = np.minimum(counted, COUNTED_WORDS)
    is_whole = has_reader if has_reader.any() else has_set
    weights = _spread(by_page, by_words, pages)
    whole = training_examples.beside(examples, config)
    return Prepared(
        examples=examples,
        pages=pages,
        page_binning=page_binning,
        page_codes=np.concatenate(codes, axis=1),
        slots=word_weights.named_slots(
            Layout([one.parsed for one in some]) for some in training_examples.batches(examples)
        ),
        is_content=(2 * held >= counted) & (counted > 0),
        is_reply=(2 * replied >= counted) & (2 * held < counted) & (counted > 0),
        marks_replies=np.array([one.by_reader or one.gold.dataset in marking for one in examples], np.bool_)[pages],
        is_article=(2 * of_set >= counted) & (counted > 0),
        weights=weights,
        article_weights=weights * has_set[pages],
        whole_weights=_spread(by_page, (counted > 0).astype(np.int64), pages) * is_whole[pages],
        sites=sites,
        whole=whole,
        hidden=training_examples.hidden(examples, whole, config, SEED),
    )


def _page_weights(examples: Sequence[Example]) -> Weights:
    """Weigh each page by its set, and by how many pages its host has."""
    hosts = [one.gold.site or one.page.capture.site for one in examples]
    of_host = Counter(hosts)
    of_set = [WEIGHT_OF_SET.get(one.gold.dataset, 1.0) for one in examples]
    return np.array(
        [PAGE_WEIGHT * one * min(1.0, HOST_PAGES / of_host[host]) for one, host in zip(of_set, hosts, strict=True)]
    )


def _spread(by_page: Weights, by_block: npt.NDArray[np.int64], pages: npt.NDArray[np.int64]) -> Weights:
    """Spread the weight of each page over its blocks by their own weights."""
    return by_block * (by_page / np.maximum(np.bincount(pages, by_block), 1))[pages]


def folds(sites: Sequence[str], count: int) -> npt.NDArray[np.int64]:
    """Assign each page the fold of its site. Folds have about as many pages; all pages of a site are in one."""
    sizes = Counter(sites)
    order = sorted(sizes)
    random.Random(SEED).shuffle(order)
    totals = [0] * count
    chosen: dict[str, int] = {}
    for site in sorted(order, key=lambda site: -sizes[site]):
        fold = totals.index(min(totals))
        chosen[site] = fold
        totals[fold] += sizes[site]
    return np.array([chosen[site] for site in sites])


def train(prepared: Prepared, is_trained_on: npt.NDArray[np.bool_], card: Mapping[str, Any]) -> Classifier:
    """Train a classifier on the pages that `is_trained_on` marks, one entry a page.

    Raises:
        InputError: they are of one site only.
    """
    trained = is_trained_on[prepared.pages] & (prepared.weights > 0)
    sites = [site for site, chosen in zip(prepared.sites, is_trained_on, strict=True) if chosen]
    if len(set(sites)) < 2:
        raise InputError("pages of one site are not enough to train on; give pages of two sites or more")
    half_of_page = np.zeros(len(prepared.sites), np.int64)
    half_of_page[is_trained_on] = folds(sites, 2)
    examples = [one for one, chosen in zip(prepared.examples, is_trained_on, strict=True) if chosen]
    rows = is_trained_on[prepared.pages]
    half, trained = half_of_page[prepared.pages][rows], (prepared.weights > 0)[rows]
    marking = trained & prepared.marks_replies[rows]
    content = _Task(prepared.is_content[rows], prepared.weights[rows], trained, half)
    article, copied = (
        _Task(labels[rows], weights[rows], weights[rows] > 0, half).twice()
        for labels, weights in (
            (prepared.is_article, prepared.article_weights),
            (prepared.is_content, prepared.whole_weights),
        )
    )
    reply = _Task(prepared.is_reply[rows], prepared.weights[rows], marking, half)
    hosts = [one.gold.site or one.page.capture.site for one in examples]
    class_words, binning, of_words = _word_codes(prepared.slots.of_pages(is_trained_on), hosts, content)
    codes = np.concatenate((prepared.page_codes[:, rows], of_words))
    first, scores = content.stacked(codes, FIRST_TREES)
    first_replies, reply_scores = reply.stacked(codes, REPLY_TREES)
    binnings, codes = _second_codes(prepared, examples, codes, scores, reply_scores)
    content, reply = content.twice(), reply.twice()
    second, scores = content.stacked(codes, SECOND_TREES)
    binnings["third"], around = _third_codes(examples, scores, training_examples.row_columns)
    codes = np.concatenate((codes, around))
    of_article, replies = article.fit(codes, ARTICLE_TREES), reply.fit(codes, REPLY_TREES)
    binnings["units"], pooled = _third_codes(examples, scores, training_examples.unit_columns)
    codes = np.concatenate((codes, pooled))
    whole = copied.fit(codes, WHOLE_TREES, _WHOLE_PARAMETERS)
    labelled = (np.bincount(prepared.pages, prepared.whole_weights) > 0)[is_trained_on]
    return Classifier(
        {"page": prepared.page_binning, "words": binning, **binnings},
        class_words,
        *(first, first_replies, second, of_article, whole, replies, card),
        page_types=_page_types(examples, labelled, prepared.page_binning, prepared.page_codes[:, rows], scores),
    )


@dataclass(frozen=True, slots=True)
class _Task:
    """The task of a forest: of each row its label, its weight, whether it is trained on, and the half of the pages that
    it is in."""

    labels: npt.NDArray[np.bool_]
    weights: Weights
    trained: npt.NDArray[np.bool_]
    half: npt.NDArray[np.int64]

    def twice(self) -> "_Task":
        """Repeat all rows behind themselves."""
        return _Task(np.tile(self.labels, 2), np.tile(self.weights, 2), np.tile(self.trained, 2), np.tile(self.half, 2))

    def fit(self, codes: Codes, trees: int, parameters: Mapping[str, Any] = _PARAMETERS) -> Forest:
        return self._fit(codes, self.trained, trees, parameters)

    def stacked(self, codes: Codes, trees: int) -> tuple[Forest, npt.NDArray[np.int64]]:
        """Train a forest on all rows; score each row by one that was trained on the other half."""
        scores = np.zeros(codes.shape[1], np.int64)
        for side in (0, 1):
            of_others = self._fit(codes, self.trained & (self.half != side), trees)
            scores[self.half == side] = first_scores(of_others.log_odds(codes[:, self.half == side]))
        return self.fit(codes, trees), scores

    def _fit(
        self, codes: Codes, rows: npt.NDArray[np.bool_], trees: int, parameters: Mapping[str, Any] = _PARAMETERS
    ) -> Forest:
        if not self.labels[rows].any():
            return forest([NEVER])
        return fit(codes[:, rows], self.labels[rows], self.weights[rows], trees, parameters)


def _word_codes(slots: NamedSlots, hosts: Sequence[str], content: _Task) -> tuple[ClassWords, Binning, Codes]:
    """Learn what class words say from all rows; describe the rows of each half by what the other half teaches."""
    words = word_weights.count_common(slots, hosts)
    of_others = [content.weights * (content.half != side) for side in (0, 1)]
    of_halves = [
        slots.columns(word_weights.learn(words, slots.of_blocks, content.labels, weights)) for weights in of_others
    ]
    columns = {name: np.where(content.half == 0, values, of_halves[1][name]) for name, values in of_halves[0].items()}
    binning = training_examples.binning(sorted(columns), columns)
    learned = word_weights.learn(words, slots.of_blocks, content.labels, content.weights)
    return learned, binning, binning.codes(columns, len(content.labels))


def _second_codes(
    prepared: Prepared,
    examples: Sequence[Example],
    codes: Codes,
    scores: npt.NDArray[np.int64],
    reply_scores: npt.NDArray[np.int64],
) -> tuple[dict[str, Binning], Codes]:
    """Compute the bins that only the second forest sees, and all it sees: first with all evidence, then with some
    hidden."""
    seen = training_examples.page_features(examples, scores)
    own = [one.page.capture_id for one in examples]
    around = {
        "context": training_examples.context_columns(examples, scores),
        "replies": training_examples.row_columns(examples, reply_scores),
    }
    whole, hidden = (
        training_examples.evidence_columns(examples, {capture_id: shown[capture_id] for capture_id in own}, seen)
        for shown in (prepared.whole, prepared.hidden)
    )
    binnings = {group: training_examples.binning(sorted(columns), columns) for group, columns in around.items()}
    for at, group in enumerate(_EVIDENCE):
        present = [of_page[at] for of_page in whole if of_page[at]]
        binnings[group] = (
            training_examples.binning(sorted(present[0]), training_examples.joined(present))
            if present
            else Binning((), ())
        )
    blocks = [len(one.page.blocks) for one in examples]
    of_around = [binnings[group].codes(columns, sum(blocks)) for group, columns in around.items()]
    alike = np.concatenate((codes, *of_around))
    both = [
        np.concatenate(
            (
                alike,
                *(
                    _joined_codes(binnings[group], [one[at] for one in shown], blocks)
                    for at, group in enumerate(_EVIDENCE)
                ),
            )
        )
        for shown in (whole, hidden)
    ]
    return binnings, np.concatenate(both, axis=1)


def _page_types(
    examples: Sequence[Example],
    labelled: npt.NDArray[np.bool_],
    binning: Binning,
    codes: Codes,
    scores: npt.NDArray[np.int64],
) -> PageTypes | None:
    """Train on the labelled pages with a type, by the bins and second scores of all pages, for the rows of
    `_second_codes`; None if they are of fewer than two types."""
    types = np.array([one.gold.page_type for one in examples])
    chosen = np.flatnonzero(labelled & (types != ""))
    names, labels = np.unique(types[chosen], return_inverse=True)
    if len(names) < 2:
        return None
    rows = Rows([one.page.blocks.words for one in examples])
    shown = [page_codes(rows, codes, binning.highest, some)[:, chosen] for some in np.split(scores, 2)]
    parameters = _TYPE_PARAMETERS | {"num_class": len(names)}
    found = fit(np.concatenate(shown, axis=1), np.tile(labels, 2), np.ones(2 * len(labels)), TYPE_TREES, parameters)
    return PageTypes(tuple(MERGED.get(one, one) for one in names.tolist()), found)


def _joined_codes(binning: Binning, of_pages: Sequence[Columns], blocks: Sequence[int]) -> Codes:
    """Join the bins of pages, one behind the other: (features, rows)."""
    return np.concatenate([binning.codes(one, count) for one, count in zip(of_pages, blocks, strict=True)], axis=1)


def _third_codes(
    examples: Sequence[Example],
    scores: npt.NDArray[np.int64],
    columns_of: Callable[[Sequence[Example], npt.NDArray[np.int64]], Columns],
) -> tuple[Binning, Codes]:
    """Compute bins of features from second scores, and their codes, for the rows of `_second_codes`."""
    parts = [columns_of(examples, of_rows) for of_rows in np.split(scores, 2)]
    binning = training_examples.binning(sorted(parts[0]), parts[0])
    return binning, np.concatenate([binning.codes(columns, len(scores) // 2) for columns in parts], axis=1)


def fit(
    codes: Codes,
    labels: npt.NDArray[Any],
    weights: Weights,
    trees: int,
    parameters: Mapping[str, Any] = _PARAMETERS,
) -> Forest:
    """Train a forest on (features, rows) bins."""
    import lightgbm

    data = lightgbm.Dataset(np.ascontiguousarray(codes.T), labels, weight=weights, free_raw_data=True)
    booster = lightgbm.train({**parameters}, data, trees)
    return forest([tree["tree_structure"] for tree in booster.dump_model()["tree_info"]])


def forest(structures: Sequence[Mapping[str, Any]]) -> Forest:
    """Convert trees as LightGBM dumps them to a forest."""
    splits: list[tuple[int, int, int, int]] = []
    split_counts, leaf_counts, values = [], [], []
    for structure in structures:
        before = len(splits)
        leaves: list[float] = []
        _walk(structure, splits, leaves)
        split_counts.append(len(splits) - before)
        leaf_counts.append(len(leaves))
        values += leaves
    columns = np.array(splits, np.int64).reshape(-1, 4).T
    return Forest(
        features=columns[0].astype(np.uint16),
        thresholds=columns[1].astype(np.uint8),
        firsts=columns[2].astype(np.uint8),
        lasts=columns[3].astype(np.uint8),
        splits=np.array(split_counts, np.uint8),
        leaves=np.array(leaf_counts, np.uint8),
        values=np.array(values, np.float64),
    )


def _walk(node: Mapping[str, Any], splits: list[tuple[int, int, int, int]], leaves: list[float]) -> None:
    """Append the splits and leaves below a node, the left before the right."""
    if "leaf_value" in node:
        leaves.append(node["leaf_value"])
        return
    first = len(leaves)
    _walk(node["left_child"], splits, leaves)
    splits.append((node["split_feature"], int(node["threshold"]), first, len(leaves)))
    _walk(node["right_child"], splits, leaves)
