"""The classifier: how likely each block of a page is main content, in three scores.

The first score is by the page alone. The second is by the page, the first scores of its blocks, and the evidence of
siblings, or that there are none. The third is by all that, and the second scores of the blocks around and of the units
that hold the block. Snapshots then move each block towards the first scores that it has there.

There are two third scores, since there are two conventions of what content is: all that a page exists to tell, as a
careful reader would copy it, or the main text of an article alone, as sets of news pages mark it. `kept_blocks`
chooses by them.

A page's type follows from the means of its blocks' features and second scores (`page_types`), and so does how likely
it is to have no content at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier import context, evidence, feature_bins, features, page_links, units
from dbce_spark.dbce.classifier.block_scores import STEP, Scores, integer_scores, rounded
from dbce_spark.dbce.classifier.class_words import ClassWords
from dbce_spark.dbce.classifier.features import UNKNOWN, Columns
from dbce_spark.dbce.classifier.forest import Forest, probability
from dbce_spark.dbce.classifier.layout import Layout, Rows
from dbce_spark.dbce.classifier.page_types import PageTypes, page_codes
from dbce_spark.dbce.classifier.site_corrections import SiteCorrections
from dbce_spark.html.page import Parsed
from dbce_spark.model import CLASS, BlockFeatures, Codes, ComparedPage, Numbers, PageFeatures

_PAGE = ("page", "words", "context", "replies")
_SECOND = (*_PAGE, "siblings", "crosses")
GROUPS = (*_SECOND, "third", "units")
"""Names of the groups of features, each with bins of its own."""

WHOLE, ARTICLE = "whole", "article"
"""The meanings of content: all that the page exists to tell, or the main text of an article alone."""

SETTLED = {ARTICLE: 0.01, WHOLE: 0.003}
"""A second score below is the last: of a thousand such words one is content. Fronts and lists of links, which the
second score knows least of, need a lower bound."""


@dataclass(frozen=True)
class Binning:
    """Names of features in the order of their rows, and where the bins of each begin: bin i holds what is at least
    edge i - 1 and less than edge i."""

    names: tuple[str, ...]
    edges: tuple[npt.NDArray[np.float64], ...]

    def codes(self, columns: Columns, blocks: int) -> Codes:
        """Find the bin of each value: (features, blocks). A column that is missing is UNKNOWN throughout."""
        codes = np.repeat(self._unknown, blocks, axis=1)
        rows = [row for row, name in enumerate(self.names) if name in columns]
        tables, places = self._tables
        in_tables = [row for row in rows if row in places]
        if in_tables:
            of_tables = np.array([places[row] for row in in_tables])
            codes[in_tables] = tables.bins(of_tables, [columns[self.names[row]] for row in in_tables])
        for row in rows:
            if row not in places:
                codes[row] = self.edges[row].searchsorted(columns[self.names[row]], side="right")
        return codes

    @cached_property
    def highest(self) -> Numbers:
        """Return the last bin of each feature."""
        return np.array([len(edges) for edges in self.edges], np.int64)

    @cached_property
    def _tables(self) -> tuple[feature_bins.BinTables, dict[int, int]]:
        """Build the tables of the features that have one; return them, and the place of each feature's among them."""
        made = {row: one for row, edges in enumerate(self.edges) if (one := feature_bins.table(edges)) is not None}
        return feature_bins.BinTables.joined([*made.values()]), {row: place for place, row in enumerate(made)}

    @cached_property
    def _unknown(self) -> Codes:
        found = [edges.searchsorted(UNKNOWN, side="right") for edges in self.edges]
        return np.array(found, np.uint8).reshape(-1, 1)


@dataclass(frozen=True)
class Classifier:
    """Its forests, the bins of their features by where those come from, and a card that describes them.

    Each forest sees the features of the one before it, and behind them more:

    - `first`, `first_replies`: `page`, and `words` by `class_words`
    - `second`: also `context` (by scores of `first`), `replies` (by scores of `first_replies`), `siblings`, `crosses`
    - `article`, `replies`: also `third` (by scores of `second`)
    - `whole`: also `units` (by the same scores)

    The forests named for replies separate what readers wrote below the content from all else. `page_types` and
    `no_content` (for pages that hold boilerplate alone) see means over a page: of the rows of `page`, and of scores of
    `second`. They are None if there were no such pages to train on, or pages of one type only. `corrections` move the
    scores of `article` and `whole` on sites of which people have labelled pages.
    """

    binnings: Mapping[str, Binning]
    class_words: ClassWords
    first: Forest
    first_replies: Forest
    second: Forest
    article: Forest
    whole: Forest
    replies: Forest
    card: Mapping[str, Any]
    page_types: PageTypes | None = None
    no_content: Forest | None = None
    corrections: SiteCorrections = field(default_factory=SiteCorrections)

    def block_features(self, parsed: Sequence[Parsed]) -> list[BlockFeatures]:
        """Compute the features of each page by itself. Those of a page do not depend on the others beside it."""
        pages = Layout(parsed)
        of_page = np.concatenate(
            (
                self.binnings["page"].codes(features.of_pages(pages) | page_links.of_pages(pages), len(pages)),
                self.binnings["words"].codes(self.class_words.columns(pages), len(pages)),
            )
        )
        scores, replies = (integer_scores(forest.log_odds(of_page)) for forest in (self.first, self.first_replies))
        around = context.of_pages(pages, scores)
        replies_around = context.of_groups(pages, pages.slot_groups, replies)
        codes = np.concatenate(
            (
                of_page,
                self.binnings["context"].codes(around, len(pages)),
                self.binnings["replies"].codes(replies_around, len(pages)),
            )
        )
        keys, of_units = block_keys(pages), units.of_pages(pages)
        return [
            BlockFeatures(
                codes=np.ascontiguousarray(codes[:, start:end]),
                first_scores=scores[start:end].astype(np.uint16),
                keys=np.ascontiguousarray(keys[:, start:end]),
                units=its_units,
            )
            for start, end, its_units in zip(
                pages.starts[:-1].tolist(), pages.starts[1:].tolist(), of_units, strict=True
            )
        ]

    def of_siblings(self, captures: Iterable[PageFeatures], wanted: Iterable[str]) -> dict[str, Codes]:
        """Compute `evidence.of_siblings` in bins, by capture id: (features, blocks) each.

        A lot of captures together: a call for each feature, not for each feature of each capture.
        """
        found: dict[str, Codes] = {}
        for with_siblings, columns in evidence.pooled_sibling_evidence(captures, frozenset(wanted)):
            ends = np.cumsum([len(one.words) for one in with_siblings])
            parts = np.split(self.binnings["siblings"].codes(columns, int(ends[-1])), ends[:-1], axis=1)
            for one, part in zip(with_siblings, parts, strict=True):
                found[one.capture_id] = np.ascontiguousarray(part)
        return found

    def of_snapshots(self, captures: Sequence[PageFeatures]) -> dict[str, Codes]:
        """Return `evidence.of_snapshots`, which no forest reads."""
        return evidence.of_snapshots(captures)

    def second_scores(self, compared: Sequence[ComparedPage]) -> "SecondScores":
        """Compute the second scores of some pages, one or more, and what the third forests look at.

        Raises:
            ValueError: a page has no features: it was read to be labelled by bit patterns.
        """
        return SecondScores(self, compared)

    def scores(self, second: "SecondScores", content: str) -> list[Scores]:
        """Score how likely each block of each page is content, 0 to 1, whatever other pages come with it.

        content: WHOLE or ARTICLE.
        """
        return _by_page(second.compared, self._content(second, content))

    def scores_with_replies(self, second: "SecondScores", content: str) -> list[Scores]:
        """Score how likely each block of each page is content or a comment on it: the sum of both, at most 1."""
        either = self._content(second, content) + rounded(self.replies.log_odds(second.codes))
        return _by_page(second.compared, np.minimum(np.rint(either * STEP) / STEP, 1))

    def types(self, second: "SecondScores") -> Sequence[str | None]:
        """Tell the type of each page, whatever other pages come with it; None where the classifier knows none."""
        if self.page_types is None:
            return [None] * len(second.compared)
        return self.page_types.of_pages(second.page_codes)

    def contentless(self, second: "SecondScores") -> Scores:
        """Estimate how likely each page has no content, 0 to 1, by the page alone.

        The estimate is 0 if the classifier has not learned it, and for pages of a site that corrections are for.
        """
        if self.no_content is None:
            return np.zeros(len(second.compared))
        is_corrected = [one.page.capture.site in self.corrections.sites for one in second.compared]
        return np.where(is_corrected, 0.0, rounded(self.no_content.log_odds(second.page_codes)))

    def _content(self, second: "SecondScores", content: str) -> Scores:
        """Score all blocks. Half of them have a second score under SETTLED, and keep it; the others get a third score.
        Snapshots and corrections of the site then move both."""
        log_odds = second.log_odds.copy()
        open_blocks = np.flatnonzero(probability(log_odds) >= SETTLED[content])
        if content == ARTICLE:
            log_odds[open_blocks] = self.article.log_odds(second.codes.take(open_blocks, axis=1))
        else:
            log_odds[open_blocks] = self.whole.log_odds(second.codes_with_units(open_blocks))
        return rounded(log_odds + np.concatenate([self._shifts(one) for one in second.compared]))

    def _shifts(self, one: ComparedPage) -> Scores:
        page, snapshots = one.page, one.evidence.snapshots
        corrected = self.corrections.of_page(page.capture.site, page.features.keys) if page.features else 0.0
        return corrected + (evidence.shifts(snapshots) if len(snapshots) else np.zeros(len(page.blocks)))

    def _second_codes(self, one: ComparedPage) -> Codes:
        blocks, found, block_features = one.page.blocks, one.evidence, one.page.features
        if block_features is None:
            raise ValueError(f"{one.page.capture_id} has no features")
        crosses = evidence.of_crosses(blocks.words, one.annotations)
        return np.concatenate(
            (
                block_features.codes,
                found.siblings if len(found.siblings) else self.binnings["siblings"].codes({}, len(blocks)),
                self.binnings["crosses"].codes(crosses, len(blocks)),
            )
        )


class SecondScores:
    """The second scores of all blocks of some pages, as `log_odds`, and `codes`, which the third forests look at."""

    def __init__(self, classifier: Classifier, compared: Sequence[ComparedPage]):
        self.compared, self._classifier = compared, classifier
        codes = np.concatenate([classifier._second_codes(one) for one in compared], axis=1)
        self._rows = Rows([one.page.blocks.words for one in compared])
        names = [
            np.concatenate([one.page.features.keys[at] for one in compared if one.page.features]).astype(np.uint64)
            for at in range(CLASS, CLASS + len(context.SLOTS))
        ]
        self.log_odds = classifier.second.log_odds(codes)
        self._scores = integer_scores(self.log_odds)
        around = context.of_rows(self._rows, names, self._scores)
        self.codes = np.concatenate((codes, classifier.binnings["third"].codes(around, len(self._rows))))

    @cached_property
    def page_codes(self) -> Codes:
        """Compute the codes that the type of each page follows from, and whether it has content."""
        of_page = self._classifier.binnings["page"]
        return page_codes(self._rows, self.codes[: len(of_page.names)], of_page.highest, self._scores)

    def codes_with_units(self, wanted: Numbers) -> Codes:
        """Compute the codes that the forest of whole pages reads, of some blocks by their indexes: `codes`, and those
        of units behind them."""
        of_pages = [one.page.features.units for one in self.compared if one.page.features]
        links = np.concatenate([one.page.blocks.link_words for one in self.compared]).astype(np.int64)
        pooled = units.columns(self._rows, of_pages, links, self._scores, wanted)
        of_units = self._classifier.binnings["units"].codes(pooled, len(wanted))
        return np.concatenate((self.codes.take(wanted, axis=1), of_units))


def block_keys(pages: Layout) -> npt.NDArray[np.uint32]:
    """Compute the rows of `BlockFeatures.keys`: 32 bits are enough to tell apart what one pool holds."""
    keys = (pages.texts, pages.shapes, *pages.slot_names)
    return np.stack([(key >> np.uint64(32)).astype(np.uint32) for key in keys])


def _by_page(compared: Sequence[ComparedPage], of_blocks: Scores) -> list[Scores]:
    return np.split(of_blocks, np.cumsum([len(one.page.blocks) for one in compared])[:-1])
