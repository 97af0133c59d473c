"""The map over files: every record of a file to a page with its signature, a reject, or skipped."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from dbce_spark.archive import failed_files, indexed_records, warc
from dbce_spark.archive.index.fetch import open_file
from dbce_spark.config import DbceConfig, PageConfig
from dbce_spark.dbce import classify
from dbce_spark.dbce.shingles import TOKENISERS
from dbce_spark.dbce.signature import bands, sign
from dbce_spark.files import sources
from dbce_spark.html import page
from dbce_spark.html.metadata import metadata
from dbce_spark.html.page import Parsed
from dbce_spark.model import BlockFeatures, Page, Reject, RejectReason, RejectStage, Revisit, Skip

TOGETHER = 64
"""Captures that are looked at together: enough for numpy, and still a few megabytes of HTML."""

DUPLICATE = Skip("duplicate")
"""A record whose capture (same URL, time and payload) an earlier file, or an earlier place of this one, holds."""


Source = str | indexed_records.Places
"""What one task reads: a whole file, or some places that an index names."""


def fetches(source: Source, config: DbceConfig) -> Iterator[warc.Fetch | Revisit | Reject | Skip]:
    """Every record of one source, in its order."""
    if isinstance(source, str):
        refusal, opened = indexed_records.refusal(config.select), partial(open_file, config=config.fetch)
        return warc.read(source, config.input, config.page.max_html_bytes, refusal, opened)
    return indexed_records.read(source, config)


def losses(source: Source, rejects: Sequence[Reject]) -> list[failed_files.Loss]:
    """What was lost of a source, by all its rejects."""
    if not isinstance(source, str):
        return indexed_records.losses(rejects)
    lost = failed_files.file_loss(source, rejects, sources.size)
    return [] if lost is None else [lost]


def read(source: Source, config: DbceConfig) -> Iterator[Page | Revisit | Reject | Skip]:
    """Every record of one source: pages and rejects of fetched captures in its order, as all others are."""
    some: list[warc.Fetch] = []
    for found in fetches(source, config):
        if not isinstance(found, warc.Fetch):
            yield found
            continue
        some.append(found)
        if len(some) == TOGETHER:
            yield from of_fetches(some, config)
            some = []
    yield from of_fetches(some, config)


def of_fetches(fetches: Sequence[warc.Fetch], config: DbceConfig) -> list[Page | Reject]:
    """Fetched captures as pages, in their order. What a capture becomes does not depend on those beside it."""
    parsed = [_parsed(fetch, config.page) for fetch in fetches]
    good = [one for one in parsed if isinstance(one, Parsed)]
    traits: list[BlockFeatures | None] = [None] * len(good)
    if config.label.by == "classifier" and good:
        traits = [*classify.load_classifier(config.label.classifier).traits(good)]
    looked_at = iter(traits)
    return [
        of_parsed(fetch, one, next(looked_at), config) if isinstance(one, Parsed) else one
        for fetch, one in zip(fetches, parsed, strict=True)
    ]


def page_of(fetch: warc.Fetch, config: DbceConfig) -> Page | Reject:
    """One fetched capture as a page."""
    return of_fetches([fetch], config)[0]


def _parsed(fetch: warc.Fetch, config: PageConfig) -> Parsed | Reject:
    try:
        return page.parse(fetch.html, fetch.capture.declared_charset, config)
    except page.PageError as error:
        return Reject.of_record(fetch.capture, RejectStage.PAGE, RejectReason(error.reason), str(error))


def of_parsed(fetch: warc.Fetch, parsed: Parsed, traits: BlockFeatures | None, config: DbceConfig) -> Page:
    """A page from what its HTML was parsed to.

    One with too few shingles or too many tokens has no signature, and `flags` says so.
    """
    capture = fetch.capture
    shingles = TOKENISERS[config.template.tokens](parsed.tree)
    flags = {*parsed.flags, *(str(defect) for defect in fetch.defects), *(["truncated"] if capture.truncated else [])}
    if len(shingles) < config.template.min_shingles:
        flags.add("few_shingles")
    signature = None if flags & {"few_shingles", "too_many_blocks", "too_many_tokens"} else sign(shingles, config.lsh)
    threshold = config.lsh.threshold_of(capture.site)
    return Page(
        capture_id=capture.capture_id,
        capture=capture,
        charset=parsed.charset,
        charset_source=parsed.charset_source,
        metadata=metadata(parsed.declared, capture.url, capture.timestamp),
        flags=tuple(sorted(flags)),
        blocks=parsed.blocks,
        signature=signature,
        bands=np.empty(0, np.uint64) if signature is None else bands(signature, threshold),
        traits=traits,
    )


def unique(pages: Iterable[Page]) -> list[Page]:
    """One page a capture: the first, in the order in which they come. In order of capture id."""
    first: dict[str, Page] = {}
    for one in pages:
        first.setdefault(one.capture_id, one)
    return [first[capture_id] for capture_id in sorted(first)]
