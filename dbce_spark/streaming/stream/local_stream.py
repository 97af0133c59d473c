"""Run the whole stream in lists and dicts: the rows that the job on Spark must give, however it divides the work."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import pages
from dbce_spark.model import Page, Reject
from dbce_spark.streaming.stream.arrival import Arrival, Row, of_page
from dbce_spark.streaming.stream.domain import LABELS, LATE_LABELS, REPEATS, Domain, rows
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

REJECTS = "rejects"


def run(files: Sequence[str], config: DbceConfig, tree: UrlTreeConfig) -> dict[str, list[Row]]:
    """Read files in this order, and return the rows of each table."""
    tables: dict[str, list[Row]] = {LABELS: [], LATE_LABELS: [], REPEATS: [], REJECTS: []}
    domains: dict[str, Domain] = {}
    for file_no, path in enumerate(files):
        found = [*pages.read(path, parsing(config))]
        tables[REJECTS] += [of_reject(one, file_no) for one in found if isinstance(one, Reject)]
        for arrival in arrivals((one for one in found if isinstance(one, Page)), file_no, tree):
            domain = domains.setdefault(arrival.domain, Domain(arrival.domain, tree))
            for table, row in rows([arrival], domain):
                tables[table].append(row)
    return tables


def arrivals(found: Iterable[Page], file_no: int, tree: UrlTreeConfig) -> Iterable[Arrival]:
    """Make arrivals of the pages of a file."""
    return (of_page(one, file_no, row_no, tree) for row_no, one in enumerate(found))


def parsing(config: DbceConfig) -> DbceConfig:
    """Return the parameters with which pages are read: no classifier looks at them."""
    return replace(config, label=replace(config.label, by="T002"))


def of_reject(one: Reject, file_no: int) -> Row:
    """Turn a reject into a row."""
    return {
        "warc_file": one.warc_file,
        "warc_offset": one.warc_offset,
        "record_id": one.record_id,
        "url": one.url,
        "stage": str(one.stage),
        "reason": str(one.reason),
        "detail": one.detail,
        "file_no": file_no,
    }
