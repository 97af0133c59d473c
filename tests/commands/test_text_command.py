"""`dbce text`: pages in, text out, without Spark."""

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from dbce_spark import config, extract, extract_archive
from dbce_spark.commands.cli import main
from dbce_spark.commands.terminal import prepare_output
from tests.support.builders import archive, http, record
from tests.support.newsroom import Newsroom, newsroom

OWN = "Der Hafen wurde am Sonntag nach zwei Jahren wieder geöffnet, und viele Schiffe legten dort an."
HTML = f"<title>Hafen</title><h1>Der Hafen</h1><p>{OWN}</p><p>{OWN[::-1]}</p>"
HOSTILE = HTML.replace("Sonntag", "Sonn\x1b[31mtag\x9b2J &#x202e;und&#27;]0;x&#7; Montag")


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A folder of two HTML files and an archive."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.html").write_text(HTML, encoding="utf-8")
    (tmp_path / "deep" / "b.HTM").write_text(HTML.replace("Hafen", "Bahnhof"), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no page")
    archive(tmp_path / "c.warc", record(http(HTML.replace("Hafen", "Flughafen")), url="http://a.example/c"))
    return tmp_path


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """Let standard input be this."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_one_page_is_printed_alone(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its main text, and nothing else."""
    assert 0 == main(["text", str(pages / "a.html")])
    assert ["Der Hafen", OWN, OWN[::-1]] == capsys.readouterr().out.splitlines()


def test_several_pages_have_their_names(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files of a folder at every depth, and captures of its archives with URL and time; other files are left out."""
    assert 0 == main(["text", str(pages)])
    named = [line for line in capsys.readouterr().out.splitlines() if line.startswith("== ")]

    assert [f"== {pages}/a.html", f"== {pages}/deep/b.HTM", "== http://a.example/c  2020-01-02 03:04"] == named


def test_of_a_folder_is_read_what_is_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As wget mirrors a site: names say little, and a name need not be text. One line has the others."""
    names = ["a.html", "B.HTML", "index.php", "page.asp", "s.shtml", "x?id=3", "packed.html.gz", "caf\udce9.html"]
    for at, name in enumerate(names):
        page = HTML.replace("Hafen", f"Hafen {at}").encode()
        (tmp_path / name).write_bytes(gzip.compress(page, mtime=0) if name.endswith(".gz") else page)
    archive(tmp_path / "crawl", record(http(HTML.replace("Hafen", "Flughafen")), url="http://a.example/c"))
    others = {
        "style.css": "p { color: red }",
        "feed.xml": "<?xml version='1.0'?><rss><title>x</title></rss>",
        "empty": "",
    }
    for name, content in others.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "data.gz").write_bytes(gzip.compress(b"no page"))

    assert 0 == main(["text", str(tmp_path)])
    printed = capsys.readouterr()
    found = [line for line in printed.out.splitlines() if line.startswith("== ")]

    shown = sorted(names)
    shown[shown.index("caf\udce9.html")] = "caf?.html"
    assert [*(f"== {tmp_path}/{name}" for name in shown), "== http://a.example/c  2020-01-02 03:04"] == found
    first = ", ".join(f"{tmp_path}/{name}" for name in ("data.gz", "empty", "feed.xml"))
    assert [f"dbce: 4 files passed over, neither a page nor an archive: {first}, ..."] == printed.err.splitlines()


def test_a_folder_without_pages_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its files are named; nothing is said of archives, of which it has none."""
    (tmp_path / "notes.txt").write_text("Some words.")

    assert 2 == main(["text", str(tmp_path)])
    assert [
        f"dbce: 1 file passed over, neither a page nor an archive: {tmp_path}/notes.txt",
        "dbce: no page is in the input",
    ] == capsys.readouterr().err.splitlines()


def test_a_page_is_printed_once_however_it_is_named(
    pages: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its own path, and by each spelling of its folder's; its name is the whole path."""
    monkeypatch.chdir(pages)
    assert 0 == main(["text", ".", "../" + pages.name, "a.html", str(pages / "deep")])
    named = [line for line in capsys.readouterr().out.splitlines() if line.startswith("== ")]

    assert [f"== {pages}/a.html", f"== {pages}/deep/b.HTM", "== http://a.example/c  2020-01-02 03:04"] == named


def test_a_folder_without_files_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what is missing."""
    assert 2 == main(["text", str(tmp_path)])
    assert f"dbce: {tmp_path}: no file is in this folder\n" == capsys.readouterr().err


@pytest.mark.parametrize(
    "content",
    [HTML.encode(), gzip.compress(HTML.encode()), gzip.compress(record(http(HTML), url="http://a.example/"))],
    ids=["page", "packed page", "archive"],
)
def test_standard_input_is_a_page_or_an_archive(
    content: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its first bytes decide."""
    piped(monkeypatch, content)

    assert 0 == main(["text", "-"])
    assert OWN in capsys.readouterr().out


@pytest.mark.parametrize(
    ("form", "expected"),
    [("markdown", ["# Der Hafen", "", OWN, "", OWN[::-1]]), ("html", [f"<p>{OWN}</p>", f"<p>{OWN[::-1]}</p>"])],
)
def test_a_page_is_printed_in_the_form_that_is_asked_for(
    form: str, expected: list[str], pages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Markdown, and as HTML."""
    assert 0 == main(["text", str(pages / "a.html"), "--format", form])
    printed = capsys.readouterr().out

    if form == "markdown":
        assert expected == printed.splitlines()
    else:
        assert all(one in printed for one in expected)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--title", "drop"], [OWN, OWN[::-1]]),
        (["--set", "label.title=drop"], [OWN, OWN[::-1]]),
        (["--config", "drop.toml"], [OWN, OWN[::-1]]),
        (["--config", "drop.toml", "--title", "keep"], ["Der Hafen", OWN, OWN[::-1]]),
        (["--content", "article", "--favor", "recall", "--comments"], ["Der Hafen", OWN, OWN[::-1]]),
    ],
)
def test_what_is_kept_can_be_chosen(
    options: list[str],
    expected: list[str],
    pages: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By options, which take the place of what a file says."""
    monkeypatch.chdir(pages)
    (pages / "a.html").write_text(HTML.replace("<title>", "<title>Der "), encoding="utf-8")
    (pages / "drop.toml").write_text('[label]\ntitle = "drop"\n')

    assert 0 == main(["text", "a.html", *options])
    assert expected == capsys.readouterr().out.splitlines()


def test_links_can_be_left_out_of_markdown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their words stay."""
    (tmp_path / "a.html").write_text(HTML.replace("Hafen wurde", "<a href=/h>Hafen</a> wurde"), encoding="utf-8")
    command = ["text", str(tmp_path / "a.html"), "--url", "http://a.example/", "--format", "markdown"]
    assert 0 == main(command)
    assert "[Hafen](http://a.example/h)" in capsys.readouterr().out
    assert 0 == main([*command, "--links", "drop"])
    assert OWN in capsys.readouterr().out


def test_json_is_a_line_a_page(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With all that is known of it."""
    assert 0 == main(["text", str(pages / "a.html"), "--url", "http://a.example/x", "--format", "json"])
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())

    assert {"name": f"{pages}/a.html"} | extract(HTML, "http://a.example/x").to_dict() == row
    assert ("# Der Hafen", "Der Hafen") == (row["markdown"].split("\n")[0], row["about"]["title"])
    assert ("http://a.example/x", None, "Hafen", "de") == (row["url"], row["date"], row["title"], row["language"])


def test_json_has_the_record_of_a_page_of_an_archive(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As Python gives it."""
    assert 0 == main(["text", str(pages / "c.warc"), "--format", "json"])
    (expected,) = extract_archive(pages / "c.warc")

    assert expected.record
    assert asdict(expected.record) == json.loads(capsys.readouterr().out)["record"]


def test_json_names_standard_input_as_the_file(
    pages: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not the file that an archive was put into meanwhile."""
    piped(monkeypatch, (pages / "c.warc").read_bytes())

    assert 0 == main(["text", "-", "--format", "json"])
    assert "standard input" == json.loads(capsys.readouterr().out)["record"]["warc_file"]


def test_json_has_what_is_wrong_with_a_page(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such as that its record is cut."""
    (pages / "c.warc").write_bytes((pages / "c.warc").read_bytes()[:-60])

    assert 0 == main(["text", str(pages / "c.warc"), "--format", "json"])
    assert "truncated" in json.loads(capsys.readouterr().out)["flags"]


def test_a_page_whose_record_is_cut_is_named(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its text is printed all the same; standard error says that words may be missing."""
    (pages / "c.warc").write_bytes((pages / "c.warc").read_bytes()[:-60])

    assert 0 == main(["text", str(pages / "c.warc")])
    printed = capsys.readouterr()
    assert "Der Flughafen" in printed.out
    assert "dbce: http://a.example/c: truncated: words may be missing: the record, or its body, is cut\n" == printed.err


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_page_cannot_command_the_terminal(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No control character of it is printed, whatever it is written as."""
    piped(monkeypatch, HOSTILE.encode())
    main(["text", "-", "--format", form])
    printed = capsys.readouterr().out

    assert "Sonn [31mtag" in printed
    assert [] == [one for one in printed if (one < " " or "\x7f" <= one < "\xa0" or one == "\u202e") and one != "\n"]


def test_json_has_the_texts_that_python_has(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever a terminal would obey of them is there as a number, and lines of a program stay apart."""
    html = HOSTILE + f"<pre>{OWN}&#13;{OWN}&#x2028;{OWN}</pre>"
    piped(monkeypatch, html.encode())
    main(["text", "-", "--format", "json"])
    row = json.loads(capsys.readouterr().out)
    page = extract(html.encode())

    assert "\r" in page.text
    assert [page.text, page.markdown, page.html] == [row[name] for name in ("text", "markdown", "html")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.html"], "missing.html: nothing to read is there"),
        (["empty.html"], "/empty.html: "),
        (["empty.html", "broken.warc.gz"], "no page could be printed, for the reasons above"),
        (["paper.pdf"], "/paper.pdf: not_html: is application/pdf"),
        (["name.txt"], "/name.txt: not_html: is text/plain; this names a place"),
        (["a.html", "c.warc", "--url", "http://x.example/"], "--url names one page"),
        (["broken.warc.gz"], "broken.warc.gz: "),
    ],
)
def test_nothing_to_print_is_an_error(
    arguments: list[str],
    message: str,
    pages: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line says why, with the status of all errors."""
    monkeypatch.chdir(pages)
    Path("empty.html").touch()
    Path("paper.pdf").write_bytes(b"%PDF-1.4\n1 0 obj")
    Path("name.txt").write_text("pages/a.html\n")
    Path("broken.warc.gz").write_bytes(gzip.compress(b"this is no record"))

    assert 2 == main(["text", *arguments])
    *others, last = capsys.readouterr().err.splitlines()
    assert message in last
    assert len(others) == (len(arguments) if "no page" in message else 0)


@pytest.mark.parametrize(("kind", "content_type"), [("conversion", "text/plain"), ("metadata", "application/json")])
def test_an_archive_of_texts_or_metadata_is_told_from_one_of_pages(
    kind: str, content_type: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """WET and WAT files are read as archives, and nothing is wrong with them."""
    path = archive(tmp_path / "a.warc.wet", record(b"Some words.", kind=kind, Content_Type=content_type))

    assert 2 == main(["text", path])
    assert "no page is in the input; WET and WAT files have none, but texts and" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["list.cdx", "-"])
def test_an_index_is_no_page(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its lines are not printed: the command is named that takes it."""
    index = b"org,a)/ 20240101000000 http://a.org/ text/html 200 - - - 9 0 a.warc\n"
    (tmp_path / "list.cdx").write_bytes(b" CDX N b a m s k r M S V g\n" + index)
    monkeypatch.chdir(tmp_path)
    piped(monkeypatch, (tmp_path / "list.cdx").read_bytes())

    assert 2 == main(["text", name])
    printed = capsys.readouterr()
    assert "" == printed.out
    assert printed.err.endswith(": cannot be read: it is an index, which `dbce extract --index` takes\n")


@pytest.mark.parametrize(
    "content",
    [b'{"run_id": 1}', b'\n[ {"a": 1}, 2]', b'{"id": "a"}\n{"id": "b"}\n', b"{}\n"],
    ids=["object", "list", "lines", "empty"],
)
@pytest.mark.parametrize("name", ["a.html", "-"])
def test_json_is_no_page(
    name: str, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An account or documents of ours are not printed, whatever their names."""
    monkeypatch.chdir(tmp_path)
    Path("a.html").write_bytes(content)
    piped(monkeypatch, content)

    assert 2 == main(["text", name])
    printed = capsys.readouterr()
    assert "" == printed.out
    assert "cannot be read: it is JSON, and no page; give an HTML file" in printed.err


def test_text_with_braces_is_a_page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It begins as JSON does, and goes on otherwise."""
    piped(monkeypatch, b"{The} harbour opens again on Sunday. " * 9)

    assert 0 == main(["text", "-"])
    assert capsys.readouterr().out.startswith("{The} harbour opens")


@pytest.mark.parametrize("command", [["text"], ["show", "http://a.example/c", "--in"]])
def test_an_archive_that_no_process_holds_is_refused(
    command: list[str], pages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before it is read, with the command for it."""
    with (pages / "large.warc").open("wb") as large:
        large.write(b"WARC/1.0\r\n")
        large.truncate(config.default().engine.local_bytes + 1)

    assert 2 == main([*command, str(pages / "large.warc")])
    assert "run `dbce extract` on them" in capsys.readouterr().err


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Newsroom]:
    """A server with a page in a charset that only its header names, at the end of a redirect, and an archive."""
    monkeypatch.setenv("no_proxy", "*")
    story = "Порт открылся в воскресенье, и сюда опять приходят <a href=ships>корабли</a>."
    text = f"<title>Порт</title><h1>Порт</h1><p>{story}"
    with newsroom() as room:
        room.answers["/start"] = [(301, {"Location": "/port/news"})]
        room.pages["/port/news"] = (text.encode("windows-1251"), "text/html; charset=windows-1251")
        packed = gzip.compress(record(http(HTML), url="http://a.example/archived"), mtime=0)
        room.pages["/download"] = (packed, "application/octet-stream")
        yield room


def test_a_page_of_the_web_is_fetched(web: Newsroom, capsys: pytest.CaptureFixture[str]) -> None:
    """By the charset of its header; its links lead on from where it was found."""
    assert 0 == main(["text", f"{web.url}/start", "--format", "markdown"])
    found = capsys.readouterr().out

    assert found.startswith("# Порт\n\nПорт открылся")
    assert f"[корабли]({web.url}/port/ships)" in found


def test_a_packed_page_of_the_web_is_read(web: Newsroom, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in gzip, not a body that was sent so."""
    web.pages["/page.html.gz"] = (gzip.compress(HTML.encode()), "application/gzip")

    assert 0 == main(["text", f"{web.url}/page.html.gz"])
    assert OWN in capsys.readouterr().out


@pytest.mark.parametrize("query", ["", "?signature=a1"])
def test_an_archive_of_the_web_is_read_in_ranges(web: Newsroom, query: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is known by the end of its path, however large it is."""
    body, kind = web.pages["/download"]
    web.pages[f"/crawl.warc.gz{query}"] = (body, kind)
    most = len(HTML.encode()) + 10
    assert most < len(body)

    assert 0 == main(["text", f"{web.url}/crawl.warc.gz{query}", "--set", f"page.max_html_bytes={most}"])
    assert OWN in capsys.readouterr().out


def test_pages_of_a_manifest_are_fetched(web: Newsroom, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that is not there is named, and does not end the others; an archive is known by its first bytes."""
    (tmp_path / "urls.txt").write_text(f"{web.url}/gone\n{web.url}/download\n{web.url}/port/news\n")

    assert 3 == main(["text", f"@{tmp_path / 'urls.txt'}"])
    printed = capsys.readouterr()
    named = [line for line in printed.out.splitlines() if line.startswith("== ")]
    assert [f"== {web.url}/port/news", "== http://a.example/archived  2020-01-02 03:04"] == named
    assert f"dbce: {web.url}/gone: cannot be fetched: the server answers 404" in printed.err


def test_the_order_of_pages_is_that_of_the_help(
    web: Newsroom, pages: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The web, files, standard input, archives; only pages of the web have the order of the arguments."""
    web.pages["/z"] = web.pages["/port/news"]
    piped(monkeypatch, HTML.encode())
    given = [f"{pages}/c.warc", "-", f"{pages}/deep/b.HTM", f"{pages}/a.html", f"{web.url}/z", f"{web.url}/port/news"]

    assert 0 == main(["text", *given])
    named = [line for line in capsys.readouterr().out.splitlines() if line.startswith("== ")]
    expected = [given[4], given[5], given[3], given[2], "-", "http://a.example/c  2020-01-02 03:04"]
    assert [f"== {name}" for name in expected] == named


def test_a_bad_page_does_not_end_the_others(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is named on stderr."""
    (pages / "empty.html").touch()

    assert 0 == main(["text", str(pages)])
    printed = capsys.readouterr()

    assert 3 == printed.out.count("== ")
    _, named = printed.err.splitlines()
    assert named.startswith(f"dbce: {pages}/empty.html: ")


def test_a_bad_record_is_named_with_its_file(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its URL alone may be in several."""
    archive(pages / "bad.warc", record(http("<script>1</script>"), url="http://bad.example/"))

    assert 0 == main(["text", str(pages)])
    assert f"dbce: http://bad.example/: {pages}/bad.warc: no_text: " in capsys.readouterr().err


def test_files_that_cannot_be_read_do_not_end_the_others(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are named on stderr, and the status is that of files that failed, once all others are printed."""
    (pages / "broken.warc.gz").write_bytes(gzip.compress(b"this is no record"))
    (pages / "cut.html.gz").write_bytes(gzip.compress(HTML.encode())[:40])

    assert 3 == main(["text", str(pages), str(pages / "cut.html.gz")])
    printed = capsys.readouterr()

    assert 3 == printed.out.count("== ")
    _, *named, last = printed.err.splitlines()
    assert [True, True] == [
        line.startswith(f"dbce: {pages}/{name}: ")
        for name, line in zip(("broken.warc.gz", "cut.html.gz"), sorted(named), strict=True)
    ]
    assert "2 inputs could not be read, for the reasons above; all others were" in last


def test_a_fault_of_standard_input_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not the file that it was put into meanwhile."""
    piped(monkeypatch, gzip.compress(b"this is no record"))

    assert 2 == main(["text", "-"])
    assert capsys.readouterr().err.startswith("dbce: standard input: not_an_archive: ")


def test_too_large_a_standard_input_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So is one that no process holds."""
    piped(monkeypatch, record(http(HTML), url="http://a.example/"))

    assert 2 == main(["text", "-", "--set", "engine.local_bytes=10"])
    assert capsys.readouterr().err.startswith("dbce: standard input: more than 10 bytes")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (gzip.compress(HTML.encode())[:100], "its gzip is cut"),
        (gzip.compress(HTML.encode() * 100), "more than 5000 bytes come out"),
        (HTML.encode() * 100, "it has more than 5000 bytes (page.max_html_bytes)"),
    ],
    ids=["cut", "bomb", "large"],
)
def test_a_page_of_standard_input_that_cannot_be_read_is_named(
    content: bytes, why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line, as such a file is; no more of it is read than a page may have."""
    piped(monkeypatch, content)

    assert 2 == main(["text", "-", "--set", "page.max_html_bytes=5000"])
    assert capsys.readouterr().err.startswith(f"dbce: standard input: cannot be read: {why}")
    assert sys.stdin.buffer.tell() <= 5001


def test_no_more_of_a_file_is_read_than_a_page_may_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without end, as a sparse one, takes no memory."""
    with (tmp_path / "zeros.html").open("wb") as file:
        file.truncate(1 << 42)
    (tmp_path / "a.html").write_text(HTML, encoding="utf-8")

    assert 3 == main(["text", str(tmp_path)])
    printed = capsys.readouterr()
    assert f"{tmp_path}/zeros.html: cannot be read: it has more than 10485760 bytes" in printed.err
    assert printed.out.startswith("Der Hafen")


def test_a_closed_pipe_ends_it_quietly(pages: Path) -> None:
    """`dbce text ... | head -1` prints no stack."""
    many = "".join(f"<p>{number} {OWN * 10}</p>" for number in range(1000))
    (pages / "a.html").write_text(HTML + many, encoding="utf-8")
    command: list[Any] = [sys.executable, "-m", "dbce_spark", "text", pages / "a.html"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout
        assert running.stderr
        assert running.stdout.readline().startswith(b"Der Hafen")
        running.stdout.close()

        assert (b"", 141) == (running.stderr.read(), running.wait())


@pytest.mark.parametrize(
    ("closed", "status", "out", "err"),
    [
        (">&-", 0, [], []),
        ("2>&-", 0, ["Der Hafen", OWN, OWN[::-1]], []),
        (">&- 2>&-", 0, [], []),
        ("<&-", 2, [], ["dbce: standard input is closed; send something to it, such as < FILE"]),
    ],
)
def test_streams_may_be_closed(pages: Path, closed: str, status: int, out: list[str], err: list[str]) -> None:
    """Nothing is printed then, and it is an error only where nothing can be read."""
    command = f"{sys.executable} -m dbce_spark text - < {pages}/a.html {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)

    assert (status, out, err) == (done.returncode, done.stdout.splitlines(), done.stderr.splitlines())


LODZ = "Der Hafen von Łódź"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_no_letter_is_lost(tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the encoding of the output lacks is written by its number, in JSON as JSON has it."""
    (tmp_path / "a.html").write_text(HTML.replace("Der Hafen", LODZ), encoding="utf-8")
    printed = []
    for form in ("text", "json"):
        streams = [io.TextIOWrapper(io.BytesIO(), encoding) for _ in range(2)]
        monkeypatch.setattr(sys, "stdout", streams[0])
        monkeypatch.setattr(sys, "stderr", streams[1])
        prepare_output()
        assert 0 == main(["text", str(tmp_path / "a.html"), "--format", form])
        printed.append(streams[0].buffer.getvalue().decode(encoding))

    assert LODZ == json.loads(printed[1])["text"].split("\n")[0]
    assert LODZ.encode(encoding, "backslashreplace").decode(encoding) == printed[0].split("\n")[0]


def test_a_process_loses_no_letter(tmp_path: Path) -> None:
    """The command prepares its output before it prints."""
    (tmp_path / "a.html").write_text(HTML.replace("Der Hafen", LODZ), encoding="utf-8")
    command: list[Any] = [sys.executable, "-m", "dbce_spark", "text", tmp_path / "a.html"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, check=True, env=environment)

    assert LODZ.encode("ascii", "backslashreplace") == done.stdout.splitlines()[0]


def test_it_needs_neither_spark_nor_pandas(pages: Path) -> None:
    """They cannot be imported, and it works."""
    program = (
        "import sys; sys.modules.update(pyspark=None, pandas=None);from dbce_spark.commands.cli import entry; entry()"
    )
    done = subprocess.run([sys.executable, "-c", program, "text", pages], capture_output=True, text=True, check=False)

    assert (0, 1) == (done.returncode, done.stderr.count("\n"))
    assert OWN in done.stdout
