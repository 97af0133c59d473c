"""`dbce show` and `dbce report --url`: one page, found by its URL."""

import webbrowser
from pathlib import Path

import pytest

from dbce_spark.commands.cli import main
from dbce_spark.commands.terminal import DIM, PLAIN
from dbce_spark.files import storage
from dbce_spark.report import write_report
from dbce_spark.spark.run import staging
from tests.support.builders import archive, http, record
from tests.support.sample_output import SMILES

PAGE = "http://dnevnik.example/"


def test_a_page_of_an_output_has_its_labels(extracted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A head, and all its text: content as it is, boilerplate behind a dash."""
    assert 0 == main(["show", PAGE, "--in", str(extracted)])
    head, others, title, _, *lines = capsys.readouterr().out.splitlines()

    assert head.startswith(f"{PAGE}  20")
    assert "other captures, for --date: 20" in others
    assert title
    assert {"  ", "- "} == {line[:2] for line in lines}


def test_a_page_of_an_archive_is_shown_as_that_of_its_output(
    extracted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages of the archive are compared as those of a run are."""
    shown = []
    for place in (extracted, extracted.parent / "archive" / "hard.warc.gz"):
        assert 0 == main(["show", SMILES, "--in", str(place)])
        shown.append(capsys.readouterr().out)

    assert shown[0] == shown[1]


def test_each_capture_of_a_page_is_shown_by_its_date(
    extracted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The dates of the others are named as --date takes them, in an output as in an archive; by a part of a date, the
    newest that has it."""
    pages = [
        record(http(f"<p>{year} is here."), url=PAGE, date=f"{year}-03-05T06:07:08Z") for year in (2010, 2012, 2011)
    ]
    for place in (extracted, archive(tmp_path / "a.warc", *pages)):
        assert 0 == main(["show", PAGE, "--in", str(place)])
        newest, others, *_ = capsys.readouterr().out.splitlines()
        dates = others.partition(": ")[2].split(", ")
        heads = []
        for date in dates:
            assert 0 == main(["show", PAGE, "--in", str(place), "--date", date])
            head, named, *_ = capsys.readouterr().out.splitlines()
            heads.append(head)
            assert date not in named

        assert [f"{PAGE}  {date[:16].replace('T', ' ')}" for date in dates] == [
            head[: len(PAGE) + 18] for head in heads
        ]
        assert newest not in heads
        assert 0 == main(["show", PAGE, "--in", str(place), "--date", dates[0][:4]])
        assert heads[0] == capsys.readouterr().out.splitlines()[0]


def test_a_date_without_a_capture_names_those_that_are_there(
    extracted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where it is none."""
    assert 2 == main(["show", PAGE, "--in", str(extracted), "--date", "1999"])
    assert " has no capture of http://dnevnik.example/ of 1999; it has 20" in capsys.readouterr().err
    assert 2 == main(["show", PAGE, "--in", str(extracted), "--date", "May"])
    assert "--date: 'May' is no date; write 2010" in capsys.readouterr().err


@pytest.mark.parametrize(("color", "is_dim"), [("always", True), ("never", False), ("auto", False)])
def test_colours_are_for_terminals(
    color: str, is_dim: bool, extracted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Boilerplate is dim where that is wanted, and always behind its mark."""
    main(["show", PAGE, "--in", str(extracted), "--color", color])
    dim = [line for line in capsys.readouterr().out.splitlines() if line.startswith(DIM)]

    assert is_dim == bool(dim)
    assert [] == [line for line in dim if not (line.startswith(f"{DIM}- ") and line.endswith(PLAIN))]


def test_a_page_is_shown_in_a_browser(
    extracted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The report's page of it, from a folder of its own, also of a capture behind those that a report shows."""
    opened: list[str] = []
    monkeypatch.setattr(write_report, "__kwdefaults__", {**(write_report.__kwdefaults__ or {}), "pages": 1})
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    assert 0 == main(["show", PAGE, "--in", str(extracted), "--browser"])
    page = Path(capsys.readouterr().out.removeprefix("Page: ").strip())

    assert [page.as_uri()] == opened
    assert PAGE in page.read_text(encoding="utf-8")

    main(["show", PAGE, "--in", str(extracted)])
    dates = capsys.readouterr().out.splitlines()[1].partition(": ")[2].split(", ")
    assert 0 == main(["show", PAGE, "--in", str(extracted), "--browser", "--date", dates[-1]])
    assert dates[-1].replace("T", " ")[:16] in Path(opened[1].removeprefix("file://")).read_text(encoding="utf-8")


def test_a_report_of_a_url_has_its_captures(extracted: Path, tmp_path: Path) -> None:
    """The newest first, and no others."""
    assert 0 == main(["report", str(extracted), "--output", str(tmp_path / "report"), "--url", PAGE])
    pages = sorted((tmp_path / "report" / "pages").glob("[0-9][0-9].html"))

    assert len(pages) > 1
    assert [] == [page.name for page in pages if PAGE not in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("command", [["show", "--in"], ["report", "--output", "r", "--url", "http://no.example/"]])
def test_a_page_that_is_not_there_is_an_error(
    command: list[str],
    extracted: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In an output as in an archive."""
    monkeypatch.chdir(tmp_path)
    places = [extracted, extracted.parent / "archive" / "hard.warc.gz"] if command[0] == "show" else [extracted]
    for place in places:
        assert 2 == main([*command, str(place), *(["http://no.example/"] if command[0] == "show" else [])])
        assert "has no page http://no.example/; " in capsys.readouterr().err


def test_an_unfinished_output_is_named_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that was ended early has left its staging folder only: that is no folder without archives."""
    (tmp_path / "o" / staging.FOLDER).mkdir(parents=True)

    assert 2 == main(["show", PAGE, "--in", str(tmp_path / "o")])
    assert "no run.json that can be read there, so this is no finished output" in capsys.readouterr().err


def test_an_archive_that_a_url_names_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its name ends like an archive, so it is read as one, and is no output."""
    path = archive(tmp_path / "a.warc", record(http("<p>Some words of a page.</p>"), url="http://a.example/"))
    storage.write("memory://shown/a.warc", Path(path).read_bytes())

    assert 0 == main(["show", "http://a.example/", "--in", "memory://shown/a.warc"])
    assert "Some words of a page." in capsys.readouterr().out
    assert 2 == main(["show", "http://a.example/", "--in", "memory://shown/a.warc", "--browser"])
    assert "is no output; --browser shows" in capsys.readouterr().err


def test_a_page_turns_no_line_around(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Signs that would hide a part of it are left out of its title and of its text."""
    page = "<title>A &#8238;title</title><p>Some words &#8238;of &#8294;a page that has a few more.</p>"
    path = archive(tmp_path / "a.warc", record(http(page), url="http://a.example/"))
    status = main(["show", "http://a.example/", "--in", path])
    shown = capsys.readouterr().out

    assert 0 == status
    assert "A title\n" in shown
    assert "Some words of a page that has a few more." in shown
