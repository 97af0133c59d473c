"""Run the whole stream in lists and dicts: the rows that the job on Spark must give, however it divides the work."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import pages
from dbce_spark.html.charset import decode
from dbce_spark.model import Page, Reject
from dbce_spark.streaming.stream.arrival import Arrival, PageAndHtml, Row, make_arrival
from dbce_spark.streaming.stream.outcomes import LABELS, LATE_LABELS, REJECTS, REPEATS, DomainState, build_rows
from dbce_spark.streaming.stream.stream_method import StreamMethod, stream_method
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig


def run(
    files: Sequence[str],
    config: DbceConfig,
    tree: UrlTreeConfig,
    primed: Mapping[str, bytes] = MappingProxyType({}),
) -> dict[str, list[Row]]:
    """Read files in this order, and return the rows of each table. `primed`: the states that domains begin with."""
    tables: dict[str, list[Row]] = {LABELS: [], LATE_LABELS: [], REPEATS: [], REJECTS: []}
    method = stream_method(config, tree)
    states: dict[str, DomainState] = {name: method.restore(state) for name, state in primed.items()}
    htmls: dict[str, bytes] = {}

    def keep_html(fetch: Fetch) -> None:
        if config.formats.need_html:
            htmls[fetch.capture.capture_id] = decode(fetch.html, fetch.capture.declared_charset).html

    for file_no, path in enumerate(files):
        found = [*pages.read(path, method.reading_config, keep_html)]
        tables[REJECTS] += [reject_row(result, file_no) for result in found if isinstance(result, Reject)]
        of_domain: dict[str, list[Arrival]] = defaultdict(list)
        came = ((one, htmls.get(one.capture_id)) for one in found if isinstance(one, Page))
        for arrival in make_arrivals(came, file_no, 0, tree, method):
            of_domain[arrival.domain].append(arrival)
        for name, arrivals in of_domain.items():
            state = states.setdefault(name, method.begin(name))
            for table, row in build_rows(arrivals, state, config):
                tables[table].append(row)
    return tables


def make_arrivals(
    came: Iterable[PageAndHtml], file_no: int, first_row: int, tree: UrlTreeConfig, method: StreamMethod
) -> Iterable[Arrival]:
    """Make arrivals of pages of a file, which are numbered from `first_row` on."""
    numbered = enumerate(came, first_row)
    return (make_arrival(one, file_no, row_no, tree, method.pack_blocks) for row_no, one in numbered)


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
