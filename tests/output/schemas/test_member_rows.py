"""The features of pages that others are compared with are restored from rows."""

import pyarrow as pa

from dbce_spark.dbce import pools
from dbce_spark.output.schemas import member_rows, page_rows
from dbce_spark.output.schemas.codec import BINARY, fields
from tests.support.sample_rows import LOOKED_AT, plain, staged


def test_page_features_come_back() -> None:
    """Page features are restored from the columns that travel."""
    rows = staged(LOOKED_AT, [None] * len(LOOKED_AT))
    words = [page_rows.cut_words(packed) for packed in rows.column("block_numbers").to_pylist()]
    table = pa.table(
        {name: rows.column(name) for name in ("capture_id", "url_key", "first_scores", "keys")}
        | {"timestamp": rows.column("timestamp").cast(pa.int64()), "block_words": pa.array(words, pa.binary())}
    )
    expected = [plain(pools.page_features(one)) for one in LOOKED_AT]
    actual = [plain(one) for one in member_rows.page_features_from(table)]

    assert expected == actual


def test_no_rows_are_no_pages() -> None:
    """No page is restored where nothing is compared."""
    schema = pa.schema([*member_rows.EVIDENCE_PAGES, *fields(tokens=BINARY)])

    assert member_rows.neighbours_from(schema.empty_table()) == []
