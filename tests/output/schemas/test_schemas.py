"""The schemas: what is documented, and what is on disk."""

import re
from pathlib import Path

import pyarrow as pa

from dbce_spark.model import KEY_ROWS
from dbce_spark.output.collection import FORMAT
from dbce_spark.output.schemas import (
    annotation_rows,
    capture_rows,
    comparison_rows,
    cross_rows,
    duplicate_rows,
    evidence_rows,
    extraction_rows,
    history_rows,
    increment_rows,
    member_rows,
    page_rows,
    place_rows,
    reject_rows,
    revisit_rows,
    stream_rows,
)
from dbce_spark.spark.run.plan import STAGING_VERSION
from dbce_spark.streaming.stream import stream_tables

DOCS = Path(__file__).parents[3] / "docs" / "tables.md"
GOLDEN = Path(__file__).with_name("schemas.txt")
SCHEMAS = {
    "adjacent pages": cross_rows.ADJACENT_PAGES,
    "affected captures": comparison_rows.AFFECTED,
    "annotations": annotation_rows.ANNOTATIONS,
    "buckets": cross_rows.BUCKETS,
    "capture ids": capture_rows.CAPTURE_IDS,
    "capture names": revisit_rows.CAPTURE_NAMES,
    "captures": capture_rows.CAPTURES,
    "changes": history_rows.CHANGES,
    "claims": revisit_rows.CLAIMS,
    "crosses": cross_rows.BUCKET_CROSSES,
    "digests": increment_rows.DIGESTS,
    "dropped pages": page_rows.DROPPED,
    "duplicates": duplicate_rows.DUPLICATES,
    "evidence": evidence_rows.EVIDENCE,
    "evidence pages": member_rows.EVIDENCE_PAGES,
    "extractions": extraction_rows.EXTRACTIONS,
    "first texts": duplicate_rows.FIRSTS,
    "found revisits": revisit_rows.FOUND,
    "grown sites": comparison_rows.GROWN_SITES,
    "index entries": place_rows.ENTRIES,
    "keyed pages": stream_rows.KEYED_PAGES,
    "labels": stream_rows.LABELS,
    "large sites": comparison_rows.LARGE_SITES,
    "late labels": stream_rows.LATE_LABELS,
    "left revisits": revisit_rows.LEFT,
    "like texts": duplicate_rows.LIKES,
    "lives": history_rows.LIVES,
    "lost revisits": revisit_rows.LOST,
    "marks": duplicate_rows.MARKS,
    "matched revisits": revisit_rows.MATCHED,
    "members": member_rows.MEMBERS,
    "named buckets": cross_rows.NAMED_BUCKETS,
    "neighbours": member_rows.NEIGHBOURS,
    "page annotations": comparison_rows.PAGE_ANNOTATIONS,
    "page evidence": comparison_rows.PAGE_EVIDENCE,
    "pages": page_rows.PAGES,
    "payload outcomes": revisit_rows.PAYLOAD_OUTCOMES,
    "payloads": revisit_rows.PAYLOADS,
    "pieces": history_rows.HELD,
    "places": place_rows.PLACES,
    "pool members": comparison_rows.POOL_MEMBERS,
    "primed sites": stream_rows.PRIMED,
    "redesigns": history_rows.REDESIGNS,
    "rejects": reject_rows.REJECTS,
    "repeats": stream_rows.REPEATS,
    "revisit outcomes": revisit_rows.OUTCOMES,
    "revisits": revisit_rows.REVISITS,
    "settled texts": duplicate_rows.SETTLED,
    "shared revisits": revisit_rows.SHARED,
    "steps": history_rows.STEPS,
    "stream messages": stream_rows.STREAM,
    "superseded": increment_rows.SUPERSEDED,
    "text members": duplicate_rows.TEXT_MEMBERS,
    "texts": duplicate_rows.TEXTS,
    "unlabelled pages": reject_rows.UNLABELLED,
    "wanted names": revisit_rows.WANTED,
}

ON_DISK: dict[str, dict[str, object]] = {
    "versions": {"collections": FORMAT, "staging": STAGING_VERSION, "streams": stream_tables.VERSION},
    "packed columns of pages": {
        "block_numbers": " ".join([page_rows.NUMBER.str, *page_rows.BLOCK_NUMBERS]),
        "units": " ".join([page_rows.NUMBER.str, *page_rows.UNIT_NUMBERS]),
        "holders": page_rows.NUMBER.str,
        "first_scores": page_rows.FIRST_SCORE.str,
        "keys": f"{page_rows.KEY.str} in {len(KEY_ROWS)} rows",
        "tokens": page_rows.HASH.str,
        "signature": page_rows.SIGNATURE.str,
    },
}
"""What the golden file has above the schemas, so that a diff of it shows a column that changed without its version."""


def documented(heading: str) -> list[str]:
    """List the names in the first column of a table of docs/tables.md."""
    text = DOCS.read_text(encoding="utf-8").split(f"# {heading}\n", 1)[1].split("\n#", 1)[0]
    rows = re.findall(r"^\| ([a-z_, ]+?) \|", text, re.MULTILINE)
    return [name for row in rows for name in row.split(", ") if name not in ("column", "field")]


def test_documentation_names_every_column() -> None:
    """docs/tables.md lists the columns of all tables, in their order."""
    segment = extraction_rows.EXTRACTIONS.field("segments").type.value_type

    assert extraction_rows.EXTRACTIONS.names == documented("extractions")
    assert [segment.field(at).name for at in range(segment.num_fields)] == documented("segments")
    assert duplicate_rows.DUPLICATES.names == documented("duplicates")
    assert capture_rows.CAPTURES.names == documented("captures")
    assert reject_rows.REJECTS.names == documented("rejects")
    assert history_rows.STEPS.names == documented("steps")
    assert history_rows.CHANGES.names == documented("changes")
    assert history_rows.LIVES.names == documented("lives")
    assert history_rows.REDESIGNS.names == documented("redesigns")
    assert stream_rows.LABELS.names == documented("labels")
    assert stream_rows.LATE_LABELS.names == documented("late_labels")
    assert stream_rows.REPEATS.names == documented("repeats")


def test_schemas_are_nullable_throughout() -> None:
    """Spark writes nullable columns; a schema that promised more would break the files."""
    for schema in SCHEMAS.values():
        assert isinstance(schema, pa.Schema)
        assert all(field.nullable for field in schema)


def test_schemas_on_disk_are_those_of_earlier_versions() -> None:
    """Columns, their order and types, and what is packed in them; a change breaks the reading of what is there, and
    needs a new version."""
    kinds: dict[str, dict[str, object]] = {
        name: {field.name: field.type for field in schema} for name, schema in SCHEMAS.items()
    }
    written = "\n".join(
        f"{name}\n" + "".join(f"  {part}: {of}\n" for part, of in parts.items())
        for name, parts in (ON_DISK | kinds).items()
    )

    assert GOLDEN.read_text(encoding="utf-8") == written
    assert all(schema.metadata is None for schema in SCHEMAS.values())
