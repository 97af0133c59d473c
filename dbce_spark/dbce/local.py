"""The whole method in lists and dicts: its definition, and the oracle that the Spark job is held to."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dbce_spark.archive import failed_files, indexed_records
from dbce_spark.archive.revisits import Resolved, lost_original, resolve, share, unresolved
from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig, DuplicatesConfig, FormatsConfig, LabelConfig, LanguageConfig
from dbce_spark.dbce import crosses, duplicates, pages, pools, revisit_originals, sites, texts
from dbce_spark.dbce.annotation_merge import label_by_patterns, label_by_scores
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.dbce.classifier.block_scores import Scores
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.duplicates import MarkedText
from dbce_spark.dbce.kept import annotated_html, kept_blocks, main_text
from dbce_spark.dbce.kept.kept_formats import Formats, write_formats
from dbce_spark.dbce.kept.title_heading import without_title
from dbce_spark.dbce.occurrence_bits import annotate
from dbce_spark.dbce.texts import Text
from dbce_spark.html.language import UNKNOWN, Language, detect
from dbce_spark.model import (
    Annotation,
    BucketCross,
    Capture,
    ComparedPage,
    Cross,
    Evidence,
    Extraction,
    Page,
    Reject,
    RejectStage,
    Revisit,
    Segments,
    Skip,
)

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of every record: in one of `extractions`, `revisits` and `rejects`, or counted in `skipped`."""

    records_read: int
    extractions: list[Extraction]
    duplicates: list[MarkedText]
    """The extractions that have a text, in order of time, with their marks; none unless `duplicates.find` is set."""
    revisits: list[Resolved]
    rejects: list[Reject]
    skipped: Counter[str]
    selection: dict[str, Any] | None
    """Counts of the lines of the indexes by their outcome, as in run.json; None without indexes."""
    originals: dict[str, int] | None
    """Counts of the revisits that were looked up in the indexes, as in run.json; None without indexes."""
    failed_files: dict[str, Any]


def extract(
    paths: Iterable[str],
    config: DbceConfig,
    indexes: Sequence[str] = (),
    base: str = "",
    keep: Callable[[Fetch], None] = pages.let_go,
) -> Result:
    """Extract all captures in some files and at the places that some indexes name, in order of capture id.

    `base` is where file names in an index lie; "": beside it. `keep` is given each fetched capture, with its HTML.
    """
    named, files = indexed_records.read_places(indexes, base, config), sorted(paths)
    sources: list[pages.Source] = [*files, *indexed_records.cut(named.archives, config.input.records_per_task)]
    of_sources, losses = read_sources(sources, config, keep)
    records = [*named.rejects, *of_sources]

    captures = [page.capture for page in _only(Page, records)]
    outcomes, looked_up = resolve_revisits(_only(Revisit, records), captures, indexes, base, config)
    read = [*_only(Page, records), *_only(Page, outcomes)]
    unique = pages.unique(read)
    shared = share((page.capture_id for page in unique), _only(Resolved, outcomes))

    compared, _ = compare_pages(unique, config)
    labelled = label_or_reject(compared, config.label)
    extractions = _only(Extraction, labelled)
    marked = duplicates.mark_texts([], duplicate_texts(extractions, config.duplicates), config.duplicates)

    found = {one.page.capture_id for one in extractions}
    textless = [lost_original(one) for one in shared.revisits if one.original_id not in found]
    copies = [pages.DUPLICATE] * (len(read) - len(unique) + shared.duplicates)
    ends = [*records, *outcomes, *labelled, *textless, *copies]
    losses = [*indexed_records.index_losses(named.rejects, indexes), *losses]
    return Result(
        records_read=len(records),
        extractions=extractions,
        duplicates=marked,
        revisits=[one for one in shared.revisits if one.original_id in found],
        rejects=_only(Reject, ends),
        skipped=Counter(one.filter for one in _only(Skip, ends)),
        selection=named.as_dict() if indexes else None,
        originals=looked_up if indexes else None,
        failed_files=failed_files.report(
            failed_files.join_losses(losses, named.record_counts), len(files) + len(indexes) + len(named.archives)
        ),
    )


def read_sources(
    sources: Iterable[pages.Source], config: DbceConfig, keep: Callable[[Fetch], None]
) -> tuple[list[Page | Revisit | Reject | Skip], list[failed_files.Loss]]:
    """Read every record of some sources, and list what was lost of them."""
    records: list[Page | Revisit | Reject | Skip] = []
    losses: list[failed_files.Loss] = []
    for source in sources:
        of_source = [*pages.read(source, config, keep)]
        losses += pages.losses(source, _only(Reject, of_source))
        records += of_source
    return records, losses


def resolve_revisits(
    revisits: Sequence[Revisit], read: Sequence[Capture], indexes: Sequence[str], base: str, config: DbceConfig
) -> tuple[list[revisit_originals.RevisitOutcome], dict[str, int]]:
    """Resolve each revisit by the captures that were read, and then by the indexes; count the latter."""
    resolved = resolve(read, revisits)
    lost = [revisit for revisit, found in zip(revisits, resolved, strict=True) if found is None]
    found_in_indexes, looked_up = (
        revisit_originals.find_originals(lost, read, indexes, base, config)
        if indexes
        else ([*map(unresolved, lost)], {})
    )
    outcomes_of_lost = iter(found_in_indexes)
    return [found or next(outcomes_of_lost) for found in resolved], looked_up


def extract_pages(unique: Sequence[Page], config: DbceConfig) -> list[Extraction]:
    """Extract some pages, each compared with its siblings and snapshots among them."""
    compared, _ = compare_pages(unique, config)
    return label_pages(compared, config.label)


def compare_pages(unique: Sequence[Page], config: DbceConfig) -> tuple[list[ComparedPage], BucketSizes]:
    """Compare each page with its siblings and snapshots among all of them; also measure their buckets."""
    comparison = sites.compare_sites([sites.neighbour(page) for page in unique], config)
    by_siblings, by_snapshots = comparison.evidence.by_siblings, comparison.evidence.by_snapshots
    bucket_crosses: dict[str, list[BucketCross]] = defaultdict(list)
    annotations: dict[str, list[Annotation]] = defaultdict(list)
    for found, annotation in zip(comparison.crosses, comparison.annotations, strict=True):
        bucket_crosses[found.cross.cur].append(found)
        annotations[found.cross.cur].append(annotation)
    compared = [
        gather(
            page,
            annotations[page.capture_id],
            pools.page_evidence(page, by_siblings.get(page.capture_id), by_snapshots.get(page.capture_id)),
            crosses.template_id(bucket_crosses[page.capture_id]),
        )
        for page in unique
    ]
    return compared, comparison.sizes


def annotate_crosses(
    chosen: Iterable[Cross], unique: Iterable[Page], config: DbceConfig
) -> dict[str, list[Annotation]]:
    """Annotate some crosses of these pages; list the annotations by the capture id of each cross's `cur`."""
    tokens = {page.capture_id: page.blocks.tokens for page in unique}
    annotations: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in annotate(chosen, tokens, exact_limit=config.diff.exact_limit):
        annotations[annotation.cross.cur].append(annotation)
    return annotations


def gather(page: Page, annotations: Iterable[Annotation], evidence: Evidence, template_id: str) -> ComparedPage:
    """Gather what the comparison with other pages gave of a page, each annotation once."""
    by_cross = {annotation.cross.cross_id: annotation for annotation in annotations}
    ordered = tuple(by_cross[cross_id] for cross_id in sorted(by_cross))
    return ComparedPage(page=page, annotations=ordered, evidence=evidence, template_id=template_id)


def label_pages(compared: Sequence[ComparedPage], label: LabelConfig) -> list[Extraction]:
    """Label the segments of some pages. The labels of a page do not depend on the pages beside it."""
    if label.by != "classifier":
        return [build_extraction(page, label_by_patterns(page, label.by)) for page in compared]
    return [
        build_extraction(one.compared, label_by_scores(one.compared, one.scores, one.is_kept), one)
        for one in score_pages(compared, label)
    ]


@dataclass(frozen=True, slots=True)
class ScoredPage:
    """A page that was compared, with the score of each of its blocks, those that are kept, the F1 expected, and its
    type."""

    compared: ComparedPage
    scores: Scores
    is_kept: npt.NDArray[np.bool_]
    confidence: float
    page_type: str | None


def score_pages(compared: Sequence[ComparedPage], label: LabelConfig) -> Iterator[ScoredPage]:
    """Score the blocks of some pages by the classifier, and choose those to keep."""
    classifier = load_classifier(label.classifier)
    scores_of = classifier.scores_with_replies if label.comments else classifier.scores
    for start in range(0, len(compared), pages.TOGETHER):
        batch = compared[start : start + pages.TOGETHER]
        second = classifier.second_scores(batch)
        of_pages = zip(batch, scores_of(second, label.content), classifier.types(second), strict=True)
        for page, scores, page_type in of_pages:
            is_kept = kept_blocks.choose_blocks(page.page, scores, label)
            if label.title == "drop":
                is_kept = without_title(page.page, is_kept)
            confidence = kept_blocks.estimate_confidence(scores, page.page.blocks.words, is_kept)
            yield ScoredPage(page, scores, is_kept, confidence, page_type)


def label_or_reject(compared: Sequence[ComparedPage], label: LabelConfig) -> list[Extraction | Reject]:
    """Label the segments of some pages; one that cannot be labelled is a reject."""
    return pages.spared(partial(label_pages, label=label), compared, label_reject)


def label_reject(compared: ComparedPage, error: Exception) -> Reject:
    """Make the reject of a page that could not be labelled."""
    return pages.failed(compared.page.capture, RejectStage.LABEL, error)


def duplicate_texts(extractions: Iterable[Extraction], config: DuplicatesConfig) -> Iterator[Text]:
    """Iterate over the main texts of some extractions as duplicates are found by them; none unless `find` is set."""
    for one in extractions if config.find else ():
        if one.text.split():
            digest, signature = texts.read(one.text, config)
            yield Text(
                capture_id=one.page.capture_id,
                url_key=one.page.capture.url_key,
                timestamp=one.page.capture.timestamp,
                digest=digest,
                signature=signature,
            )


def detect_languages(extractions: Sequence[Extraction], config: LanguageConfig) -> list[Language]:
    """Detect the language of each main text; UNKNOWN unless `language.detect` is set."""
    if not config.detect:
        return [UNKNOWN] * len(extractions)
    return detect([one.text for one in extractions], min_words=config.min_words, sample_chars=config.sample_chars)


def format_extractions(
    extractions: Sequence[Extraction], htmls: Sequence[bytes | None], config: FormatsConfig, with_annotated: bool
) -> list[Formats]:
    """Write some pages in the formats that are asked for; `htmls` are their pages in UTF-8, where they were kept."""
    return [
        Formats() if html is None else _format(one, html, config, with_annotated)
        for one, html in zip(extractions, htmls, strict=True)
    ]


def _format(one: Extraction, html: bytes, config: FormatsConfig, with_annotated: bool) -> Formats:
    text, segments = one.page.blocks.text, one.segments
    annotated = annotated_html.labelled_html(html, text, segments) if with_annotated else None
    if not config.need_html:
        return Formats(annotated_html=annotated)
    return replace(write_formats(html, one.page.blocks, segments, one.page.capture, config), annotated_html=annotated)


def build_extraction(compared: ComparedPage, segments: Segments, scored: ScoredPage | None = None) -> Extraction:
    """Build the result row of a page whose segments are labelled, by its scores if it has some."""
    return Extraction(
        page=compared.page,
        status="crossed" if compared.annotations else "single",
        template_id=compared.template_id,
        crosses=tuple(annotation.cross for annotation in compared.annotations),
        segments=segments,
        text=main_text.text(compared.page.blocks.text, segments),
        confidence=scored.confidence if scored else None,
        page_type=scored.page_type if scored else None,
    )


def _only(kind: type[Kind], outcomes: Iterable[object]) -> list[Kind]:
    """List those of some outcomes that are of one kind."""
    return [one for one in outcomes if isinstance(one, kind)]
