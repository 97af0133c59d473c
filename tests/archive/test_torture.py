"""Read 312 real archives, most of them broken, and compare with tests/data/archives.json, a row each.

`python -m tests.archive.test_torture` writes the rows anew. docs/archives.md lists where warcio and FastWARC give
something else, and which of them is right.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbce_spark.archive import warc
from dbce_spark.archive.records import Cause, Damage, Limits, Record, records
from dbce_spark.files.sources import open_binary
from dbce_spark.model import Reject, Revisit, Skip
from tests.support.builders import CONFIG

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TABLE = Path(__file__).parents[1] / "data" / "archives.json"
FOLDERS = ("torture", "warc")

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not (DATA / "torture").is_dir(), reason="../shared/data is not here"),
]


def names() -> list[str]:
    """List the archives by their paths below ../shared/data. CDX files of their own are no archives."""
    files = (file for folder in FOLDERS for file in (DATA / folder).rglob("*") if file.is_file())
    return sorted(str(file.relative_to(DATA)) for file in files if "/cdx/" not in str(file))


def row(path: Path) -> dict[str, Any]:
    """Make a file's row: counts and bytes, nothing of its content."""
    with open_binary(str(path)) as stream:
        found = list(records(stream, Limits.from_config(CONFIG.input)))
    kinds = Counter(one.kind for one in found if isinstance(one, Record))
    causes = Counter(str(one.cause) for one in found if isinstance(one, Damage))
    passed: Counter[str] = Counter()
    for one in found:
        if isinstance(one, Damage):
            passed[str(one.cause)] += one.length
    outcomes = Counter(_outcomes(path))
    return {
        "records": dict(sorted(kinds.items())),
        "damages": {cause: [causes[cause], passed[cause]] for cause in sorted(causes)},
        "outcomes": dict(sorted(outcomes.items())),
    }


def _outcomes(path: Path) -> Iterator[str]:
    for one in warc.read(str(path), CONFIG.input, CONFIG.page.max_html_bytes):
        if isinstance(one, Reject):
            yield f"reject:{one.reason}"
        elif isinstance(one, Revisit):
            yield "revisit"
        else:
            yield f"skip:{one.filter}" if isinstance(one, Skip) else "capture"


def table() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(TABLE.read_text())
    return content


def test_every_file_has_its_row() -> None:
    """No archive is without a row, no row without its archive."""
    assert names() == sorted(table())


@pytest.mark.parametrize("name", names())
def test_file(name: str) -> None:
    """Records by kind, damages with the bytes passed over, captures, rejects and skips of a file are those written
    down."""
    expected = table()[name]
    actual = row(DATA / name)

    assert expected == actual


@pytest.mark.parametrize("name", names())
def test_account(name: str) -> None:
    """Records and damages lie side by side from a file's first byte to its last."""
    path = DATA / name
    at: Counter[str] = Counter()
    with path.open("rb") as stream:
        for one in records(stream, Limits.from_config(CONFIG.input)):
            if isinstance(one, Record) or one.cause is not Cause.BESIDE:
                assert (at[one.within], True) == (one.offset, one.length >= 0)
                at[one.within] += one.length

    is_zip = any(at)  # the files of one are accounted for by themselves
    assert is_zip or at[""] == path.stat().st_size


if __name__ == "__main__":
    rows = {name: row(DATA / name) for name in names()}
    lines = [f"{json.dumps(name)}: {json.dumps(one, sort_keys=True)}" for name, one in rows.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
