"""All captures of one URL in a collection, told to a person."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dbce_spark import store, tables, timeline
from dbce_spark.collection import Collection, Increment, Version
from dbce_spark.errors import InputError

URL, KEY = "http://www.example.org/a", "org,example)/a"
CORRECTED = "On {} the council of the town has met and decided to build two new schools in the north."


def row(capture_id: str, day: int, extraction_id: str = "") -> dict[str, Any]:
    return {
        "capture_id": capture_id,
        "extraction_id": extraction_id or capture_id,
        "url_key": KEY,
        "timestamp": datetime(2026, 3, day, tzinfo=UTC),
    }


def segments(*blocks: tuple[str, str]) -> dict[str, Any]:
    """Blocks of one segment, each with its text and label."""
    found, start = [], 0
    for at, (text, label) in enumerate(blocks):
        end = start + len(text)
        found.append({"block": at, "start": start, "end": end, "label": label, "xpath": f"/p[{at + 1}]"})
        start = end + 1
    return {"page_text": "\n".join(text for text, _ in blocks), "segments": found}


def write(folder: str, table: str, schema: pa.Schema, *rows: dict[str, Any]) -> None:
    batch = pa.RecordBatch.from_pylist([*rows], schema=schema)
    store.write_parquet(f"{folder}/{table}/part-00000.parquet", schema, [batch])


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    """A page that is corrected, then fetched again as it was, then redesigned; and another page beside it."""
    of = Collection(str(tmp_path))
    folder = of.increment(1)
    old, new = (np.full(4, number, "<u4").tobytes() for number in (1, 2))
    write(
        folder,
        "extractions",
        tables.EXTRACTIONS,
        row("a", 1)
        | {"template_id": "t1"}
        | segments(("Menu", "boilerplate"), (CORRECTED.format("Monday"), "content")),
        row("b", 2)
        | {"template_id": "t1"}
        | segments(("Menu", "boilerplate"), (CORRECTED.format("Tuesday"), "content")),
        row("c", 4)
        | {"template_id": "t2"}
        | segments(("Home", "boilerplate"), (CORRECTED.format("Tuesday"), "content")),
        row("x", 9) | {"url_key": "org,example)/x"} | segments(("Other", "content")),
    )
    write(folder, "captures", tables.CAPTURES, row("a", 1), row("b", 2), row("r", 3, "b"), row("c", 4))
    known = [
        {"capture_id": name, "url_key": KEY, "signature": value}
        for name, value in zip("abc", (old, old, new), strict=True)
    ]
    write(folder, "members", tables.MEMBERS, *known)
    increment = Increment(number=1, page_files=0, captures=4, extractions=4, relabelled=0)
    of.commit(Version(number=1, made="", why="extract", increments=(increment,), settings={}))
    return of


def test_each_capture_is_a_moment(collection: Collection) -> None:
    """In order of time; a revisit holds what its original held, and the similarity is that of the templates."""
    line = timeline.moments(collection, collection.known(), URL)

    assert ["a", "b", "r", "c"] == [one.capture_id for one in line]
    assert line[1].pieces == line[2].pieces
    assert [-1.0, 1.0, 1.0, 0.0] == [one.similarity for one in line]


def test_what_a_person_reads(collection: Collection) -> None:
    """Changes of the content, word by word, captures that changed nothing as a number, and how long texts stood."""
    line = timeline.moments(collection, collection.known(), URL)
    told = timeline.text(URL, line, 0.5, everything=False, coloured=False)

    assert told == "\n".join(
        [
            f"{URL}: 4 captures, 2026-03-01 00:00 to 2026-03-04 00:00",
            "",
            "2026-03-02 00:00",
            "  ~ On [-Monday-] {+Tuesday+} the council of the town has met and decided to build two new schools in the"
            " north.",
            "",
            "unchanged in 1 more",
            "",
            "2026-03-04 00:00",
            "  template redesigned (0% of the one before): t1 to t2",
            "",
            "content: first seen, last seen, captures",
            f"  2026-03-01  2026-03-01     1  {CORRECTED.format('Monday')[:80]}, edited",
            f"  2026-03-02  2026-03-04     3  {CORRECTED.format('Tuesday')[:80]}",
        ]
    )


def test_boilerplate_is_told_when_it_is_asked_for(collection: Collection) -> None:
    """In colours where a terminal shows them."""
    line = timeline.moments(collection, collection.known(), URL)
    told = timeline.text(URL, line, 0.5, everything=True, coloured=True)

    assert "  = \033[31mMenu\033[0m\n    \033[32mHome\033[0m" in told
    assert "[-" not in told


def test_an_unknown_url_is_an_error(collection: Collection) -> None:
    """It says under which key it was looked for."""
    with pytest.raises(InputError, match=r"has no capture of http://example\.org/zzz \(as org,example\)/zzz\)"):
        timeline.moments(collection, collection.known(), "http://example.org/zzz")
