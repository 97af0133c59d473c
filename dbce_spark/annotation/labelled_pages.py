"""Set the labels that annotators gave to pages of a store beside the scores of the classifier, block by block."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dbce_spark.annotation.labels import majority
from dbce_spark.annotation.labels.majority import Master, MergedPage
from dbce_spark.annotation.markup.submission import Tags
from dbce_spark.annotation.store import single_page, stored_extraction, stored_pages, stored_submissions
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.annotation.store.workbench_store import Connection
from dbce_spark.config import DbceConfig, LabelConfig
from dbce_spark.dbce.classifier import site_corrections
from dbce_spark.dbce.classifier.block_scores import log_odds_of
from dbce_spark.dbce.classifier.site_corrections import LabelledPage, SiteCorrections
from dbce_spark.dbce.kept.kept_blocks import choose_corrected
from dbce_spark.errors import InputError
from dbce_spark.model import Label, Page

_SUBMISSIONS = 1
"""Submissions that a page must have: who adapts a classifier to a site labels alone as often as not."""


@dataclass(frozen=True, slots=True)
class ScoredLabels:
    """A page that was parsed, and its labels beside the log-odds of a classifier."""

    page: Page
    labelled: LabelledPage


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledF1:
    """The F1 of the words of a labelled page."""

    site: str
    url: str
    before: float  # by the classifier
    after: float  # with the corrections of all labels
    by_others: float | None  # with those of the labels of other pages; None if these do not reach it


def read(store: Connection, corpus: str, config: DbceConfig) -> list[ScoredLabels]:
    """Read all pages of a corpus that somebody has submitted, with the labels of the majority, in order of id. One that
    is undecided as a whole has none, and is left out.

    Raises:
        InputError: the classifier of `config` did not score a page, or its text is not that of its HTML any more.
    """
    submitted = [*stored_submissions.read_submissions(store)]
    ids = {one.page for one in submitted} & {*stored_pages.ids(store, stored_pages.CORPUS, corpus)}
    stored = [page for one in sorted(ids) if (page := stored_pages.get(store, one))]
    masters = {one.page: Master(segments=len(one.units), text_digest=one.text_digest) for one in stored}
    merged = majority.merge(masters, submitted, minimum=_SUBMISSIONS, excluded={})
    tags = {one.page: _without_comments(one, config.label) for one in merged.pages}
    _refuse_other_models(stored, stored_extraction.model_name(config))
    scored = [_scored(one, tags[one.page], config) for one in stored if one.page in tags]
    return [one for one in scored if one.labelled.is_labelled.any()]


def _without_comments(page: MergedPage, label: LabelConfig) -> Tags:
    """Return the tags of a page, with readers' comments as boilerplate unless they are to be kept."""
    dropped = set() if label.comments else {*page.comments}
    return tuple(Label.BOILERPLATE if at in dropped else tag for at, tag in enumerate(page.tags))


def _refuse_other_models(stored: Iterable[StoredPage], model: str) -> None:
    """Raise InputError if another model scored a page."""
    for one in stored:
        if one.model != model:
            raise InputError(
                f"page {one.url} was scored by {one.model}, and the output is labelled by {model}; add its page to a"
                " new store, by the classifier of the output (dbce annotate add ... --set label.classifier=FILE)"
            )


def _scored(stored: StoredPage, tags: Tags, config: DbceConfig) -> ScoredLabels:
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
    labelled = LabelledPage(
        site=stored.site,
        keys=page.features.keys,
        log_odds=log_odds_of(scores),
        is_content=content > boilerplate,
        is_labelled=content + boilerplate > 0,
    )
    return ScoredLabels(page, labelled)


def f1_before_and_after(pages: Iterable[ScoredLabels], label: LabelConfig) -> Iterator[LabelledF1]:
    """Measure each page before and after, site by site."""
    of_sites: dict[str, list[ScoredLabels]] = defaultdict(list)
    for one in pages:
        of_sites[one.labelled.site].append(one)
    for site, own in of_sites.items():
        of_all = site_corrections.learn([one.labelled for one in own])
        for at, one in enumerate(own):
            of_others = site_corrections.learn([other.labelled for other in (*own[:at], *own[at + 1 :])])
            yield LabelledF1(
                site=site,
                url=one.page.capture.url,
                before=_f1(one, SiteCorrections(), label),
                after=_f1(one, of_all, label),
                by_others=_f1(one, of_others, label) if of_others.reach(site, one.labelled.keys) else None,
            )


def _f1(one: ScoredLabels, corrections: SiteCorrections, label: LabelConfig) -> float:
    """Compute the F1 of the words of a page that has labels for them; 1 if nothing is content, and nothing is kept."""
    labelled = one.labelled
    is_kept = choose_corrected(one.page, labelled, corrections, label)
    words = one.page.blocks.words * labelled.is_labelled
    kept, content, both = (
        int(words[chosen].sum()) for chosen in (is_kept, labelled.is_content, is_kept & labelled.is_content)
    )
    return 2 * both / (kept + content) if kept + content else 1.0
