"""The merging of pages by the tasks of the job. No Spark is started."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbce_spark.config import FormatsConfig
from dbce_spark.dbce import page_labels
from dbce_spark.dbce.kept import kept_formats
from dbce_spark.dbce.kept.kept_formats import Formats, write_formats
from dbce_spark.dbce.page_lots import LotSize
from dbce_spark.errors import OutputError
from dbce_spark.model import Blocks, Capture, Segments
from dbce_spark.output.schemas import page_rows
from dbce_spark.spark.run import merged_pages
from dbce_spark.spark.run.compared_captures import Compared
from dbce_spark.spark.run.prior_state import FIRST, PriorState
from dbce_spark.spark.stages import write_extractions
from dbce_spark.spark.stages.work_list import RowGroup
from tests.support.builders import CONFIG, alone_on_site, page
from tests.support.endless import compute_for_ever
from tests.support.structure import ALL

HTML = "<title>t</title><h1>Spring is here</h1><p>It came <b>early</b> this year, and nobody had seen it come.</p>" * 3


def test_the_job_writes_the_formats_of_the_plain_engine() -> None:
    """From the staged HTML of each page, and null where it was not staged."""
    config = replace(
        CONFIG, label=replace(CONFIG.label, by="T002"), formats=replace(ALL, columns=(*ALL.columns, "about"))
    )
    pages = [page(HTML, url=f"http://a.example/{at}") for at in range(2)]
    batch = page_rows.pages_batch(pages, [HTML.encode(), None], file_no=0, first_row=0)
    expected = kept_formats.format_extractions(
        page_labels.label_pages([alone_on_site(one) for one in pages], config.label),
        [HTML.encode(), None],
        config.formats,
        True,
    )

    (merged,) = write_extractions.merge([batch], Compared(), config, True)
    found = merged.rows

    for name in ("markdown", "html", "annotated_html"):
        assert [getattr(one, name) for one in expected] == found.column(name).to_pylist()
    assert ["Spring is here", None] == [one and one["title"] for one in found.column("about").to_pylist()]
    assert expected[0].markdown


def test_a_page_whose_formats_never_end_costs_no_more_than_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a reject of the stage that labels, and the page beside it has its row."""
    config = replace(CONFIG, label=replace(CONFIG.label, by="T002"), page=replace(CONFIG.page, max_seconds=1))
    endless = "http://a.example/endless"

    def write_or_hang(html: bytes, blocks: Blocks, segments: Segments, one: Capture, formats: FormatsConfig) -> Formats:
        if one.url == endless:
            compute_for_ever()
        return write_formats(html, blocks, segments, one, formats)

    monkeypatch.setattr(kept_formats, "write_formats", write_or_hang)
    pages = [page(HTML, url=url) for url in (endless, "http://a.example/other")]
    batch = page_rows.pages_batch(pages, [HTML.encode()] * 2, file_no=0, first_row=0)

    (found,) = write_extractions.merge([batch], Compared(), replace(config, formats=ALL), False)

    (lost,) = found.unlabelled.values()
    assert (endless, "label", "page_timeout") == (lost.url, lost.stage, lost.reason)
    assert ["http://a.example/other"] == found.rows.column("url").to_pylist()
    assert found.rows.column("markdown")[0].as_py()


@given(st.sets(st.integers(0, 11)), st.integers(1, 5), st.integers(1, 4), st.integers(0, 9))
@settings(max_examples=20, deadline=None)
def test_lots_of_merged_pages_do_not_depend_on_the_batches(
    dropped: set[int], read: int, captures: int, blocks: int
) -> None:
    """However pages are read, the same ones are merged together: as many as may be of each so many rows of the file."""
    pages = [page(f"<p>One{'<p>more' * (at % 4)}", url=f"http://a.example/{at}") for at in range(12)]
    kept = [at for at in range(12) if at not in dropped]
    batches = [
        page_rows.pages_batch([pages[at]], [None], file_no=0, first_row=at) for at in range(12) if at not in dropped
    ]
    cut = [
        pa.Table.from_batches(batches[at : at + read]).combine_chunks().to_batches()[0]
        for at in range(0, len(kept), read)
    ]
    config = replace(CONFIG, label=replace(CONFIG.label, by="T002"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_extractions, "BATCH_CAPTURES", captures)
        patch.setattr(merged_pages, "MERGED", LotSize(captures, blocks))
        found = [one.rows.column("url").to_pylist() for one in write_extractions.merge(cut, Compared(), config, False)]
        windows = ([at for at in kept if at // captures == number] for number in range(12))
        expected = [
            [page.capture.url for page, _ in lot]
            for window in windows
            for lot in merged_pages.lots([(pages[at], None) for at in window])
        ]

    assert expected == found
    assert [pages[at].capture.url for at in kept] == [url for lot in found for url in lot]


def test_pages_of_a_collection_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """With what to do: the same command would fail on them again."""
    prior = PriorState((str(tmp_path / "increments" / "00000001"),), (1,), 1)
    path = Path(prior.page_file(FIRST))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no Parquet")
    merging = write_extractions.Merging(str(tmp_path), str(tmp_path / "out"), prior, CONFIG, False, True)
    relabel = [{"capture_id": "a", "row_no": 0, "before": ""}]

    with pytest.raises(OutputError, match=r"00000000\.parquet is broken: .*; restore it, or roll back"):
        merging.run(0, iter([RowGroup(FIRST, 0, Compared(), relabel=relabel)]))
