"""Rows as documents."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dbce_spark.export.documents import METADATA, documents, moment
from tests.support.exports import exported, extractions, lines, written
from tests.support.sample_output import SMILES, rows

NOON = datetime(2014, 1, 28, 12, tzinfo=UTC)
ROW = {
    "capture_id": "a",
    "text": "Main 😀",
    "page_text": "All",
    "timestamp": NOON,
    "first_seen": NOON.replace(year=2013),
}


def test_a_document_has_the_fields_of_dolma() -> None:
    """Id, text and source, when it was fetched and when it was first seen, and all metadata, known or not."""
    (line,) = documents(extractions(ROW), text="text", source="web", version="1")
    document = json.loads(line)

    assert ["id", "text", "source", "added", "created", "version", "metadata"] == list(document)
    assert ("a", "Main 😀", "web", "1") == tuple(document[name] for name in ("id", "text", "source", "version"))
    assert ("2014-01-28T12:00:00Z", "2013-01-28T12:00:00Z") == (document["added"], document["created"])
    assert set(METADATA) == set(document["metadata"])
    assert '"text":"Main 😀",'.encode() in line  # as itself: escapes would be three times as long
    assert b"\n" == line[-1:]


def test_formats_that_the_run_wrote_are_beside_the_text() -> None:
    """A page without one of them has no key for it."""
    about = dict.fromkeys(("title", "date", "description", "site_name", "image", "license"), "")
    row = ROW | {"markdown": "# Main", "about": {**about, "author": "Anna Holm", "tags": ["a"], "found_in": []}}
    (line,) = documents(extractions(row), text="text", source="web", version="1")
    document = json.loads(line)

    assert ["id", "text", "markdown", "about", "source", "added", "created", "version", "metadata"] == list(document)
    assert ("# Main", "Anna Holm", ["a"]) == (
        document["markdown"], document["about"]["author"], document["about"]["tags"],
    )  # fmt: skip


def test_what_a_page_says_of_its_date_comes_first() -> None:
    """A page that declares when it was published was created then."""
    (line,) = documents(extractions(ROW | {"published": NOON.replace(year=2009)}), text="text", source="", version="")

    assert "2009-01-28T12:00:00Z" == json.loads(line)["created"]


def test_scores_are_written_as_they_were_meant() -> None:
    """A score in thousandths has three digits, not those of the float that is nearest to it."""
    (line,) = documents(
        extractions(ROW | {"language_score": 0.123, "confidence": 0.987}), text="text", source="", version=""
    )

    assert b'"language_score":0.123,' in line
    assert b'"confidence":0.987,' in line


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (NOON, "2014-01-28T12:00:00Z"),
        (NOON.replace(microsecond=5000), "2014-01-28T12:00:00.005000Z"),
        (NOON.replace(year=987), "0987-01-28T12:00:00Z"),
        (None, None),
    ],
)
def test_times_are_those_of_rfc_3339(time: datetime | None, expected: str | None) -> None:
    """Four digits of a year, a fraction where there is one, and nothing for nothing."""
    assert expected == moment(time)


def test_each_row_is_a_document(extracted: Path, tmp_path: Path) -> None:
    """The main text of each row is the text of one document, with the row's values beside it."""
    files = written(exported(extracted, tmp_path / "out", "jsonl"))
    found = [line for name, data in files.items() if name != "export.json" for line in lines(data)]
    by_id = {row["capture_id"]: row for row in rows(extracted, "extractions", ["capture_id", "text", *METADATA])}
    plain = [
        name
        for name in METADATA
        if name not in ("published", "modified", "first_seen", "last_seen", "language_score", "confidence")
    ]

    assert len(by_id) == len(found)
    for one in found:
        row = by_id.pop(one["id"])
        assert row["text"] == one["text"]
        assert [row[name] for name in plain] == [one["metadata"][name] for name in plain]
    assert [SMILES] == [one["metadata"]["url"] for one in found if "𝔘nfug 🤷" in one["text"]]
