"""Labelling of the rows of a stream's files, by PySpark's own tester of stateful processors: no Spark runs."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql.streaming.tws_tester import TwsTester

from dbce_spark import config
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.page_lots import LotSize
from dbce_spark.spark.jobs import stream_tasks
from dbce_spark.streaming.stream import local_stream, stream_parts
from dbce_spark.streaming.stream.stream_method import stream_method
from tests.support.builders import http, record
from tests.support.stream_files import as_table, file, tree

TREE = tree("relabel.support=5", "window.max_documents=9", "window.min_documents=2")
BY_TREE = config.load(settings=["stream.by=urltree"])
BY_DBCE = config.load(settings=["stream.by=dbce", "stream.pool_pages=7", "stream.relabel_pages=[2, 5]"])
LOST = (record(http("<p></p>"), url="http://www.a.org/empty.html"), b"no record at all")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Three files of two domains that repeat pages of each other."""
    return [
        file(
            tmp_path / f"{number}.warc",
            [(domain, 4 * number + at) for at in range(6) for domain in ("a.org", "b.org")],
            *LOST,
        )
        for number in range(3)
    ]


def read(path: str, file_no: int, by: DbceConfig = BY_TREE) -> pd.DataFrame:
    found: pd.DataFrame = pa.Table.from_batches([*stream_tasks.read_file(path, file_no, by, TREE)]).to_pandas()
    return found


@pytest.mark.parametrize("by", [pytest.param(BY_TREE, id="urltree"), pytest.param(BY_DBCE, id="dbce")])
def test_rows_are_those_of_plain_python_in_whatever_order_they_come(files: list[str], by: DbceConfig) -> None:
    """A batch hands a domain's pages over in any order; rejects and counts go past the state."""
    tester = TwsTester(stream_tasks.Labelling(stream_method(by, TREE)))
    rows: dict[str, list[Any]] = defaultdict(list)
    for batch in (files[:2], files[2:]):
        frames = [read(path, files.index(path), by) for path in batch]
        shuffled = pd.concat(frames).sample(frac=1, random_state=1)
        for domain, own in shuffled.groupby("domain"):
            made = tester.testInPandas(domain, own)
            for table, packed, fields in zip(made["table"], made["packed_row"], made["fields"], strict=True):
                rows[table].append(stream_tasks.row_of(table, packed, fields, by))
    expected = local_stream.run(files, by, TREE)

    assert all(expected.values())
    assert {name: as_table(name, expected[name]) for name in stream_parts.SCHEMAS} == {
        name: as_table(name, rows[name]) for name in stream_parts.SCHEMAS
    }


def test_rows_are_made_of_a_lot_of_pages_at_a_time(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """So many blocks at most; all of them, those of a table in their order."""
    tester = TwsTester(stream_tasks.Labelling(stream_method(BY_DBCE, TREE)))
    made = tester.testInPandas("a.org", read(files[0], 0, BY_DBCE).query("domain == 'a.org'"))
    sent = [*zip(made["table"], made["packed_row"], made["fields"], strict=True)]
    monkeypatch.setattr(stream_tasks, "TOGETHER", LotSize(64, 9))
    found = [*stream_tasks.table_rows(sent, BY_DBCE)]

    assert all(sum(len(row["blocks"]) for row in rows) <= 9 for _, rows in found)
    assert [(table, row["row_no"]) for table, rows in found for row in rows] == [
        (table, json.loads(fields)["row_no"]) for table, _, fields in sent
    ]
    assert 1 < len(found) < len(sent)


def test_the_counts_of_a_file_are_of_all_its_records(files: list[str]) -> None:
    """Records are captures, rejects and what was skipped."""
    (fields,) = (row["fields"] for row in read(files[0], 0).to_dict("records") if row["table"] == "counts")

    assert {"files": 1, "records": 14, "captures": 12, "rejects.no_text": 1, "rejects.broken_record": 1} == Counter(
        json.loads(fields)
    )
