"""Programs, queries and settings in the documentation run as they stand there, on the sample archive."""

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbce_spark.commands.cli import main
from tests.support.builders import archive, http, record
from tests.support.code_blocks import ROOT, blocks, commands

SENTENCE = "The old harbour opens on Sunday, and boats that were kept away by the storm come back to the pier at last. "
LINKING = f"""<base href="http://news.example/"><nav><ul><li><a href="/">Home</a></ul></nav>
<article><h1>The old harbour</h1>
<p>{SENTENCE * 3}</p><p><img src="img/pier.jpg" alt="The pier"></p>
<p>{SENTENCE} <a href="//port.example/opening">The harbour's own notice</a> has more. {SENTENCE}</p></article>"""


def programs(page: str, kind: str) -> list[str]:
    return [one.code for one in blocks() if (one.page, one.kind) == (page, kind)]


def test_the_program_of_the_readme_prints_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Title, language and main text of a page that stands in it."""
    (code,) = programs("README.md", "python")
    exec(code, {})
    title, language, *text = capsys.readouterr().out.splitlines()

    assert ("Harbour", "en") == (title, language)
    assert any("the old harbour opens on Sunday" in line for line in text)
    assert "Sport" not in text


def test_the_commands_of_the_readme_do_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of the five, one after the other, on a folder of that name with a page of that URL."""
    monkeypatch.chdir(tmp_path)
    page = "<h1>A page</h1><p>It has a text of its own, and some more words.</p>"
    Path("archive").mkdir()
    archive(Path("archive/crawl.warc.gz"), record(http(page), url="http://www.tagblatt.example/"))
    (shell,) = (block for block in blocks() if block.page == "README.md" and "dbce text" in block.code)
    printed = []
    for _, *words in commands(shell.code):
        assert 0 == main(words)
        printed.append(capsys.readouterr().out)

    assert 5 == len(printed)
    assert ("# A page" in printed[0], "A page" in printed[2]) == (True, True)
    assert "some more words" in "".join(path.read_text() for path in Path("report").rglob("*.html"))
    assert "some more words" in "".join(
        gzip.decompress(path.read_bytes()).decode() for path in Path("texts").rglob("*.jsonl.gz")
    )


def test_the_programs_of_python_print_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Each the lines of the block behind it, of which "..." stands for any."""
    code, shown = (
        [one.code for one in blocks() if (one.page, one.kind) == ("docs/python.md", k)] for k in ("python", "text")
    )
    for program, text in zip(code[: len(shown)], shown, strict=True):
        exec(program, {})

        assert capsys.readouterr().out.startswith(text.removesuffix("...\n"))


def test_the_query_of_the_tables_finds_a_text(extracted: Path) -> None:
    """It finds the text that a URL of the sample had on a day."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    for name, files in {"captures": "*.parquet", "extractions": "*/*.parquet"}.items():
        connection.sql(f"CREATE VIEW {name} AS SELECT * FROM '{extracted}/{name}/{files}'")
    (query,) = programs("docs/tables.md", "sql")
    asked = query.replace("org,example)/", "example,dnevnik)/2022/03/06/zapis-0").replace("2014-01-28", "2030-01-01")

    assert query != asked
    assert [] == connection.sql(query).fetchall()
    ((_, text),) = connection.sql(asked).fetchall()
    assert text


def test_metrics_are_where_they_are_scraped() -> None:
    """The path is that of the sink in conf/spark-defaults.conf."""
    (text,) = programs("docs/operations.md", "yaml")
    (scraped,) = yaml.safe_load(text)["scrape_configs"]
    settings = (ROOT / "conf/spark-defaults.conf").read_text(encoding="utf-8")

    assert scraped["metrics_path"].rstrip("/") in settings.split()


def test_url_tree_labels_an_archive(extracted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The program of docs/urltree.md, on the first file of the sample archive: the front page is its domain's first."""
    (code,) = programs("docs/urltree.md", "python")
    archive = extracted.parent / "archive"
    first, *_ = sorted(archive.glob("*.warc.gz"))
    space: dict[str, Any] = {}
    exec(code.replace("crawl/crawl-20220307-00000.warc.gz", str(first)), space)
    printed = capsys.readouterr().out.splitlines()

    assert first.name == "crawl-20220307-00000.warc.gz"
    assert printed[0].startswith("gazette.example 1 [1, 1, ")
    assert len(printed) == sum(map(len, space["trees"].values()))


@pytest.mark.spark
def test_pages_of_a_dataframe_are_extracted(spark: object, capsys: pytest.CaptureFixture[str]) -> None:
    """The last program of docs/python.md."""
    exec(programs("docs/python.md", "python")[-1], {"spark": spark})

    assert "http://news.example/1" in capsys.readouterr().out


@pytest.mark.spark
def test_archives_are_read_as_dataframes(spark: object, extracted: Path, tmp_path: Path) -> None:
    """The programs of docs/source.md, one after the other, on the sample archive and a page with an image. Spark's own
    processes stand where it was started, so folders are named in full."""
    crawl, texts = shutil.copytree(extracted.parent / "archive", tmp_path / "crawl"), tmp_path / "extracted"
    archive(crawl / "links.warc.gz", record(http(LINKING), url="http://news.example/a/"))
    options = ["--format", "text,html", "--engine", "local", "--max-failed-files", "1"]
    assert 0 == main(["extract", str(crawl), "--output", str(texts), *options])
    space: dict[str, Any] = {"spark": spark}
    for code in programs("docs/source.md", "python"):
        assert '"crawl/"' in code or '"extracted/extractions"' in code
        code = code.replace('"crawl/"', repr(str(crawl))).replace('"extracted/', f'"{texts}/')
        exec(code, space)
    found, in_texts = (
        {(row.kind, row.dest, row.text) for row in space[name].where("src = 'http://news.example/a/'").collect()}
        for name in ("found", "found_in_texts")
    )

    assert space["records"].count() == space["heads"].count() > 100
    assert ["url", "headers"] == space["heads"].columns
    assert found == {
        ("link", "http://news.example/", "Home"),
        ("link", "http://port.example/opening", "The harbour's own notice"),
        ("image", "http://news.example/img/pier.jpg", "The pier"),
    }
    assert in_texts == {one for one in found if one[2] != "Home"}
    assert [("news.example", "port.example", 1)] == [
        (row.src, row.dest, row["count"]) for row in space["graph"].where("src = 'news.example'").collect()
    ]
