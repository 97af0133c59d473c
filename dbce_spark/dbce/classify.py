"""The classifier: how likely each block of a page is main content, in three verdicts.

The first knows the page alone. The second knows the page, what the first made of its blocks, and what siblings say;
where there are none it knows that too. The third knows all that, and what the second made of the blocks around.
Snapshots then move each block towards what was made of it there. Which blocks are kept is decided once for the whole
page, so that the expected score of what is kept is highest.
"""

import json
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce import bins, context, evidence, features
from dbce_spark.dbce.context import CERTAIN
from dbce_spark.dbce.evidence import CLASS
from dbce_spark.dbce.features import UNKNOWN, Columns
from dbce_spark.dbce.layout import Layout, Rows
from dbce_spark.dbce.trees import Forest
from dbce_spark.errors import ConfigError
from dbce_spark.html.page import Parsed
from dbce_spark.model import BlockFeatures, Codes, ComparedPage, PageFeatures

Scores = npt.NDArray[np.float64]

FAVORS: Mapping[str, float] = {"precision": 0.5, "balanced": 1.0, "recall": 2.0}
"""How many times as much recall counts as precision (the beta of F-beta, van Rijsbergen 1979)."""

_SHIPPED = "classifier.npz"
_PAGE = ("page", "context", "replies")
_SECOND = (*_PAGE, "siblings", "crosses")
_GROUPS = (*_SECOND, "third")
_FORESTS = ("first", "first_replies", "second", "third", "replies")
SETTLED = 0.01
"""A second verdict below is the last: of a thousand such words one is content."""

DRAWS = 64
"""At how many evenly spaced thresholds a page is drawn."""

_LOW = 32
_STEP = 10_000
"""Scores are told in steps of 1/10,000: more is not known."""


@dataclass(frozen=True)
class Binning:
    """Names of features in the order of their rows, and where the bins of each begin: bin i holds what is at least
    edge i - 1 and less than edge i."""

    names: tuple[str, ...]
    edges: tuple[npt.NDArray[np.float64], ...]

    def codes(self, columns: Columns, blocks: int) -> Codes:
        """The bin of each value: (features, blocks). A column that is missing is UNKNOWN throughout."""
        if not columns:
            return np.repeat(self._unknown, blocks, axis=1)
        codes = np.empty((len(self.names), blocks), np.uint8)
        for row, (name, edges, table) in enumerate(zip(self.names, self.edges, self._tables, strict=True)):
            values = columns.get(name)
            if values is None:
                codes[row] = self._unknown[row]
            elif table is None:
                codes[row] = edges.searchsorted(values, side="right")
            else:
                codes[row] = table.bins(values)
        return codes

    @cached_property
    def _tables(self) -> list[bins.BinTable | None]:
        return [bins.table(edges) for edges in self.edges]

    @cached_property
    def _unknown(self) -> Codes:
        found = [edges.searchsorted(UNKNOWN, side="right") for edges in self.edges]
        return np.array(found, np.uint8).reshape(-1, 1)


@dataclass(frozen=True)
class Classifier:
    """Five forests, the bins of their features by where those come from, and a card that says what they are.

    `first` and `first_replies` look at the rows of `page`. `second` looks at those of `page`, `context` (from verdicts
    of `first`), `replies` (from verdicts of `first_replies`), `siblings` and `crosses`, one group behind the other;
    `third` and `replies` at the same, and behind them at those of `third` (from verdicts of `second`). The forests
    named for replies tell what readers wrote below the content from all else.
    """

    binnings: Mapping[str, Binning]
    first: Forest
    first_replies: Forest
    second: Forest
    third: Forest
    replies: Forest
    card: Mapping[str, Any]

    def traits(self, parsed: Sequence[Parsed]) -> list[BlockFeatures]:
        """What the classifier makes of each page by itself. The same for a page, whatever others come with it."""
        pages = Layout(parsed)
        of_page = self.binnings["page"].codes(features.of_pages(pages), len(pages))
        verdicts, replies = (first_scores(forest.log_odds(of_page)) for forest in (self.first, self.first_replies))
        around = context.of_pages(pages, verdicts)
        replies_around = context.of_groups(pages, pages.slot_groups, replies)
        codes = np.concatenate(
            (
                of_page,
                self.binnings["context"].codes(around, len(pages)),
                self.binnings["replies"].codes(replies_around, len(pages)),
            )
        )
        keys = block_keys(pages)
        return [
            BlockFeatures(
                codes=np.ascontiguousarray(codes[:, start:end]),
                verdicts=verdicts[start:end].astype(np.uint16),
                keys=np.ascontiguousarray(keys[:, start:end]),
            )
            for start, end in zip(pages.starts[:-1].tolist(), pages.starts[1:].tolist(), strict=True)
        ]

    def of_siblings(self, witnesses: Iterable[PageFeatures], wanted: Iterable[str]) -> dict[str, Codes]:
        """`evidence.of_siblings` in bins, by capture id: (features, blocks) each.

        All captures together: a call for each feature, not for each feature of each capture.
        """
        asking, said = evidence.pooled_sibling_evidence(witnesses, frozenset(wanted))
        if not asking:
            return {}
        ends = np.cumsum([len(one.words) for one in asking])
        parts = np.split(self.binnings["siblings"].codes(said, int(ends[-1])), ends[:-1], axis=1)
        return {one.capture_id: np.ascontiguousarray(part) for one, part in zip(asking, parts, strict=True)}

    def of_snapshots(self, witnesses: Sequence[PageFeatures]) -> dict[str, Codes]:
        """`evidence.of_snapshots`: no forest asks for it."""
        return evidence.of_snapshots(witnesses)

    def scores(self, gathered: Sequence[ComparedPage]) -> list[Scores]:
        """How likely each block of each page is content, 0 to 1. The same for a page, whatever others come with it.

        Raises:
            ValueError: a page has no traits: it was read to be labelled by bit patterns.
        """
        if not gathered:
            return []
        codes, seconds = self._third_codes(gathered)
        return _by_page(gathered, self._content(gathered, codes, seconds))

    def scores_with_replies(self, gathered: Sequence[ComparedPage]) -> list[Scores]:
        """How likely each block of each page is content or a comment on it: the sum of both, at most 1."""
        if not gathered:
            return []
        codes, seconds = self._third_codes(gathered)
        either = self._content(gathered, codes, seconds) + _told(self.replies.log_odds(codes))
        return _by_page(gathered, np.minimum(np.rint(either * _STEP) / _STEP, 1))

    def _content(self, gathered: Sequence[ComparedPage], codes: Codes, seconds: Scores) -> Scores:
        """The third verdicts, and the second ones where those leave nothing open: of half of all blocks. Moved by
        snapshots."""
        log_odds = seconds.copy()
        is_open = _probability(seconds) >= SETTLED
        log_odds[is_open] = self.third.log_odds(codes[:, is_open])
        return _told(log_odds + np.concatenate([_shifts(one) for one in gathered]))

    def _third_codes(self, gathered: Sequence[ComparedPage]) -> tuple[Codes, Scores]:
        """All that the third forest looks at, of some pages one behind the other; and the second verdicts' log-odds."""
        codes = np.concatenate([self._second_codes(one) for one in gathered], axis=1)
        rows = Rows([one.page.blocks.words for one in gathered])
        names = [
            np.concatenate([one.page.traits.keys[at] for one in gathered if one.page.traits]).astype(np.uint64)
            for at in range(CLASS, CLASS + len(context.SLOTS))
        ]
        seconds = self.second.log_odds(codes)
        around = context.of_rows(rows, names, first_scores(seconds))
        return np.concatenate((codes, self.binnings["third"].codes(around, len(rows)))), seconds

    def _second_codes(self, one: ComparedPage) -> Codes:
        blocks, found, traits = one.page.blocks, one.evidence, one.page.traits
        if traits is None:
            raise ValueError(f"{one.page.capture_id} has no traits")
        crosses = evidence.of_crosses(blocks.words, one.annotations)
        return np.concatenate(
            (
                traits.codes,
                found.siblings if len(found.siblings) else self.binnings["siblings"].codes({}, len(blocks)),
                self.binnings["crosses"].codes(crosses, len(blocks)),
            )
        )


def _shifts(one: ComparedPage) -> Scores:
    snapshots = one.evidence.snapshots
    return evidence.shifts(snapshots) if len(snapshots) else np.zeros(len(one.page.blocks))


def block_keys(pages: Layout) -> npt.NDArray[np.uint32]:
    """The rows of `Traits.keys`: 32 bits are enough to tell apart what one pool holds."""
    keys = (pages.texts, pages.shapes, *pages.slot_names)
    return np.stack([(key >> np.uint64(_LOW)).astype(np.uint32) for key in keys])


def kept_blocks(scores: Scores, words: npt.NDArray[np.int32], favor: str) -> npt.NDArray[np.bool_]:
    """The blocks to keep: those from the score on at which the expected F-beta of the page's words is highest.

    What is expected depends on how the blocks of a page hang together, and the truth lies between two extremes, so the
    mean of both is taken. Of equal cuts the lowest; what certainly is no content is never kept.

    Each block for itself: with p how likely a block of w words is content, keeping the blocks K is expected to reach
    (1 + b^2) S(K: p w) / (S(K: w) + b^2 S(all: p w)) (Lewis, *Evaluating and optimizing autonomous text classification
    systems*, SIGIR 1995). A hundred comments of which each is content with p = 0.15 so count as fifteen.

    All together: one draw decides the page, content is whatever is likelier than the draw. The hundred comments are
    content all at once or, mostly, not at all.
    """
    weight = FAVORS[favor] ** 2
    order = np.argsort(-scores, kind="stable")
    ten_thousandths = np.rint(scores * _STEP).astype(np.int64)
    found = np.cumsum((ten_thousandths * words)[order])
    taken = np.cumsum(words[order].astype(np.int64))
    expected = found / (taken * _STEP + weight * found[-1]) + _together(ten_thousandths[order], taken, weight)
    best = len(order) - 1 - int(np.argmax(expected[::-1]))
    is_kept: npt.NDArray[np.bool_] = (scores >= scores[order[best]]) & (scores > 0)
    return is_kept


def _together(falling: npt.NDArray[np.int64], taken: npt.NDArray[np.int64], weight: float) -> Scores:
    """The expected F-beta / (1 + b^2) of each cut if one draw decides the page: the mean over DRAWS of them.

    `falling` are the blocks' scores in 1/10,000, the highest first; `taken` the words down to each.
    """
    draws = (2 * np.arange(DRAWS) + 1) * _STEP // (2 * DRAWS)
    content = np.concatenate(([0], taken))[np.searchsorted(-falling, -draws, side="left")]
    both = np.minimum(taken[:, None], content)
    reached: Scores = np.mean(both / (taken[:, None] + weight * content), axis=1)
    return reached


def first_scores(log_odds: Scores) -> npt.NDArray[np.int64]:
    """The first verdict on each block, in 1/1024."""
    return np.rint(_probability(log_odds) * CERTAIN).astype(np.int64)


def _told(log_odds: Scores) -> Scores:
    """Probabilities in the steps that scores are told in."""
    return np.rint(_probability(log_odds) * _STEP) / _STEP


def _by_page(gathered: Sequence[ComparedPage], of_blocks: Scores) -> list[Scores]:
    return np.split(of_blocks, np.cumsum([len(one.page.blocks) for one in gathered])[:-1])


def _probability(log_odds: Scores) -> Scores:
    return 1 / (1 + np.exp(-log_odds))


@cache
def load_classifier(path: str) -> Classifier:
    """The classifier in a file that `dbce train` wrote, or for "" the one that comes with the package.

    A file holds arrays and JSON; nothing in it is ever executed.

    Raises:
        ConfigError: there is no such file, or it is another one.
    """
    name = path or _SHIPPED
    try:
        with (
            (Path(path) if path else files("dbce_spark").joinpath("conf", _SHIPPED)).open("rb") as file,
            np.load(file, allow_pickle=False) as stored,
        ):
            arrays = {key: stored[key] for key in stored.files}
        told = json.loads(bytes(arrays["about"]).decode())
        binnings = {group: _binning(told["names"][group], arrays, group) for group in _GROUPS}
        forests = {name: _forest(arrays, name) for name in _FORESTS}
        card = told["card"]
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise ConfigError(f"label.classifier: {name} is no classifier that `dbce train` wrote: {error}") from error
    return Classifier(binnings, **forests, card=card)


def _forest(arrays: Mapping[str, Any], name: str) -> Forest:
    return Forest(**{column: arrays[f"{name}_{column}"] for column in Forest.__dataclass_fields__})


def _binning(names: Sequence[str], arrays: Mapping[str, Any], group: str) -> Binning:
    ends = np.cumsum(arrays[f"{group}_bins"], dtype=np.intp)
    edges = np.split(arrays[f"{group}_edges"], ends[:-1]) if names else []
    return Binning(tuple(names), tuple(edges))


def save(classifier: Classifier, path: Path) -> None:
    """Writes a classifier as NumPy arrays and JSON. The same classifier gives the same bytes."""
    names = {group: list(binning.names) for group, binning in classifier.binnings.items()}
    about = json.dumps({"names": names, "card": classifier.card}, sort_keys=True).encode()
    arrays: dict[str, npt.NDArray[Any]] = {"about": np.frombuffer(about, np.uint8)}
    for group, binning in classifier.binnings.items():
        arrays[f"{group}_bins"] = np.array([len(edges) for edges in binning.edges], np.uint8)
        arrays[f"{group}_edges"] = np.concatenate([*binning.edges, np.empty(0)])
    for name in _FORESTS:
        forest = getattr(classifier, name)
        arrays |= {f"{name}_{column}": getattr(forest, column) for column in Forest.__dataclass_fields__}
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
