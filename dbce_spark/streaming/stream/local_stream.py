"""Run the whole stream in lists and dicts: the rows that the job on Spark must give, however it divides the work."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import pages
from dbce_spark.model import Page, Reject
from dbce_spark.streaming.stream.arrival import Arrival, Row, make_arrival
from dbce_spark.streaming.stream.domain import LABELS, LATE_LABELS, REPEATS, Domain, build_rows
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

REJECTS = "rejects"


def run(files: Sequence[str], config: DbceConfig, tree: UrlTreeConfig) -> dict[str, list[Row]]:
    """Read files in this order, and return the rows of each table."""
    tables: dict[str, list[Row]] = {LABELS: [], LATE_LABELS: [], REPEATS: [], REJECTS: []}
    domains: dict[str, Domain] = {}
    for file_no, path in enumerate(files):
        found = [*pages.read(path, reading_config(config))]
        tables[REJECTS] += [reject_row(result, file_no) for result in found if isinstance(result, Reject)]
        for arrival in make_arrivals((result for result in found if isinstance(result, Page)), file_no, tree):
            domain = domains.setdefault(arrival.domain, Domain(arrival.domain, tree))
            for table, row in build_rows([arrival], domain):
                tables[table].append(row)
    return tables


def make_arrivals(pages: Iterable[Page], file_no: int, tree: UrlTreeConfig) -> Iterable[Arrival]:
    """Make arrivals of the pages of a file."""
    return (make_arrival(page, file_no, row_no, tree) for row_no, page in enumerate(pages))


def reading_config(config: DbceConfig) -> DbceConfig:
    """Return the parameters with which pages are read: no classifier looks at them."""
    return replace(config, label=replace(config.label, by="T002"))


def reject_row(reject: Reject, file_no: int) -> Row:
    """Turn a reject into a row."""
    return {
        "warc_file": reject.warc_file,
        "warc_offset": reject.warc_offset,
        "record_id": reject.record_id,
        "url": reject.url,
        "stage": str(reject.stage),
        "reason": str(reject.reason),
        "detail": reject.detail,
        "file_no": file_no,
    }
