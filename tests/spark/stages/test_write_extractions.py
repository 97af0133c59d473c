"""The formats of what is kept, as the job writes them."""

from dataclasses import replace

from dbce_spark.dbce import local
from dbce_spark.output.schemas import page_rows
from dbce_spark.spark.stages import write_extractions
from dbce_spark.spark.stages.work_list import Compared
from tests.support.builders import CONFIG, alone_on_site, page
from tests.support.structure import ALL

HTML = "<title>t</title><h1>Spring is here</h1><p>It came <b>early</b> this year, and nobody had seen it come.</p>" * 3


def test_the_job_writes_the_formats_of_the_plain_engine() -> None:
    """From the staged HTML of each page, and null where it was not staged."""
    config = replace(
        CONFIG, label=replace(CONFIG.label, by="T002"), formats=replace(ALL, columns=(*ALL.columns, "about"))
    )
    pages = [page(HTML, url=f"http://a.example/{at}") for at in range(2)]
    batch = page_rows.pages_batch(pages, [HTML.encode(), None], file_no=0, first_row=0)
    expected = local.format_extractions(
        local.label_pages([alone_on_site(one) for one in pages], config.label),
        [HTML.encode(), None],
        config.formats,
        True,
    )

    found = write_extractions.merge(batch, Compared(), config, True).rows

    for name in ("markdown", "html", "annotated_html"):
        assert [getattr(one, name) for one in expected] == found.column(name).to_pylist()
    assert ["Spring is here", None] == [one and one["title"] for one in found.column("about").to_pylist()]
    assert expected[0].markdown
