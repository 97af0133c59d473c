"""Pages of `dbce text` in files of their own."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dbce_spark.commands.cli import main
from dbce_spark.commands.text_files import file_stems
from dbce_spark.dbce.extraction.extracted_page import ExtractedPage
from tests.support.builders import archive, http, record

OWN = "Der Hafen wurde am Sonntag nach zwei Jahren wieder geöffnet, und viele Schiffe legten dort an."
HTML = f"<title>Hafen &lt;1></title><h1>Der Hafen</h1><p>{OWN}</p><p>Am Montag <a href=/b>fuhren sie weiter</a>.</p>"


def page(date: str = "") -> ExtractedPage:
    return ExtractedPage(
        url=None,
        date=datetime.fromisoformat(date).replace(tzinfo=UTC) if date else None,
        title="",
        text="",
        page_text="",
    )


@pytest.mark.parametrize(
    ("format", "name", "content"),
    [
        ("text", "a.html.txt", f"Der Hafen\n{OWN}\nAm Montag fuhren sie weiter.\n"),
        ("markdown", "a.html.md", f"# Der Hafen\n\n{OWN}\n\nAm Montag fuhren sie weiter.\n"),
        (
            "html",
            "a.html.html",
            '<!DOCTYPE html>\n<meta charset="utf-8">\n<title>Hafen &lt;1&gt;</title>\n'
            f"<article><h1>Der Hafen</h1><p>{OWN}</p><p>Am Montag fuhren sie weiter.</p></article>\n",
        ),
    ],
)
def test_each_page_is_a_file(
    format: str, name: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In each format, with a list of the files; nothing but their number is printed."""
    (tmp_path / "pages").mkdir()
    for given in ("a.html", "b.html"):
        (tmp_path / "pages" / given).write_text(HTML, encoding="utf-8")
    output = tmp_path / "output"

    options = ["--links", "drop", "--format", format, "--output", str(output)]
    assert 0 == main(["text", str(tmp_path / "pages"), *options])

    listed = [json.loads(line) for line in (output / "pages.jsonl").read_text(encoding="utf-8").splitlines()]
    assert f"2 pages in {output}\n" == capsys.readouterr().out
    assert content == (output / name).read_text(encoding="utf-8")
    assert {*(one["file"] for one in listed), "pages.jsonl"} == {one.name for one in output.iterdir()}
    assert (name, f"{tmp_path}/pages/a.html", "Hafen <1>") == tuple(listed[0][key] for key in ("file", "name", "title"))


def test_json_of_a_page_is_a_file(tmp_path: Path) -> None:
    """It has all that a line of `--format json` has; the list has no texts."""
    archive(tmp_path / "c.warc", record(http(HTML), url="http://a.example/c"))

    assert 0 == main(["text", str(tmp_path / "c.warc"), "--format", "json", "--output", str(tmp_path / "output")])

    row = json.loads((tmp_path / "output" / "a.example_c.json").read_text())
    listed = json.loads((tmp_path / "output" / "pages.jsonl").read_text())
    assert {"markdown", "html", "text", "about", "record"} < row.keys()
    assert {"file": "a.example_c.json"} | row == {key: row[key] for key in ("text", "markdown", "html")} | listed


def test_a_folder_may_be_a_url(tmp_path: Path) -> None:
    """As for the other commands."""
    (tmp_path / "a.html").write_text(HTML, encoding="utf-8")

    assert 0 == main(["text", str(tmp_path / "a.html"), "--output", (tmp_path / "output").as_uri()])

    assert {"a.html.txt", "pages.jsonl"} == {one.name for one in (tmp_path / "output").iterdir()}


def test_a_folder_with_files_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They could be pages of another run. No page is read before."""
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "notes.txt").write_text("mine")

    assert 2 == main(["text", str(tmp_path / "a.html"), "--output", str(tmp_path / "output")])

    assert f"dbce: {tmp_path}/output: is not empty; give a new folder, or remove this one\n" == capsys.readouterr().err
    assert ["notes.txt"] == [one.name for one in (tmp_path / "output").iterdir()]


@pytest.mark.parametrize(
    ("names", "stems"),
    [
        (["http://a.example/x?id=1&b=2"], ["a.example_x_id_1_b_2"]),
        (["http://a.example/../../etc/passwd", "http://a.example/"], ["a.example_.._.._etc_passwd", "a.example"]),
        (["http://a.example/größe"], ["a.example_größe"]),
        (["/home/site/a.html", "/home/site/deep/a.html"], ["a.html", "deep_a.html"]),
        (["-", "/home/site/a.html"], ["page", "a.html"]),
        (["/home/...html"], ["html"]),
        (["http://a.example/a", "http://a.example/A"], ["a.example_a", "a.example_A_2"]),
        (
            ["http://a.example/" + "ö" * 200, "http://a.example/" + "ö" * 201],
            ["a.example_" + "ö" * 70 + "~2068144e", "a.example_" + "ö" * 70 + "~02007247"],
        ),
    ],
)
def test_a_page_is_named_by_what_it_is_called(names: list[str], stems: list[str]) -> None:
    """No name leads out of the folder, is hidden, too long, or another's where case does not count."""
    assert stems == [*file_stems([(name, page()) for name in names])]


def test_captures_of_a_url_have_their_dates() -> None:
    """Captures of one moment have numbers."""
    dates = ["2020-01-02T03:04:05", "2020-01-02T03:04:05", "2021-01-02T03:04:05"]

    stems = [*file_stems([("http://a.example/", page(date)) for date in dates])]

    assert ["a.example_20200102030405", "a.example_20200102030405_2", "a.example_20210102030405"] == stems
