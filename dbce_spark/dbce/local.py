"""The whole method in lists and dicts: its definition, and the oracle that the Spark job is held to."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dbce_spark.archive import failed_files as budget
from dbce_spark.archive import indexed_records
from dbce_spark.archive.revisits import Resolved, resolve, share, unresolved
from dbce_spark.config import DbceConfig, DuplicatesConfig, LabelConfig, LanguageConfig
from dbce_spark.dbce import classify, crosses, duplicates, originals, pages, pools, postprocess, sites, texts
from dbce_spark.dbce.annotate import annotate
from dbce_spark.dbce.duplicates import MarkedText
from dbce_spark.dbce.merge import by_pattern, by_score, merge
from dbce_spark.dbce.texts import Text
from dbce_spark.html.language import UNKNOWN, Language, detect
from dbce_spark.model import (
    Annotation,
    BucketCross,
    Capture,
    Cross,
    Evidence,
    Extraction,
    Gathered,
    Page,
    Reject,
    Revisit,
    Segments,
    Skip,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of every record: one of `extractions`, `revisits` and `rejects`, or counted in `skipped`."""

    records_read: int
    extractions: list[Extraction]
    duplicates: list[MarkedText]
    """The extractions that have a text, in order of time, with what is said of them; none where it is not asked for."""
    revisits: list[Resolved]
    rejects: list[Reject]
    skipped: Counter[str]
    selection: dict[str, Any] | None
    """What became of the lines of the indexes, as in run.json; None without."""
    originals: dict[str, int] | None
    """What became of the revisits that were looked for in the indexes, as in run.json; None without."""
    failed_files: dict[str, Any]


def extract(paths: Iterable[str], config: DbceConfig, indexes: Sequence[str] = (), base: str = "") -> Result:
    """The extractions of all captures in some files and at the places that some indexes name, in order of capture id.

    `base` is where file names in an index lie; "": beside it.
    """
    named, files = indexed_records.read_places(indexes, base, config), sorted(paths)
    sources: list[pages.Source] = [*files, *indexed_records.cut(named.archives, config.input.records_per_task)]
    records: list[Page | Revisit | Reject | Skip] = [*named.rejects]
    losses = indexed_records.index_losses(named.rejects, indexes)
    for source in sources:
        found = [*pages.read(source, config)]
        losses += pages.losses(source, [one for one in found if isinstance(one, Reject)])
        records += found
    read = [record for record in records if isinstance(record, Page)]
    revisits = [record for record in records if isinstance(record, Revisit)]
    fates, looked_up = revisited(revisits, [page.capture for page in read], indexes, base, config)
    read += [one for one in fates if isinstance(one, Page)]
    unique = pages.unique(read)
    shared = share((one.capture_id for one in unique), (one for one in fates if isinstance(one, Resolved)))
    copies = len(read) - len(unique) + shared.duplicates
    extracted = extractions(unique, config)
    gone = [*(one for one in records if not isinstance(one, Page | Revisit)), *fates, *[pages.DUPLICATE] * copies]
    return Result(
        records_read=len(records),
        extractions=extracted,
        duplicates=duplicates.marks([], compared(extracted, config.duplicates), config.duplicates),
        revisits=shared.revisits,
        rejects=[one for one in gone if isinstance(one, Reject)],
        skipped=Counter(one.filter for one in gone if isinstance(one, Skip)),
        selection=named.as_dict() if indexes else None,
        originals=looked_up if indexes else None,
        failed_files=budget.report(
            budget.join_losses(losses, named.record_counts), len(files) + len(indexes) + len(named.archives)
        ),
    )


def revisited(
    revisits: Sequence[Revisit], read: Sequence[Capture], indexes: Sequence[str], base: str, config: DbceConfig
) -> tuple[list[originals.RecordOutcome], dict[str, int]]:
    """What becomes of each revisit, by the captures that were read and then by the indexes; the account of these."""
    resolved = resolve(read, revisits)
    lost = [revisit for revisit, found in zip(revisits, resolved, strict=True) if found is None]
    fates, looked_up = originals.find(lost, read, indexes, base, config) if indexes else ([*map(unresolved, lost)], {})
    of_lost = iter(fates)
    return [found or next(of_lost) for found in resolved], looked_up


def extractions(unique: list[Page], config: DbceConfig) -> list[Extraction]:
    """The extractions of some pages, each set beside its siblings and snapshots among them."""
    told = sites.compare_sites([sites.neighbour(page) for page in unique], config)
    by_siblings, by_snapshots = told.heard.by_siblings, told.heard.by_snapshots
    found: dict[str, list[BucketCross]] = defaultdict(list)
    annotated: dict[str, list[Annotation]] = defaultdict(list)
    for one, annotation in zip(told.found, told.annotations, strict=True):
        found[one.cross.cur].append(one)
        annotated[one.cross.cur].append(annotation)
    return label_pages(
        [
            gather(
                page,
                annotated[page.capture_id],
                pools.page_evidence(page, by_siblings.get(page.capture_id), by_snapshots.get(page.capture_id)),
                crosses.template_id(found[page.capture_id]),
            )
            for page in unique
        ],
        config.label,
    )


def annotations(chosen: Iterable[Cross], unique: Iterable[Page], config: DbceConfig) -> dict[str, list[Annotation]]:
    """The annotations of some crosses of these pages, by the id of the capture that each is of."""
    tokens = {page.capture_id: page.blocks.tokens for page in unique}
    found: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in annotate(chosen, tokens, exact_limit=config.diff.exact_limit):
        found[annotation.cross.cur].append(annotation)
    return found


def gather(page: Page, annotations: Iterable[Annotation], evidence: Evidence, template_id: str) -> Gathered:
    """All that was found out about a page, each annotation once."""
    merged = merge(*({annotation.cross.cross_id: annotation} for annotation in annotations))
    ordered = tuple(merged[cross_id] for cross_id in sorted(merged))
    return Gathered(page=page, annotations=ordered, evidence=evidence, template_id=template_id)


def label_pages(gathered: Sequence[Gathered], label: LabelConfig) -> list[Extraction]:
    """The extractions of some pages. What a page is judged to be does not depend on those beside it."""
    if label.by != "classifier":
        return [extraction(one, by_pattern(one, label.by)) for one in gathered]
    classifier = classify.load_classifier(label.classifier)
    scores_of = classifier.scores_with_replies if label.comments else classifier.scores
    found = []
    for start in range(0, len(gathered), pages.TOGETHER):
        some = gathered[start : start + pages.TOGETHER]
        for one, scores in zip(some, scores_of(some), strict=True):
            kept = classify.kept(scores, one.page.blocks.words, label.favor)
            found.append(extraction(one, by_score(one, scores, kept)))
    return found


def compared(found: Iterable[Extraction], config: DuplicatesConfig) -> Iterator[Text]:
    """The main texts of some extractions as they are compared with each other, if that is asked for."""
    for one in found if config.find else ():
        if one.text.split():
            digest, signature = texts.read(one.text, config)
            yield Text(
                capture_id=one.page.capture_id,
                url_key=one.page.capture.url_key,
                timestamp=one.page.capture.timestamp,
                digest=digest,
                signature=signature,
            )


def languages(found: Sequence[Extraction], config: LanguageConfig) -> list[Language]:
    """The language of each main text; unknown where it is not asked for."""
    if not config.detect:
        return [UNKNOWN] * len(found)
    return detect([one.text for one in found], min_words=config.min_words, sample_chars=config.sample_chars)


def extraction(one: Gathered, segments: Segments) -> Extraction:
    """The result row of a page whose segments are labelled."""
    return Extraction(
        page=one.page,
        status="crossed" if one.annotations else "single",
        template_id=one.template_id,
        crosses=tuple(annotation.cross for annotation in one.annotations),
        segments=segments,
        text=postprocess.text(one.page.blocks.text, segments),
    )
