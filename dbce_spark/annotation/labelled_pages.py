"""Set the labels that annotators gave to pages of a store beside the scores of the classifier, block by block."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dbce_spark.annotation import drafts, majority, page_import, single_page, stored_pages
from dbce_spark.annotation.majority import Master
from dbce_spark.annotation.stored_pages import StoredPage
from dbce_spark.annotation.submission import Tags
from dbce_spark.annotation.workbench_store import Connection
from dbce_spark.config import DbceConfig, LabelConfig
from dbce_spark.dbce import classify, site_corrections
from dbce_spark.dbce.site_corrections import LabelledPage, SiteCorrections
from dbce_spark.errors import InputError
from dbce_spark.model import Label, Page

_LEAST_SCORE = 1e-4
"""The step of scores: one of 0 or 1 is as far from a half as the next."""
_SUBMISSIONS = 1
"""Submissions that a page must have: who adapts a classifier to a site labels alone as often as not."""


@dataclass(frozen=True, slots=True)
class ScoredLabels:
    """A labelled page, with the words of its blocks and the scores that a classifier gave them."""

    page: Page
    scores: classify.Scores
    labelled: LabelledPage


def read(store: Connection, corpus: str, config: DbceConfig) -> list[ScoredLabels]:
    """Read all pages of a corpus that somebody has submitted, with the labels of the majority, in order of id.

    Raises:
        InputError: the classifier of `config` did not score a page, or its text is not that of its HTML any more.
    """
    submitted = [*drafts.read_submissions(store)]
    ids = {one.page for one in submitted} & {*stored_pages.ids(store, stored_pages.CORPUS, corpus)}
    stored = [page for one in sorted(ids) if (page := stored_pages.get(store, one))]
    masters = {one.page: Master(segments=len(one.units), text_digest=one.text_digest) for one in stored}
    merged = majority.merge(masters, submitted, minimum=_SUBMISSIONS, excluded={})
    tags = {one.page: one.tags for one in merged.pages}
    return [_scored(one, tags[one.page], config) for one in stored if one.page in tags]


def _scored(stored: StoredPage, tags: Tags, config: DbceConfig) -> ScoredLabels:
    if stored.model != page_import.model_name(config):
        raise InputError(
            f"page {stored.url} was scored by {stored.model}, and the output is labelled by"
            f" {page_import.model_name(config)}; add its page again, to a new store"
        )
    page = single_page.parse(stored_pages.archived_html(stored, config), stored.url, stored.page, "", config)
    if page.blocks.text != stored.text or page.features is None:
        raise InputError(f"page {stored.url}: its text differs from its HTML; add it again, to a new store")
    blocks = np.searchsorted(page.blocks.starts, [unit.start for unit in stored.units], side="right") - 1
    characters = np.array([unit.end - unit.start for unit in stored.units], np.int64)
    scores = np.zeros(len(page.blocks))
    scores[blocks] = [unit.score for unit in stored.units]
    content, boilerplate = (
        np.bincount(blocks, characters * np.array([tag is label for tag in tags]), minlength=len(scores))
        for label in (Label.CONTENT, Label.BOILERPLATE)
    )
    bounded = np.clip(scores, _LEAST_SCORE, 1 - _LEAST_SCORE)
    labelled = LabelledPage(
        site=stored.site,
        keys=page.features.keys,
        log_odds=np.log(bounded / (1 - bounded)),
        is_content=content > boilerplate,
        is_labelled=content + boilerplate > 0,
    )
    return ScoredLabels(page, scores, labelled)


def f1_before_and_after(pages: Sequence[ScoredLabels], label: LabelConfig) -> Iterator[tuple[str, float, float]]:
    """Iterate over the site of each page, the F1 of its words by the classifier, and that by corrections which were
    learned from the other pages."""
    for at, one in enumerate(pages):
        others = [*pages[:at], *pages[at + 1 :]]
        of_others = site_corrections.learn([other.labelled for other in others if _site(other) == _site(one)])
        yield _site(one), _f1(one, SiteCorrections(), label), _f1(one, of_others, label)


def _site(one: ScoredLabels) -> str:
    return one.labelled.site


def _f1(one: ScoredLabels, corrections: SiteCorrections, label: LabelConfig) -> float:
    """Compute the F1 of the words of a page that has labels for them; 1 if nothing is content, and nothing is kept."""
    labelled = one.labelled
    log_odds = labelled.log_odds + corrections.of_page(labelled.site, labelled.keys)
    is_kept = classify.kept_blocks(one.page, classify.rounded_scores(log_odds), label)
    words = one.page.blocks.words * labelled.is_labelled
    kept, content, both = (
        int(words[chosen].sum()) for chosen in (is_kept, labelled.is_content, is_kept & labelled.is_content)
    )
    return 2 * both / (kept + content) if kept + content else 1.0
