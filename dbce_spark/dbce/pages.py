"""The map over files: every record of a file to a page with its signature, a reject, or skipped."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from dbce_spark.archive import failed_files, indexed_records, warc
from dbce_spark.archive.index.range_reader import open_file
from dbce_spark.config import FLAGS, DbceConfig, PageConfig
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.page_lots import HTML_TOGETHER, TOGETHER, blocks_of, cut_lots
from dbce_spark.dbce.shingles import TOKENISERS
from dbce_spark.dbce.signature import bands, sign
from dbce_spark.dbce.time_limit import OutOfTime
from dbce_spark.errors import DbceError, is_full
from dbce_spark.files import sources
from dbce_spark.html import page
from dbce_spark.html.dom import PageError
from dbce_spark.html.metadata import metadata
from dbce_spark.html.page import Parsed
from dbce_spark.model import BlockFeatures, Page, Placed, Reject, RejectReason, RejectStage, Revisit, Skip

In = TypeVar("In")
Out = TypeVar("Out")

DUPLICATE = Skip("duplicate")
"""A record whose capture (same URL, time and payload) an earlier file, or an earlier place of this one, holds."""
LIMIT = Skip("limit")
"""A capture beyond `--limit`, and a revisit whose original goes no further."""

LOSSY_FLAGS = {name: FLAGS[name] for name in ("truncated", "damaged")}
"""The flags of pages whose record is cut or damaged, with what a person reads of them."""
_WORDLESS = (RejectReason.NO_TEXT, RejectReason.PARSER_FAILED)

Source = str | indexed_records.Places
"""The input of one task: a whole file, or some places that an index names."""


def fetches(source: Source, config: DbceConfig) -> Iterator[warc.RecordOutcome]:
    """Iterate over the records of one source, in its order."""
    if isinstance(source, str):
        refusal, opened = indexed_records.refusal(config.select), partial(open_file, config=config.fetch)
        return warc.read(source, config.input, config.page.max_html_bytes, refusal, opened)
    return indexed_records.read(source, config)


def losses(source: Source, rejects: Sequence[Reject]) -> list[failed_files.Loss]:
    """List what was lost of a source, by all its rejects."""
    if not isinstance(source, str):
        return indexed_records.losses(rejects)
    lost = failed_files.file_loss(source, rejects, sources.size)
    return [] if lost is None else [lost]


KeepHtml = Callable[[bytes], object]
"""Keeps the HTML of a page in UTF-8."""


def ignore(_: warc.Fetch | bytes) -> None:
    """Do nothing with a fetched capture, or with its HTML."""


def read(
    source: Source, config: DbceConfig, on_fetch: Callable[[warc.Fetch], None] = ignore
) -> Iterator[Page | Revisit | Reject | Skip]:
    """Read every record of one source, in its order; but fetched captures wait until some are parsed together, and
    other records pass them.

    `on_fetch` is called with each fetched capture, for callers that need more of it than its page.
    """
    batch: list[warc.Fetch] = []
    held = 0
    for found in fetches(source, config):
        if not isinstance(found, warc.Fetch):
            yield found
            continue
        on_fetch(found)
        batch.append(found)
        held += len(found.html)
        if len(batch) == TOGETHER.pages or held > HTML_TOGETHER:
            yield from parsed_pages(batch, config)
            batch, held = [], 0
    yield from parsed_pages(batch, config)


def read_sources(
    sources: Iterable[Source], config: DbceConfig, on_fetch: Callable[[warc.Fetch], None]
) -> tuple[list[Page | Revisit | Reject | Skip], list[failed_files.Loss]]:
    """Read every record of some sources, and list what was lost of them."""
    records: list[Page | Revisit | Reject | Skip] = []
    lost: list[failed_files.Loss] = []
    for source in sources:
        of_source = [*read(source, config, on_fetch)]
        lost += losses(source, [one for one in of_source if isinstance(one, Reject)])
        records += of_source
    return records, lost


def parse_fetches(fetches: Sequence[warc.Fetch], config: DbceConfig) -> list[Page | Reject]:
    """Parse fetched captures to pages, in their order. A page does not depend on the captures beside it."""
    return [*parsed_pages(fetches, config)]


def parsed_pages(
    fetches: Iterable[warc.Fetch], config: DbceConfig, keep_html: KeepHtml = ignore
) -> Iterator[Page | Reject]:
    """Parse fetched captures as `parse_fetches` does, and hold no more of them than are looked at together.

    `keep_html` is called with the HTML of each page before the page comes.
    """
    parse, build = partial(_parse_each, config=config.page), partial(_build_together, config=config)
    parsed = ((fetch, spared(parse, [fetch], _page_reject)[0]) for fetch in fetches)
    for lot in cut_lots(parsed, lambda one: blocks_of(one[1]), TOGETHER):
        outcomes = spared(build, lot, lambda one, error: _page_reject(one[0], error))
        for (_, made), outcome in zip(lot, outcomes, strict=True):
            if isinstance(outcome, Page) and isinstance(made, Parsed):
                keep_html(made.html)
            yield outcome


def _page_reject(fetch: warc.Fetch, error: Exception) -> Reject:
    return failed(fetch.capture, RejectStage.PAGE, error)


def failed(page: Placed, stage: RejectStage, error: Exception) -> Reject:
    """Make the reject of a page whose stage took too long, or raised what none should."""
    if isinstance(error, OutOfTime):
        return Reject.of_record(page, stage, RejectReason.PAGE_TIMEOUT, str(error))
    return Reject.of_record(page, stage, RejectReason.PAGE_FAILED, f"{type(error).__name__}: {error}"[:300])


def spared(
    work: Callable[[Sequence[In]], Sequence[Out]], many: Sequence[In], reject: Callable[[In, Exception], Reject]
) -> list[Out | Reject]:
    """Do work on several at once; where that fails, on each alone, so that one that fails costs no other.

    Raises:
        DbceError: the work raised it: it is about the run, not about a page.
        MemoryError, OSError of a full disk: the work raised it: it is about the machine. A process that can be spared
            tries again.
    """
    try:
        return [*work(many)]
    except (DbceError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and is_full(error):
            raise
        if len(many) == 1:
            return [reject(many[0], error)]
        return [outcome for one in many for outcome in spared(work, [one], reject)]


def _build_together(lot: Sequence[tuple[warc.Fetch, Parsed | Reject]], config: DbceConfig) -> list[Page | Reject]:
    good = [parsed for _, parsed in lot if isinstance(parsed, Parsed)]
    features: list[BlockFeatures | None] = [None] * len(good)
    if config.label.by == "classifier" and good:
        features = [*load_classifier(config.label.classifier).block_features(good)]
    features_of_good = iter(features)
    return [
        parsed if isinstance(parsed, Reject) else build_page(fetch, parsed, next(features_of_good), config)
        for fetch, parsed in lot
    ]


def parse_fetch(fetch: warc.Fetch, config: DbceConfig) -> Page | Reject:
    """Parse one fetched capture to a page."""
    return parse_fetches([fetch], config)[0]


def _parse_each(fetches: Sequence[warc.Fetch], config: PageConfig) -> list[Parsed | Reject]:
    return [_parse(fetch, config) for fetch in fetches]


def _parse(fetch: warc.Fetch, config: PageConfig) -> Parsed | Reject:
    try:
        return page.parse(fetch.html, fetch.capture.declared_charset, config, fetch.capture.url)
    except PageError as error:
        lossy = (LOSSY_FLAGS[flag] for flag in sorted(_record_flags(fetch) & LOSSY_FLAGS.keys()))
        detail = "; ".join([str(error), *(lossy if error.reason in _WORDLESS else ())])
        return Reject.of_record(fetch.capture, RejectStage.PAGE, error.reason, detail)


def _record_flags(fetch: warc.Fetch) -> set[str]:
    """Return the flags that a page has from its record."""
    return {*map(str, fetch.defects), *(["truncated"] if fetch.capture.truncated else [])}


def build_page(fetch: warc.Fetch, parsed: Parsed, features: BlockFeatures | None, config: DbceConfig) -> Page:
    """Build a page from its parsed HTML.

    A page with too few shingles or too many tokens has no signature; its `flags` name the reason.
    """
    capture = fetch.capture
    shingles = TOKENISERS[config.template.tokens](parsed.tree)
    flags = {*parsed.flags, *_record_flags(fetch)}
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
        features=features,
    )


def unique(pages: Iterable[Page]) -> list[Page]:
    """Choose one page a capture, the first that comes; sort them by capture id."""
    first: dict[str, Page] = {}
    for one in pages:
        first.setdefault(one.capture_id, one)
    return [first[capture_id] for capture_id in sorted(first)]
