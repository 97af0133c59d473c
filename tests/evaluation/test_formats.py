"""The published sets, made small and in our own words, but laid out as they are."""

import codecs
import gzip
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dbce_spark.errors import InputError
from dbce_spark.evaluation import formats
from dbce_spark.evaluation.datasets import GoldPage, read
from dbce_spark.evaluation.formats import LAYOUTS

PAGE = "<html><body><ul><li>Menu</ul><p>The ferry \u201cGull\u201d sails.</p></body></html>"
SEPARATOR = "!@#$%^&*() COMMENTS"


def laid_out(folder: Path, files: Mapping[str, str | bytes]) -> str:
    """Make a folder with these files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(folder)


def only(path: str) -> GoldPage:
    """Return the one page of the one set there."""
    [pages] = read([path]).sets.values()
    [page] = pages
    return page


def readability(folder: Path) -> str:
    metadata = {"title": "Ferries", "lang": "en-GB", "readerable": True}
    expected = '<div id="readability-page-1" class="page"><h2>Ferries</h2><p>It <b>sails</b>.</p></div>'
    case = {"source.html": PAGE, "expected.html": expected, "expected-metadata.json": json.dumps(metadata)}
    return laid_out(folder, {f"ferry-1/{name}": content for name, content in case.items()})


def article_extraction(folder: Path) -> str:
    key = "ab" * 32
    truth = {key: {"articleBody": "The ferry sails.", "url": "https://www.ferry.example/gull"}}
    html = {f"html/{key}.html.gz": gzip.compress(PAGE.encode())}
    return laid_out(folder, {"ground-truth.json": json.dumps(truth), **html})


def cetd(folder: Path) -> str:
    gold = codecs.BOM_UTF8 + b"The ferry sails."
    return laid_out(folder, {"BBC/original/7.htm": PAGE, "BBC/gold/7.txt": gold})


def cleaneval(folder: Path) -> str:
    header = '<text id="http://www.ferry.example/gull" title="A > B" encoding="windows-1252">\n'
    page = (header + PAGE + "\n</text>\n").encode("cp1252")
    gold = (
        "\nURL: http://www.ferry.example/gull\n<h>Ferries\n\n<p>The ferry &#8220;Gull&#8221;\n sails.\n____\n<l>1 < 2\n"
    )
    return laid_out(folder, {"finalrun-input/7.html": page, "GoldStandard/7.txt": gold})


def dragnet(folder: Path) -> str:
    gold = f"The ferry sails.\n\n{SEPARATOR}\nAt last!\n"
    return laid_out(folder, {"HTML/R7.html": PAGE, "Corrected/R7.html.corrected.txt": gold})


SETS = {
    "readability": readability,
    "article-extraction-benchmark": article_extraction,
    "cetd": cetd,
    "cleaneval": cleaneval,
    "dragnet": dragnet,
}
GOLDS = {
    "readability": "Ferries\nIt sails.",
    "cleaneval": "Ferries\n\nThe ferry \u201cGull\u201d\n sails.\n \n1 < 2",
}


@pytest.mark.parametrize("name", SETS)
def test_a_folder_is_recognised_by_its_layout(name: str, tmp_path: Path) -> None:
    """Each of the five sets is recognised by its folder alone, and by no other layout."""
    folder = Path(SETS[name](tmp_path))
    assert [name] == [other for other, layout in LAYOUTS.items() if layout.fits(folder)]
    assert set(SETS) == set(LAYOUTS)
    assert name == only(str(folder)).dataset


@pytest.mark.parametrize("name", SETS)
def test_the_page_and_its_gold_are_text(name: str, tmp_path: Path) -> None:
    """Whatever the charset and the packing, the page is there in full, and its gold without markup or comments."""
    page = only(SETS[name](tmp_path))
    assert PAGE == page.html.strip()
    assert GOLDS.get(name, "The ferry sails.") == page.gold


@pytest.mark.parametrize("name", SETS)
def test_a_page_has_the_digest_of_its_stored_html_as_id(name: str, tmp_path: Path) -> None:
    """The id is the SHA-256 of the file's bytes, unpacked."""
    folder = Path(SETS[name](tmp_path))
    [stored] = [*folder.rglob("source.html"), *folder.rglob("7.htm*"), *folder.rglob("R7.html"), *folder.rglob("*.gz")]
    content = stored.read_bytes()
    plain = gzip.decompress(content) if stored.suffix == ".gz" else content
    assert hashlib.sha256(plain).hexdigest() == only(str(folder)).page_id


@pytest.mark.parametrize(
    ("name", "url", "site", "lang"),
    [
        ("readability", "", "", "en"),
        ("article-extraction-benchmark", "https://www.ferry.example/gull", "ferry.example", ""),
        ("cetd", "", "bbc", "en"),
        ("cleaneval", "http://www.ferry.example/gull", "ferry.example", ""),
        ("dragnet", "", "", ""),
    ],
)
def test_what_a_set_knows_of_its_pages(name: str, url: str, site: str, lang: str, tmp_path: Path) -> None:
    """Pages have URL, site and language, as far as the set has them."""
    page = only(SETS[name](tmp_path))
    assert (url, site, site, lang) == (page.url, page.site, page.group, page.lang)


@pytest.mark.parametrize(
    ("pages", "golds"),
    [
        ("input/7.html", "gold_std/7.txt"),
        ("orig/7.html", "clean/7.txt"),
        ("en_original/7.html", "en_cleaned/7-cleaned.txt"),
        ("7.html", "7-cleaned.txt"),
    ],
)
def test_every_way_that_cleaneval_was_packed(pages: str, golds: str, tmp_path: Path) -> None:
    """The final run, its copies and the development set lie in folders of many names, or together."""
    page = only(laid_out(tmp_path, {pages: PAGE, golds: "<p>The ferry\n<p>sails."}))
    assert ("cleaneval", "The ferry\nsails.") == (page.dataset, page.gold)


def test_the_tag_around_a_cleaneval_page_has_its_url_and_charset(tmp_path: Path) -> None:
    """It counts if the gold text does not name the URL, and the page itself not the charset."""
    header = '<text id="http://ferry.example/" title="" encoding="windows-1251">'
    stored = (header + "<p>\u041f\u0430\u0440\u043e\u043c</text>").encode("cp1251")
    page = only(laid_out(tmp_path, {"input/7.html": stored, "GoldStandard/7.txt": "<p>x"}))
    assert ("http://ferry.example/", "<p>\u041f\u0430\u0440\u043e\u043c") == (page.url, page.html)


def test_comments_are_kept_beside_the_main_text(tmp_path: Path) -> None:
    """Text behind dragnet's separator is a field of its own, and a text without one has none."""
    dragnet(tmp_path)
    laid_out(tmp_path, {"HTML/2.html": "<p>two", "Corrected/2.html.corrected.txt": "two"})
    comments = {entry.fields["filename"]: entry.fields["gold_comments"] for entry in formats.entries(str(tmp_path))}
    assert {"2.html": "", "R7.html": "At last!\n"} == comments


def test_the_folder_within_the_folder_of_dragnet(tmp_path: Path) -> None:
    """The archive with the gold texts unpacks into a folder of the same name."""
    path = laid_out(tmp_path, {"HTML/2.html": "<p>two", "corrected/Corrected/2.html.corrected.txt": "two"})
    assert "two" == only(path).gold


def test_chaos_is_no_site(tmp_path: Path) -> None:
    """The pages of CETD's mixed folder come from everywhere; those of the others are siblings."""
    cetd(tmp_path)
    path = laid_out(tmp_path, {"Chaos/original/7.html": "<p>seven", "Chaos/gold/7.htm.txt": "seven"})
    assert {"bbc": "The ferry sails.", "": "seven"} == {page.site: page.gold for page in read([path]).sets["cetd"]}


def test_one_site_of_cetd_by_itself(tmp_path: Path) -> None:
    """The folder of a site is a set like the folder of all."""
    cetd(tmp_path)
    assert "bbc" == only(str(tmp_path / "BBC")).site


def test_gold_texts_in_the_charset_of_their_day(tmp_path: Path) -> None:
    """UTF-16 with its mark, Windows-1252 without one: both are read (study, section 3.1)."""
    gold = {
        "1.txt": "\u201cOne\u201d".encode("cp1252"),
        "2.txt": codecs.BOM_UTF16_LE + "\u201cTwo\u201d".encode("utf-16-le"),
    }
    pages = {f"BBC/original/{number}.htm": f"<p>{number}" for number in (1, 2)}
    path = laid_out(tmp_path, pages | {f"BBC/gold/{name}": content for name, content in gold.items()})
    assert ["\u201cOne\u201d", "\u201cTwo\u201d"] == [page.gold for page in read([path]).sets["cetd"]]


@pytest.mark.parametrize("name", SETS)
def test_what_has_no_partner_or_is_there_twice_is_counted(name: str, tmp_path: Path) -> None:
    """A page without gold, a gold without page and the same HTML again are skipped, and nothing else is."""
    alone: Mapping[str, dict[str, Any]] = {
        "readability": {"no-gold/source.html": "<p>x", "z/source.html": PAGE, "z/expected.html": "<p>y"},
        "article-extraction-benchmark": {"html/zz.html.gz": gzip.compress(b"<p>x")},
        "cetd": {"BBC/original/8.htm": "<p>x", "BBC/gold/9.txt": "x"},
        "cleaneval": {"finalrun-input/8.html": "<p>x", "GoldStandard/9.txt": "<p>x"},
        "dragnet": {"HTML/R8.html": PAGE, "Corrected/R8.html.corrected.txt": "y", "HTML/R9.html": "<p>x"},
    }
    path = laid_out(Path(SETS[name](tmp_path)), alone[name])
    gold = read([path])
    assert [1] == [len(pages) for pages in gold.sets.values()]
    assert {name: 1 if name == "article-extraction-benchmark" else 2} == gold.skipped


def test_a_truth_without_its_page_is_counted(tmp_path: Path) -> None:
    """A key of ground-truth.json that no file is named after."""
    article_extraction(tmp_path)
    truth = json.loads((tmp_path / "ground-truth.json").read_text())
    (tmp_path / "ground-truth.json").write_text(json.dumps({"cd" * 32: {"articleBody": "x"}, **truth}))
    assert {"article-extraction-benchmark": 1} == read([str(tmp_path)]).skipped


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no set of gold pages is known to look like this; give a file of JSON lines, or readability"),
        ({"1.html": "<p>x", "1.txt": "plain"}, "no set of gold pages is known"),
        ({"ground-truth.json": "{", "html/1.html.gz": b""}, "ground-truth.json: no JSON"),
        ({"ground-truth.json": "[" * 100_000, "html/1.html.gz": b""}, "ground-truth.json: no JSON"),
        ({"ground-truth.json": "[]", "html/1.html.gz": b""}, "ground-truth.json: a JSON list, not an object"),
        (
            {"ground-truth.json": '{"1": {"articleBody": 3}}', "html/1.html.gz": b""},
            "ground-truth.json, 1: articleBody must be a text",
        ),
        (
            {"ground-truth.json": '{"1": {"articleBody": ""}}', "html/1.html.gz": b"\x1f\x8bnonsense"},
            "html/1.html.gz: cannot be read",
        ),
        ({"a/source.html": "<p>x", "a/expected.html": ""}, "a/expected.html: no HTML"),
        (
            {"a/source.html": "<p>x", "a/expected.html": "<p>x", "a/expected-metadata.json": "[]"},
            "a/expected-metadata.json: a JSON list, not an object",
        ),
    ],
)
def test_a_folder_that_cannot_be_read_is_an_error_of_one_line(
    files: dict[str, str | bytes], message: str, tmp_path: Path
) -> None:
    """A folder of no layout, or a broken one, is named with the file and its fault."""
    with pytest.raises(InputError, match=r"^[^\n]+$") as error:
        read([laid_out(tmp_path, files)])
    assert message in str(error.value)


def test_an_expected_page_without_a_word_is_an_empty_gold(tmp_path: Path) -> None:
    """Readability has tests in which nothing is to be found."""
    path = laid_out(tmp_path, {"a/source.html": "<p>x", "a/expected.html": '<div id="readability-page-1"></div>'})
    assert "" == only(path).gold
