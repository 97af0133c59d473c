"""Pages and their extractions, which the tests of tables store and restore."""

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa

from dbce_spark.dbce import local
from dbce_spark.model import Extraction, Page
from dbce_spark.output.schemas import page_rows
from tests.support.builders import block_features, config, page

TEMPLATE = (
    "<html><head><title>Größe</title></head>"
    "<body><ul><li>{}</li></ul><h1>b</h1><p>c <a>d</a></p><div><b>e</b></div></body></html>"
)


CONFIG = config("label.by=T002")


PAGES = [
    page(TEMPLATE.format("日本 one"), "http://www.example.org/a", "1969-12-31T23:59:59.000001Z"),
    page("<p>few</p>", "http://www.example.org/b", truncated=True),
    page(TEMPLATE.format("two three"), "http://www.example.com/c"),
    page(TEMPLATE.format("two four"), "http://www.example.com/d"),
]


LOOKED_AT = [dataclasses.replace(one, features=block_features(one)) for one in PAGES]


def plain(value: Any) -> Any:
    """Convert dataclasses and arrays to values that can be compared."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value.tolist() if isinstance(value, np.ndarray) else value


def staged(pages: list[Page], htmls: list[bytes | None]) -> pa.RecordBatch:
    """Store pages as rows of the staged file 3, from its row 7 on."""
    return page_rows.pages_batch(pages, htmls, file_no=3, first_row=7)


def extracted() -> list[Extraction]:
    return local.extract_pages(PAGES, CONFIG)
