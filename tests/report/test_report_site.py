"""The report as files."""

from pathlib import Path
from typing import Any

import pytest

from dbce_spark.errors import OutputError
from dbce_spark.report import archived_html, write_report
from dbce_spark.report.report_folder import MARKER
from dbce_spark.report.report_output import ReportOutput
from tests.support import sample_collection as grown
from tests.support.exports import written
from tests.support.full_disks import full_disk
from tests.support.report_outputs import HOSTILE, crawl, tree, write_archive, write_output


def text_of(path: Path) -> str:
    """Extract the text that a reader sees, white space folded."""
    return " ".join(tree(path.read_bytes()).find("body").text_content().split())


def test_a_report_says_what_was_found(finished: Path, tmp_path: Path) -> None:
    """The first page names totals, sites, rejects and the balance."""
    index = write_report(str(finished), str(tmp_path / "report"))
    seen = text_of(index)
    expected = [
        "1 archive file · 13 records · ",
        "11pages with a result",
        "90.9 %",
        "adds up to the 13 records read",
        "large.example",
        "no_text",
        "Article 0",
    ]
    assert expected == [one for one in expected if one in seen]


def test_a_record_without_an_outcome_is_reported(finished: Path, tmp_path: Path) -> None:
    """Records that were read and are nowhere make the report say that this must not be."""
    run = finished / "run.json"
    run.write_text(run.read_text().replace('"records_read": 13', '"records_read": 15'))
    assert "2 of 15 records read have no outcome" in text_of(write_report(str(finished), str(tmp_path / "report")))


def test_each_sample_page_has_its_date(finished: Path, tmp_path: Path) -> None:
    """Captures of one URL have the same title, too: only their dates tell them apart."""
    index = write_report(str(finished), str(tmp_path / "report"))
    cards = tree(index.read_bytes()).xpath("//div[@class='samples']/div")
    dates = {one.text_content() for card in cards for one in card.xpath("div[@class='date']")}
    fetched = {
        row["timestamp"]
        for batch in ReportOutput(str(finished)).batches("extractions", ["timestamp"])
        for row in batch.to_pylist()
    }

    assert cards
    assert dates
    assert {f"{one:%Y-%m-%d %H:%M:%S UTC}" for one in fetched} >= dates
    assert [] == [card for card in cards if not card.xpath("div[@class='date']")]


def test_two_reports_are_byte_equal(finished: Path, tmp_path: Path) -> None:
    """Two reports on one output have the same bytes, also over an earlier report with more pages."""
    write_report(str(finished), str(tmp_path / "one"), pages=4)
    write_report(str(finished), str(tmp_path / "two"), pages=9)
    write_report(str(finished), str(tmp_path / "two"), pages=4)
    assert written(tmp_path / "one") == written(tmp_path / "two")
    assert {"index.html", "pages/01.html", "pages/01-cross.html", "pages/04.html"} <= set(written(tmp_path / "one"))


def test_every_link_leads_somewhere(finished: Path, tmp_path: Path) -> None:
    """All links of the report are to its own files and places, and no page is without one."""
    folder = write_report(str(finished), str(tmp_path / "report")).parent
    reached = set()
    for path in folder.rglob("*.html"):
        for href in tree(path.read_bytes()).xpath("//a/@href"):
            name, _, anchor = href.partition("#")
            target = (path.parent / name).resolve() if name else path
            reached.add(target)
            assert target.is_file()
            assert not anchor or tree(target.read_bytes()).xpath("//*[@id=$id]", id=anchor)
    assert set(folder.rglob("*.html")) == reached


def test_unfinished_output_is_refused(finished: Path, tmp_path: Path) -> None:
    """An output without run.json has no report, and nothing is written."""
    (finished / "run.json").unlink()
    with pytest.raises(OutputError, match=r"no run\.json"):
        write_report(str(finished), str(tmp_path / "report"))
    assert not (tmp_path / "report").exists()


def test_a_folder_that_is_no_report_is_left_alone(finished: Path, tmp_path: Path) -> None:
    """A folder with other files is refused and keeps them, as is a file."""
    target = tmp_path / "theirs"
    target.mkdir()
    (target / "index.html").write_text("theirs")
    for place in (target, target / "index.html"):
        with pytest.raises(OutputError, match="give"):
            write_report(str(finished), str(place))
    assert {"index.html": b"theirs"} == written(target)


def test_a_report_on_a_full_disk_leaves_nothing(finished: Path, tmp_path: Path) -> None:
    """The error says what to do; an earlier report stays as it was, and so does an empty folder."""
    kept = written(write_report(str(finished), str(tmp_path / "report")).parent)
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty", "report"):
        with full_disk(2_000), pytest.raises(OutputError, match=f"{name}: the report cannot be written .*; make room"):
            write_report(str(finished), str(tmp_path / name))

    assert {"empty", "report"} == {one.name for one in tmp_path.iterdir() if one.name in ("new", "empty", "report")}
    assert {} == written(tmp_path / "empty")
    assert kept == written(tmp_path / "report")


def test_a_report_that_was_killed_is_written_again(finished: Path, tmp_path: Path) -> None:
    """Whatever of it was there."""
    expected = written(write_report(str(finished), str(tmp_path / "whole")).parent)
    for half in ([MARKER], [MARKER, ".new/pages/01.html"], [MARKER, ".new/index.html", "pages/01.html"]):
        for name in half:
            (tmp_path / "report" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "report" / name).write_text("half")
        assert expected == written(write_report(str(finished), str(tmp_path / "report")).parent)


def test_a_page_whose_archive_is_gone_is_shown_as_text(finished: Path, archive: Path, tmp_path: Path) -> None:
    """A page without its archive is shown as coloured text, with the reason beside it."""
    archive.unlink()
    folder = write_report(str(finished), str(tmp_path / "report")).parent
    page = tree((folder / "pages/01.html").read_bytes())
    assert [] == page.xpath("//iframe")
    assert "cannot be shown" in page.xpath("string(//*[@class='note'])")
    assert "Home of the site" == page.xpath("string(//span[@class='boilerplate'][1])")
    assert "number0 stands here" in page.xpath("//span[@class='content']/text()")
    assert not (folder / "pages/01-cross.html").exists()


@pytest.mark.parametrize(("by", "is_named"), [("T001", True), ("T002", False)])
def test_a_report_names_the_labels_that_are_there(by: str, is_named: bool, archive: Path, tmp_path: Path) -> None:
    """No legend has undecided text where nothing is undecided."""
    folder = write_report(str(write_output(tmp_path / "output", [archive], by=by)), str(tmp_path / "report")).parent
    bodies = [tree(path.read_bytes()).find("body") for path in [folder / "index.html", *folder.rglob("*-cross.html")]]
    named = [
        bool(body.xpath(".//*[self::li or contains(@class, 'chip')][contains(., 'undecided')]")) for body in bodies
    ]

    assert is_named == any(named)
    assert is_named == named[0]


def test_an_output_without_pages_has_a_report(tmp_path: Path) -> None:
    """A run that found nothing has a report that says so."""
    archive = write_archive(tmp_path / "none.warc", [one for one in crawl() if "blank" in one.url])
    output = write_output(tmp_path / "output", [archive])
    assert "This output holds no page." in text_of(write_report(str(output), str(tmp_path / "report")))


def test_frames_are_closed_and_hold_all_they_show(tmp_path: Path) -> None:
    """A hostile page adds no element to the report around its frame, and each frame is sandboxed without exceptions."""
    archive = write_archive(tmp_path / "hostile.warc.gz", crawl(extra=HOSTILE))
    folder = write_report(str(write_output(tmp_path / "output", [archive])), str(tmp_path / "report")).parent
    for path in folder.rglob("*.html"):
        root = tree(path.read_bytes())
        assert [] == root.xpath("//script | //link | //object | //img | //base | //@onerror | //@onload | //@src")
        assert {""} >= set(root.xpath("//iframe/@sandbox"))
        assert [] == [frame for frame in root.xpath("//iframe/@srcdoc") if not frame.endswith("</html>")]
        assert [] == root.xpath("//iframe[not(@sandbox and @srcdoc)]")
        assert "default-src 'none'" in root.xpath("string(//meta[@http-equiv='Content-Security-Policy']/@content)")


@pytest.mark.data
def test_real_archives_have_a_report(shared_data: Path, tmp_path: Path) -> None:
    """Every sample page of three real crawls, ARC and WARC, is shown as it was archived."""
    names = ("archive.org/20080430-blackbook.warc.gz", "netarkivet.dk/20090706-arcfile_withredirects.arc")
    archives = [shared_data / "warc" / name for name in (*names, "uraharajuku.st")]
    archives = [file for path in archives for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    folder = write_report(str(write_output(tmp_path / "output", archives)), str(tmp_path / "report")).parent
    shown = [path for path in sorted((folder / "pages").iterdir()) if "<iframe" in path.read_text()]
    assert sorted((folder / "pages").iterdir()) == shown
    assert len(shown) > 12


def test_a_collection_has_a_report(collected: Path, tmp_path: Path) -> None:
    """All its rows that count are in it, its records add up, and the version is named."""
    result = grown.whole(collected)
    index = write_report(str(collected), str(tmp_path / "report"), pages=6)
    seen = text_of(index)

    assert f"{len(result.extractions)}pages with a result" in seen
    assert f"adds up to the {result.records_read} records read" in seen
    assert "version 3 of a collection, of 3 crawls" in seen
    assert 6 == len([path for path in (index.parent / "pages").iterdir() if "-cross" not in path.name])


def test_a_report_shows_what_counts(collected: Path, tmp_path: Path) -> None:
    """A sample page has the labels that were last given to it."""
    texts = grown.texts(grown.whole(collected))
    output = ReportOutput(str(collected))
    changed = {one: text for one, text in grown.texts(grown.whole(collected, 1)).items() if texts[one] != text}

    assert changed
    assert {one: texts[one] for one in changed} == {
        one: row["text"] for one, row in output.rows([*changed], ["text"]).items()
    }


def test_a_report_holds_one_page_at_a_time(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is on disk before the next is read, so that a report of any number of pages needs the memory of one."""
    folder, seen = tmp_path / "report", []
    read = archived_html.archived

    def counted(*given: Any) -> Any:
        seen.append(len([*folder.rglob("??.html")]))
        return read(*given)

    monkeypatch.setattr("dbce_spark.report.page_views.archived", counted)
    write_report(str(finished), str(folder), pages=4)

    assert [0, 1, 2, 3] == seen
