"""The map over files: every record of a file to a page with its signature, a reject, or skipped."""

from collections.abc import Iterable, Iterator

import numpy as np

from dbce_spark import page, warc
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.shingles import TOKENISERS
from dbce_spark.dbce.signature import bands, sign
from dbce_spark.model import Page
from dbce_spark.rejects import Reason, Reject, Skip, Stage

DUPLICATE = Skip("duplicate")
"""A record whose capture (same URL, time and payload) an earlier file, or an earlier place of this one, holds."""


def read(path: str, config: DbceConfig) -> Iterator[Page | Reject | Skip]:
    """Every record of one file, in its order."""
    for found in warc.read(path, config.input, config.page.max_html_bytes):
        yield page_of(found, config) if isinstance(found, warc.Fetch) else found


def page_of(fetch: warc.Fetch, config: DbceConfig) -> Page | Reject:
    """A fetched capture as a page.

    One with too few shingles or too many tokens has no signature, and `flags` says so.
    """
    capture = fetch.capture
    try:
        parsed = page.parse(fetch.html, capture.declared_charset, config.page)
    except page.NoText as error:
        return _reject(fetch, Reason.NO_TEXT, error)
    except page.PageError as error:
        return _reject(fetch, Reason.PARSER_FAILED, error)
    shingles = TOKENISERS[config.template.tokens](parsed.tree)
    flags = {*parsed.flags, *(["truncated"] if capture.truncated else [])}
    if len(shingles) < config.template.min_shingles:
        flags.add("few_shingles")
    signature = None if flags & {"few_shingles", "too_many_tokens"} else sign(shingles, config.lsh)
    threshold = config.lsh.threshold_of(capture.site)
    return Page(
        capture_id=capture.capture_id,
        capture=capture,
        charset=parsed.charset,
        charset_source=parsed.charset_source,
        title=parsed.title,
        flags=tuple(sorted(flags)),
        blocks=parsed.blocks,
        signature=signature,
        bands=np.empty(0, np.uint64) if signature is None else bands(signature, threshold),
    )


def _reject(fetch: warc.Fetch, reason: Reason, error: Exception) -> Reject:
    return Reject(
        warc_file=fetch.capture.warc_file,
        warc_offset=fetch.capture.warc_offset,
        record_id=fetch.capture.record_id,
        url=fetch.capture.url,
        stage=Stage.PAGE,
        reason=reason,
        detail=str(error),
    )


def unique(pages: Iterable[Page]) -> list[Page]:
    """One page a capture: the first by file and offset. In order of capture id."""
    first: dict[str, Page] = {}
    for one in sorted(pages, key=lambda one: (one.capture.warc_file, one.capture.warc_offset)):
        first.setdefault(one.capture_id, one)
    return [first[capture_id] for capture_id in sorted(first)]
