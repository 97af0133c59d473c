"""The sample pages are spread over sites and kinds."""

from pathlib import Path

import pytest

from dbce_spark.report import output_counts, page_sample
from dbce_spark.report.page_sample import Pick
from dbce_spark.report.report_output import ReportOutput
from tests.support.report_outputs import write_output


def chosen(folder: Path, pages: int) -> list[Pick]:
    source = ReportOutput(str(folder))
    return page_sample.choose(output_counts.count(source), source, pages)


@pytest.mark.parametrize(("pages", "expected"), [(0, 0), (1, 1), (6, 6), (50, 11)])
def test_as_many_pages_as_requested(finished: Path, pages: int, expected: int) -> None:
    """The sample has the requested number of different pages, or all there are."""
    assert expected == len({pick.capture_id for pick in chosen(finished, pages)})


def test_the_choice_is_the_same_however_the_rows_lie(tmp_path: Path, archive: Path) -> None:
    """The sample does not depend on the files that the rows are in."""
    some = [write_output(tmp_path / f"output-{parts}", [archive], parts=parts) for parts in (1, 3)]
    assert chosen(some[0], 6) == chosen(some[1], 6)


def test_every_site_is_shown(finished: Path) -> None:
    """Pages of each template, and one without siblings, are among a few."""
    source = ReportOutput(str(finished))
    rows = source.rows([pick.capture_id for pick in chosen(finished, 6)], ["site"])
    assert {"large.example", "small.example", "lone.example"} == {row["site"] for row in rows.values()}


def test_the_fullest_cross_comes_first(finished: Path) -> None:
    """The first page has the most arms: an article that was captured twice. Then come the sites by size."""
    source, picks = ReportOutput(str(finished)), chosen(finished, 3)
    first = picks[0]
    row = source.rows([first.capture_id], ["url", "crosses"])[first.capture_id]
    sites = source.rows([pick.capture_id for pick in picks], ["site"])
    assert ["large.example", "large.example", "small.example"] == [sites[pick.capture_id]["site"] for pick in picks]
    assert ("fullest cross", "http://large.example/article/0") == (first.why, row["url"])
    assert max(cross["bits"].count("1") for cross in row["crosses"]) == 4
