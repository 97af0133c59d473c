"""Define the table `extractions`: one row per labelled page."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from dbce_spark.dbce.kept.kept_formats import Formats
from dbce_spark.html.language import Language
from dbce_spark.html.tokens import token_counts
from dbce_spark.model import Extraction, Page, Seen, text_hash
from dbce_spark.output.schemas.capture_columns import CAPTURE, capture_columns
from dbce_spark.output.schemas.codec import INT, STRING, TIME, attributes, encode, fields, lists
from dbce_spark.output.schemas.cross_rows import CROSS, crosses_batch
from dbce_spark.output.schemas.format_columns import FORMATS
from dbce_spark.output.schemas.segment_rows import SEGMENT, segments_column

EXTRACTIONS = pa.schema(
    [
        *[field for field in CAPTURE if field.name not in ("declared_digest", "declared_charset", "truncated")],
        *fields(
            first_seen=TIME,
            last_seen=TIME,
            revisits=INT,
            status=STRING,
            template_id=STRING,
            crosses=pa.list_(pa.struct(CROSS)),
            segments=pa.list_(pa.struct(SEGMENT)),
            text=STRING,
            confidence=pa.float32(),
            page_type=STRING,
            language=STRING,
            language_score=pa.float32(),
            page_text=STRING,
            blocks=INT,
            words=INT,
            text_words=INT,
            annotated_html=STRING,
        ),
        *FORMATS,
        *fields(site_part=INT),
    ]
)


def site_part(site: str, site_parts: int) -> int:
    """Compute the number of the folder `site_part=N` that holds a site's rows."""
    return text_hash(site) % site_parts


def extractions_batch(
    extractions: Sequence[Extraction],
    languages: Sequence[Language],
    formats: Sequence[Formats],
    site_parts: int,
    seen: Mapping[str, Seen] = MappingProxyType({}),
) -> pa.RecordBatch:
    """Store extractions as EXTRACTIONS rows.

    `languages` are those of their texts, `formats` what the run writes of them beside the text. `seen` has the capture
    ids of those that were revisited.
    """
    pages = [extraction.page for extraction in extractions]
    crosses = crosses_batch([cross for one in extractions for cross in one.crosses])
    return encode(
        EXTRACTIONS,
        extractions,
        **capture_columns(pages),
        **_seen_columns(pages, seen),
        crosses=lists([extraction.crosses for extraction in extractions], crosses.to_struct_array()),
        segments=segments_column(extractions),
        language=[language.tag for language in languages],
        language_score=[language.score for language in languages],
        page_text=[page.blocks.text for page in pages],
        blocks=[len(page.blocks) for page in pages],
        words=[int(page.blocks.words.sum()) for page in pages],
        text_words=token_counts([extraction.text for extraction in extractions]),
        **attributes(formats, ("annotated_html", "markdown", "html")),
        about=[None if one.about is None else asdict(one.about) for one in formats],
        site_part=[site_part(page.capture.site, site_parts) for page in pages],
    )


def _seen_columns(pages: Sequence[Page], seen: Mapping[str, Seen]) -> dict[str, Any]:
    once = [Seen(first=page.capture.timestamp, last=page.capture.timestamp, revisits=0) for page in pages]
    found = [seen.get(page.capture_id, one) for page, one in zip(pages, once, strict=True)]
    return {
        "first_seen": [one.first for one in found],
        "last_seen": [one.last for one in found],
        "revisits": [one.revisits for one in found],
    }
