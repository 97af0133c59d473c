"""The numbers of a report are those of the tables."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from dbce_spark.report import grouped_sums, output_counts, reject_examples
from dbce_spark.report import report_output as outputs
from dbce_spark.report.overview import overview
from dbce_spark.report.report_output import ReportOutput


def rows_of(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = ds.dataset(str(folder / "extractions")).to_table().to_pylist()
    return rows


def characters(rows: list[dict[str, Any]], label: str) -> int:
    segments = [segment for row in rows for segment in row["segments"] if segment["label"] == label]
    return sum(segment["end"] - segment["start"] for segment in segments)


@pytest.mark.parametrize("batch_rows", [1, 3, 8192])
def test_sums_are_those_of_the_rows(finished: Path, monkeypatch: pytest.MonkeyPatch, batch_rows: int) -> None:
    """Counted in batches of any size, captures, words and characters by label are the sums over the rows."""
    monkeypatch.setattr(outputs, "BATCH_ROWS", batch_rows)
    monkeypatch.setattr(grouped_sums, "CONSOLIDATE", 2)
    rows = rows_of(finished)
    counted = output_counts.count(ReportOutput(str(finished)))
    expected = {
        "captures": len(rows),
        "unsure": 0,
        "words": sum(row["words"] for row in rows),
        "text_words": sum(row["text_words"] for row in rows),
        **{label: characters(rows, label) for label in ("content", "boilerplate", "undecided")},
    }
    assert expected == {name: counted.total(name) for name in output_counts.SUMS}
    assert min(summed for name, summed in expected.items() if name != "unsure") > 0


def test_doubtful_pages_are_counted(finished: Path) -> None:
    """Pages with a low confidence are; a page that bit patterns labelled has none."""
    paths = sorted((finished / "extractions").rglob("*.parquet"))
    for path in paths:
        table = pq.ParquetFile(path).read()
        given = pa.array(([0.2, output_counts.UNSURE, None] * len(table))[: len(table)], pa.float32())
        pq.write_table(table.set_column(table.column_names.index("confidence"), "confidence", given), path)
    expected = sum(row["confidence"] is not None and row["confidence"] < 0.5 for row in rows_of(finished))

    assert 0 < expected == output_counts.count(ReportOutput(str(finished))).total("unsure")


def test_sums_take_no_memory_but_for_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory grows with the keys alone, however many batches are summed up."""
    monkeypatch.setattr(grouped_sums, "CONSOLIDATE", 10)
    grouped = grouped_sums.GroupedSums(["site"], ["n"])
    for _ in range(100):
        grouped.add(pa.table({"site": ["a", "b", "a"], "n": [1, 2, 3]}))
    assert [("a", 400), ("b", 200)] == sorted(zip(*grouped.table().to_pydict().values(), strict=True))
    assert grouped.rows_held <= 12


def test_many_keys_are_summed_up_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more keys than rows are held, each further batch had all of them summed anew."""
    monkeypatch.setattr(grouped_sums, "CONSOLIDATE", 10)
    grouped = grouped_sums.GroupedSums(["url"], ["n"])
    times = 0
    for at in range(200):
        grouped.add(pa.table({"url": [f"{at}"], "n": [1]}))
        times += len(grouped._parts) == 1

    assert times < 10
    assert 200 == len(grouped.table())


def test_charsets_and_flags_are_counted(finished: Path) -> None:
    """Charsets, their sources and flags are counted over all rows."""
    rows = rows_of(finished)
    counted = output_counts.count(ReportOutput(str(finished)))
    assert Counter((row["charset"], row["charset_source"]) for row in rows) == counted.charsets
    assert Counter(flag for row in rows for flag in row["flags"]) == counted.flags


def test_groups_are_sites_with_their_distinct_urls(finished: Path) -> None:
    """A site's captures and distinct URLs differ where a URL was captured twice."""
    source = ReportOutput(str(finished))
    summary = overview(source, output_counts.count(source), [])
    expected = [("large.example", 7, 6, 7), ("small.example", 3, 3, 3), ("lone.example", 1, 1, 0)]
    assert expected == [(site["site"], site["captures"], site["urls"], site["crossed"]) for site in summary.sites]


def test_all_records_have_an_outcome(finished: Path) -> None:
    """Extractions, rejects and skipped add up to the records read, and a record too many is missed."""
    source = ReportOutput(str(finished))
    counted = output_counts.count(source)
    assert overview(source, counted, []).balance.missing == 0
    run = json.loads((finished / "run.json").read_text())
    (finished / "run.json").write_text(json.dumps(run | {"records_read": run["records_read"] + 1}))
    assert overview(ReportOutput(str(finished)), counted, []).balance.missing == 1


def test_rejects_are_counted_with_their_first_examples(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every reject is counted by its reason and the first of each reason are given as examples."""
    monkeypatch.setattr(reject_examples, "EXAMPLES", 1)
    listed = reject_examples.read(ReportOutput(str(finished))).listed()
    assert [("no_text", 1, ["http://large.example/blank"])] == [
        (entry["reason"], entry["count"], [example["url"] for example in entry["examples"]]) for entry in listed
    ]


def test_an_empty_output_has_zeros(tmp_path: Path) -> None:
    """An output without rows is counted as one."""
    (tmp_path / "extractions").mkdir()
    (tmp_path / "run.json").write_text('{"extractions": 0}')
    counted = output_counts.count(ReportOutput(str(tmp_path)))
    assert counted.total("captures") == 0
    assert counted.total("captures", status="crossed") == 0
