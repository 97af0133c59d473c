"""The package's face: pages that are at hand, extracted without Spark."""

import ast
import inspect
import io
import json
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cached_property, partial
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml.etree import ElementTree
from lxml.html import fragment_fromstring

import dbce_spark
from benchmarks.samples import write_archive
from dbce_spark import (
    ExtractedBlock,
    ExtractedPage,
    InputError,
    PageRecord,
    config,
    extract,
    extract_archive,
    extract_pages,
)
from dbce_spark.archive.index.urls import url_key
from dbce_spark.dbce import local, page_labels
from dbce_spark.dbce.extraction.page_extraction import extract_parsed
from dbce_spark.dbce.kept import kept_formats
from dbce_spark.dbce.kept.kept_formats import Formats
from dbce_spark.dbce.pages import parse_fetches
from dbce_spark.files import sources
from dbce_spark.html import dom
from dbce_spark.html.language import UNKNOWN
from dbce_spark.model import ComparedPage, Extraction, Segments
from dbce_spark.output.schemas.extraction_rows import EXTRACTIONS, extractions_batch
from tests.support.builders import archive, http, record
from tests.support.news_pages import SITE, page


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample archive, small."""
    folder = tmp_path_factory.mktemp("crawl")
    write_archive(folder, pages=12, seed=3)
    return folder


def test_one_page_has_its_text_and_its_blocks() -> None:
    """Title, main text, all text, and each block with label, score and evidence: none, as it is alone."""
    found = extract(page(1), SITE + "1", date="2020-01-02")

    assert (SITE + "1", datetime(2020, 1, 2, tzinfo=UTC), "Seite 1") == (found.url, found.date, found.title)
    assert "Satz 129" in found.text
    assert "Politik" not in found.text
    assert "Politik" in found.page_text
    assert found.page_text == "\n".join(block.text for block in found.blocks)
    assert {"content", "boilerplate"} == {block.label for block in found.blocks}
    assert {(0, 0, 0, 0)} == {(b.siblings, b.siblings_with, b.snapshots, b.snapshots_with) for b in found.blocks}


PARAGRAPH = """She was born in 1931 in a village near the coast, and studied chemistry at the university of the capital.
After her doctorate she worked for ten years in a laboratory of catalysts, and published forty papers on zeolites.
Her students remember a strict teacher."""
SENTENCE = "The town has renewed the quay, and ships can land there again."
MESSAGE = "This page is not there any more."


@pytest.mark.parametrize("html", ["<p>{}</p>", "<title>Ann</title><div>{}</div>", "<p>{} <a href=/x>more</a></p>"])
@pytest.mark.parametrize(("text", "is_kept"), [(PARAGRAPH, True), (SENTENCE, True), (MESSAGE, False)])
def test_a_paragraph_alone_is_the_content(html: str, text: str, is_kept: bool) -> None:
    """A page of one block of 10 words or more is judged as with favor="recall"; shorter ones are messages mostly."""
    found = extract(html.format(text))

    assert found.text == (found.page_text if is_kept else "")
    assert is_kept or "" == extract(html.format(text), favor="precision").text
    assert found.page_text == extract(html.format(text), favor="recall").text


def test_what_is_kept_has_markdown_and_html_and_what_the_page_says_of_itself() -> None:
    """The words of the main text and no others, links against the page's URL, and each fact with its place."""
    linked = (
        page(1)
        .replace("<p>Satz", "<p><a href=/haus>Satz</a>")
        .replace("<title>", "<meta name=author content='A. B.'><title>")
    )
    found = extract(linked, SITE + "1")

    assert found.markdown.startswith("# Seite 1\n\n[Satz](http://news.example.org/haus)")
    assert found.html.startswith("<article><h1>Seite 1</h1>")
    assert ("A. B.", "author meta:author") == (found.about.author, found.about.found_in[0])
    assert "Politik" not in found.markdown + found.html


def test_formats_are_written_when_they_are_looked_at() -> None:
    """A caller that wants text alone does not wait for them."""
    found = extract(page(1))
    before = set(vars(found))
    written = found.markdown

    assert {"markdown"} == set(vars(found)) - before
    assert written is found.markdown


def test_what_is_no_page_has_empty_formats() -> None:
    """Nothing is kept of it, and nothing is known."""
    (none,) = extract_pages([""])

    assert ("", "", "", ()) == (none.markdown, none.html, none.about.author, none.about.found_in)


def test_a_page_is_shown_in_few_words() -> None:
    """At a prompt: its URL, its title, how its text begins, and how much there is of it, whatever is in them."""
    long = page(1).replace("<title>", f"<title>{'T' * 5000}").replace("<p>", "<p>\x1b[31m" + "word " * 5000)
    shown, error = map(repr, extract_pages([(page(1), SITE + "1", "2020-01-02"), ("", SITE)]))

    assert shown.startswith(
        f"<ExtractedPage url='{SITE}1' date='2020-01-02T00:00:00+00:00' title='Seite 1' text='Seite "
    )
    assert re.search(r"…' \(\d+ words\) blocks=\d+ confidence=[01]\.\d\d page_type='page'>$", shown), shown
    assert f"<ExtractedPage url='{SITE}' date=None error='empty_payload: there is no HTML'>" == error
    assert len(repr(extract(long, SITE + "x" * 5000))) < 500
    assert "\x1b" not in repr(extract(long))


def test_a_page_is_a_dict_of_plain_values() -> None:
    """They are its own, and pass through JSON; formats are those that are asked for."""
    found = extract(page(1), SITE + "1", date="2020-01-02")
    whole = found.to_dict()
    names = ["url", "title", "language", "confidence", "page_type", "text", "markdown", "html", "record", "error"]

    assert whole == json.loads(json.dumps(whole))
    assert {*names, "date", "about", "flags"} == {*whole}
    assert [getattr(found, name) for name in names] == [whole[name] for name in names]
    assert ("2020-01-02T00:00:00+00:00", found.about.title) == (whole["date"], whole["about"]["title"])
    assert {*whole} - {"html", "about"} == {*found.to_dict(["markdown"])}
    assert {*whole} - {"markdown", "html", "about"} == {*found.to_dict(formats=())}
    with pytest.raises(InputError, match="there is no format pdf; there are text, markdown, html, about"):
        found.to_dict(["pdf"])


def test_formats_of_a_dict_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is parsed for them once more, and not at all for those that are written."""
    parsed: list[bytes] = []

    def parse_tree(html: bytes) -> Any:
        parsed.append(html)
        return dom.parse_tree(html)

    monkeypatch.setattr(kept_formats, "parse_tree", parse_tree)
    found = extract(page(1))

    assert found.to_dict() == found.to_dict() == extract(page(1)).to_dict()
    assert 2 == len(parsed)


def test_a_dict_has_the_record_and_the_error(tmp_path: Path) -> None:
    """Of a page of an archive, and of an input that is no page."""
    archive(tmp_path / "a.warc", record(http(page(1)), url=SITE + "1"))
    (found,) = extract_archive(tmp_path)
    (none,) = extract_pages([""])

    assert found.record
    assert asdict(found.record) == found.to_dict()["record"]
    assert ("empty_payload: there is no HTML", "", None) == tuple(
        none.to_dict()[name] for name in ("error", "markdown", "confidence")
    )


def test_pages_of_an_archive_have_formats_too(tmp_path: Path) -> None:
    """As the same page handed over has them, in whatever charset it came."""
    declared = page(3).replace("<title>", "<meta charset=iso-8859-1><title>").encode("latin-1")
    archive(tmp_path / "a.warc", record(http(declared), url=SITE + "3"))
    (found,) = extract_archive(tmp_path / "a.warc")
    alone = extract(declared, SITE + "3")

    assert (alone.markdown, alone.html, alone.about) == (found.markdown, found.html, found.about)
    assert "erzählt" in found.markdown


@pytest.mark.parametrize("html", [page(2), page(2).encode(), page(2).encode("utf-16")])
def test_a_page_is_text_or_bytes(html: str | bytes) -> None:
    """Bytes are decoded as those of an archive are."""
    assert extract(page(2)) == extract(html)


def test_text_is_no_other_charset_whatever_it_declares() -> None:
    """A str has been decoded already."""
    declared = page(2).replace("<title>", "<meta charset=latin-1><title>")

    assert "erzählt" in extract(declared).text


def test_halves_of_surrogate_pairs() -> None:
    """Two that belong together are their character, and one alone is U+FFFD, as where a page refers to it."""
    found = extract("<p>Half \ud83d a pair, the other &#xdfe5; half and both \ud83d\udfe5 of them, as in JSON.</p>")

    assert "Half \ufffd a pair, the other \ufffd half and both \U0001f7e5 of them, as in JSON." == found.page_text


def test_pages_of_a_site_are_siblings() -> None:
    """Text that all have counts against a block, text that one has alone counts for it; pages of another site do not
    count."""
    found = extract_pages([(page(number), f"{SITE}{number}") for number in range(5)] + [(page(9), "http://b.example/")])
    menu = next(block for block in found[0].blocks if "Kultur" in block.text)
    own = max(found[0].blocks, key=lambda block: len(block.text))

    assert menu.siblings == menu.siblings_with > 0
    assert (own.siblings, 0) == (menu.siblings, own.siblings_with)
    assert 0 == found[5].blocks[0].siblings


def test_what_a_site_is_is_a_setting() -> None:
    """Pages that are handed over go by `input.site`, as those of archives do."""
    pages = [(page(number), f"http://{number}.example.org/") for number in range(3)]
    siblings = {
        site: extract_parsed(pages, partial(parse_fetches, config=given), given)[0].blocks[0].siblings
        for site in ("domain", "host")
        for given in [config.load(settings=[f"input.site={site}"])]
    }

    assert {"domain": 2, "host": 0} == siblings


def test_pages_without_url_are_of_one_site() -> None:
    """Each is a page of its own; a page that comes twice is one."""
    found = extract_pages([*map(page, range(4)), page(0)])

    assert found[0] == found[4]
    assert found[0].blocks[0].siblings > 0
    assert 0 == found[0].blocks[0].snapshots


def test_captures_of_a_url_are_snapshots() -> None:
    """By their dates, or in the order that they came in; they are counted where there are siblings, too."""
    others = [(page(number), f"{SITE}{number}") for number in range(5, 9)]
    dated = [(page(number), SITE, datetime(2020 + number, 1, 1)) for number in (2, 0, 1)]
    undated = [(page(number), SITE) for number in range(3)]
    of_second = [extract_pages([*dated, *others])[2], extract_pages([*undated, *others])[1]]
    menus = [next(one for one in found.blocks if "Kultur" in one.text) for found in of_second]

    assert ["Seite 1", "Seite 1"] == [found.title for found in of_second]
    assert [(2, 2), (2, 2)] == [(one.snapshots, one.snapshots_with) for one in menus]


@given(st.lists(st.sampled_from(range(6)), max_size=8))
@settings(max_examples=20)
def test_results_come_in_the_order_of_the_pages(numbers: list[int]) -> None:
    """One for each, whatever else is among them."""
    found = extract_pages("" if number == 5 else (page(number), f"{SITE}{number}") for number in numbers)

    assert ["" if number == 5 else f"Seite {number}" for number in numbers] == [one.title for one in found]
    assert [number == 5 for number in numbers] == [one.error != "" for one in found]


@given(st.lists(st.sampled_from(["p", "div", "li", "a", "h1", "td"]).flatmap(
    lambda tag: st.text(st.characters(codec="utf-8"), min_size=1).map(lambda text: f"<{tag}>{text}</{tag}>")
)))  # fmt: skip
def test_the_blocks_are_the_text(parts: list[str]) -> None:
    """Blocks of all labels are the page, and blocks of content the main text."""
    (found,) = extract_pages(["".join(parts)])
    kept = [block.text for block in found.blocks if block.label == "content"]

    assert found.page_text == "\n".join(block.text for block in found.blocks)
    assert found.text == "\n".join(kept)


def test_the_order_of_pages_does_not_count() -> None:
    """But for undated captures of one URL."""
    pages: list[Any] = [
        (page(number), f"{SITE}{number % 5}", None if number < 5 else "2020-01-01") for number in range(8)
    ]
    pages += [(page(number), None, None) for number in (8, 9)]

    found, turned = extract_pages(pages), extract_pages(pages[::-1])[::-1]

    assert found == turned
    assert [one.blocks for one in found] == [one.blocks for one in turned]


@pytest.mark.parametrize("html", ["", b"", "<script>1</script>", "<p></p>"])
def test_what_is_no_page_is_one_error(html: str | bytes) -> None:
    """In one line; among others it has no text, and the error."""
    with pytest.raises(InputError, match=r"^\w+: [^\n]+$"):
        extract(html)
    bad, good = extract_pages([html, page(1)])

    assert (bad.text, bad.blocks, True) == ("", (), bool(bad.error))
    assert good == extract(page(1))


@pytest.mark.parametrize(
    ("given", "essence"),
    [
        (b"%PDF-1.4\n1 0 obj", "application/pdf"),
        ("%PDF-1.4\n1 0 obj", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"PK\x03\x04\0\0", "application/zip"),
        ("<rss><channel><title>News</title></channel></rss>", "application/rss+xml"),
    ],
)
def test_what_is_no_html_is_named(given: str | bytes, essence: str) -> None:
    """As a record of an archive that is none; it was a page of no text, sure of it."""
    bad, good = extract_pages([given, page(1)])

    assert (f"not_html: is {essence}", "", None, None) == (bad.error, bad.text, bad.confidence, bad.page_type)
    assert good == extract(page(1))


@pytest.mark.parametrize(
    "given",
    [
        "After two years the old harbour opens again, and all are there.",
        "A ticket to the old harbour costs 4.50",
        "The harbour opens:\n\n  1 < 2 boats from Kiel\n  and all the ferries from and to Oslo.\n",
        '{"of":"http://a.example/",\n "boats":["one","two","three","four","five","six","seven","eight","nine","ten"]}',
    ],
)
def test_text_without_a_tag_is_a_page(given: str) -> None:
    """As under the name of HTML in an archive, with its lines."""
    assert given.strip() == extract(given).page_text


@pytest.mark.parametrize("given", ["http://news.example/a?b=1", "pages/a", "my page.html\n", b"x.php"])
def test_a_place_in_place_of_html_is_shown_what_reads_it(given: str | bytes) -> None:
    """A URL, or the path of a file."""
    expected = (
        "^not_html: is text/plain; this names a place, and is no HTML: read what is there first, or give it to"
        " `dbce text`$"
    )
    with pytest.raises(InputError, match=expected):
        extract(given)


@pytest.mark.parametrize("html", ["", b"", b" \r\n"])
def test_nothing_is_an_empty_payload(html: str | bytes) -> None:
    """As a record of an archive that has none."""
    assert ["empty_payload: there is no HTML"] == [one.error for one in extract_pages([html])]


@pytest.mark.parametrize("place", ["http://a.example/", ""])
def test_html_in_the_place_of_the_url_is_said(place: str) -> None:
    """If there is none in its own; a URL that is none does no harm to a page."""
    (bad,) = extract_pages([(place, page(1))])
    (good,) = extract_pages([(page(1), "http://a.example/<p>")])

    assert bad.error.endswith("; the HTML is in the place of the URL: HTML comes first, (html, url)")
    assert "" == good.error


def test_a_table_is_no_pages() -> None:
    """Its names of columns are none either."""
    for table in (pa.table({"html": ["<p>a"]}), pd.DataFrame({"html": ["<p>a"]})):
        with pytest.raises(InputError, match=f"this {type(table).__name__} is a table: use `extract_table`"):
            extract_pages(table)  # type: ignore[arg-type]
    assert ["a"] == [one.page_text for one in extract_pages(pd.Series(["<p>a"]))]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_page_begins_as_it_likes(encoding: str) -> None:
    """A tag anywhere makes it one."""
    (found,) = extract_pages([f"{'So it goes. ' * 200}<b>And on.".encode(encoding)])

    assert ("", True) == (found.error, found.page_text.endswith("And on."))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [((None,), "NoneType"), (("<p>a", 1), "int"), (("<p>a", "", 20200102), "text, not int: 20200102")],
)
def test_what_is_of_the_wrong_type_is_the_same_error(arguments: tuple[Any, ...], named: str) -> None:
    """And it names what it was given."""
    with pytest.raises(InputError, match=named):
        extract_pages([arguments])


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        ("<p>a", "pages are several, such as a list of them, not str; `extract` takes one"),
        (b"<p>a", "not bytes"),
        (None, "not NoneType"),
        ({"a": "<p>a"}, "not dict"),
        (["<p>a", 5], r"^pages\[1\]: a page is str or bytes, not int$"),
        ([("<p>a", None, None, None)], r"^pages\[0\]: .*not a tuple of 4$"),
        ([()], "not a tuple of 0"),
        ([["<p>a", "http://a/"]], r"not list; one with its URL is a tuple: \(html, url\) or \(html, url, date\)$"),
        ([Path("a.html")], r"not \w*Path; give its \.read_bytes\(\)$"),
        ([io.BytesIO(b"<p>a")], r"^pages\[0\]: a page is str or bytes, not BytesIO; give its \.read\(\)$"),
        ([io.StringIO("<p>a")], r"not StringIO; give its \.read\(\)$"),
        ([bytearray(b"<p>a")], r"not bytearray; give it as bytes\(\.\.\.\)$"),
        ([memoryview(b"<p>a")], r"not memoryview; give it as bytes\(\.\.\.\)$"),
        ([fragment_fromstring("<p>a")], r"not HtmlElement; give it as lxml\.html\.tostring\(\.\.\.\)$"),
        ([ElementTree(fragment_fromstring("<p>a"))], r"not _ElementTree; give it as lxml\.html\.tostring\(\.\.\.\)$"),
        ([("http://a/", b"<p>a")], r"^pages\[0\]: a URL is str, not bytes; HTML comes first: \(html, url\)$"),
    ],
)
def test_what_are_no_pages_is_said_with_their_place(pages: Any, message: str) -> None:
    """One page in place of several, no pages at all, and one bad page among others."""
    with pytest.raises(InputError, match=message):
        extract_pages(pages)


def test_a_soup_is_to_be_written() -> None:
    """It has every attribute that it is asked for."""
    soup = pytest.importorskip("bs4").BeautifulSoup("<p>a", "lxml")
    with pytest.raises(InputError, match=r"not BeautifulSoup; give it as str\(\.\.\.\)$"):
        extract(soup)


def test_a_tuple_of_html_alone_is_a_page() -> None:
    """As HTML is."""
    assert extract_pages([page(1)]) == extract_pages([(page(1),)])


@pytest.mark.parametrize(
    "given",
    [
        *(date(2020, 1, 2), np.datetime64("2020-01-02"), datetime(2020, 1, 2, tzinfo=UTC)),
        *("2020-01-02", "20200102000000", "Thu, 2 Jan 2020 00:00:00 +0000"),
    ],
)
def test_a_date_is_written_in_many_ways(given: Any) -> None:
    """A day is its midnight in UTC; 14 digits are what indexes of archives have."""
    assert datetime(2020, 1, 2, tzinfo=UTC) == extract(page(1), date=given).date


@pytest.mark.parametrize("given", ["", " \n", float("nan"), "NaT", np.datetime64("NaT", "s")])
def test_no_time_is_no_date(given: Any) -> None:
    """NumPy has one, and pandas another; an empty cell of a table of text is one too."""
    none = pytest.importorskip("pandas").NaT if given == "NaT" else given

    assert extract(page(1), date=none).date is None


@pytest.mark.parametrize("given", [20200102, np.array([1, 2]), b"2020-01-02"])
def test_what_is_no_date_is_refused(given: Any) -> None:
    """A number, several, and bytes."""
    with pytest.raises(InputError, match=r"^a date is a datetime, a date, or text, not "):
        extract(page(1), date=given)


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ("Jan 2, 2020", "the date 'Jan 2, 2020' is not in ISO 8601 "),
        ("20201302000000", "the date '20201302000000' is not in ISO 8601 "),
        ("x" * 99, f"the date '{'x' * 59}… is not in ISO 8601 "),
        (np.datetime64("20000-01-01"), "the date .* is in no year from 1 to 9999 in UTC"),
        (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))), "the date .* is in no year from 1 to 9999 in UTC"),
    ],
)
def test_a_date_that_cannot_be_read_takes_no_other_page_away(given: Any, cause: str) -> None:
    """Its page has an error; one page alone raises the same words."""
    others = [(page(number), SITE) for number in range(3)]
    first, bad, *rest = extract_pages([others[0], (page(4), SITE, given), *others[1:]])

    assert extract_pages(others) == [first, *rest]
    assert re.match(f"bad_timestamp: {cause}", bad.error)
    assert (SITE, None, "") == (bad.url, bad.date, bad.text)
    with pytest.raises(InputError, match=f"^bad_timestamp: {cause}"):
        extract(page(4), SITE, date=given)


def test_the_formats_of_dates_that_are_named_are_read() -> None:
    """The error of a date names an example of each."""
    (bad,) = extract_pages([(page(1), SITE, "yesterday")])
    examples = re.findall(r"\(([^()]+)\)", bad.error)

    assert [7, 7, 7] == [(extract(page(1), date=one).date or datetime.min).month for one in examples]


def test_a_year_of_the_buddhist_era_is_no_date() -> None:
    """Of a page without a time too, whose dates have no capture that they could be after."""
    head = '<meta property="article:published_time" content="2561-05-25"><time datetime="2018-05-25">25</time>'

    assert "2018-05-25" == extract(f"{head}<p>{'The harbour opens again on Sunday. ' * 20}").about.date


def test_a_page_that_cannot_be_labelled_has_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others come out as they would."""
    expected = extract_pages([page(1), page(2)])
    build = page_labels.build_extraction

    def fail(compared: ComparedPage, segments: Segments, scored: page_labels.ScoredPage) -> Extraction:
        if compared.page.metadata.title == "Seite 2":
            raise ValueError("no second page")
        return build(compared, segments, scored)

    monkeypatch.setattr(page_labels, "build_extraction", fail)
    first, second = extract_pages([page(1), page(2)])

    assert expected[0].blocks == first.blocks
    assert (expected[0], "page_failed: ValueError: no second page") == (first, second.error)


@pytest.mark.parametrize("html", ["<html></html>", "<!-- c -->", "<!DOCTYPE html>", "<!-- c", "</p>"])
def test_a_page_without_a_word_has_no_text(html: str) -> None:
    """With an element or without one; with a word behind it, it is a page."""
    empty, full = extract_pages([html, f"{html}--><p>word"])

    assert empty.error.startswith("no_text: ")
    assert (True, "") == (full.page_text.endswith("word"), full.error)


def test_a_page_has_its_confidence() -> None:
    """A story between a menu and a foot is no doubtful case; what is no page has none."""
    good, none = extract_pages([page(1), "<script>1</script>"])

    assert 0.7 < (good.confidence or 0) <= 1
    assert none.confidence is None


def test_an_archive_gives_what_the_method_gives(crawl: Path) -> None:
    """All its pages, in order of URL and time, and what could not be read."""
    archive(crawl / "bad.warc.gz", record(http("<script>1</script>"), url="http://bad.example/"))
    result = local.extract(sources.expand([str(crawl)], config.default().input.patterns), config.default())
    found = extract_archive(crawl)
    keys = [(url_key(one.url or ""), one.date) for one in found if not one.error]

    assert len(result.extractions) + len(result.rejects) == len(found)
    assert {one.text for one in result.extractions} == {one.text for one in found if not one.error}
    assert sorted(keys, key=str) == keys
    assert [("http://bad.example/", True)] == [(one.url, "no_text" in one.error) for one in found if one.error]


def test_a_page_of_an_archive_has_its_record(crawl: Path) -> None:
    """By the names of the columns that its row of `extractions` has; a page that was handed over has none."""
    result = local.extract(sources.expand([str(crawl)], config.default().input.patterns), config.default())
    rows = extractions_batch(
        result.extractions, [UNKNOWN] * len(result.extractions), [Formats()] * len(result.extractions), 1
    )
    names = [field.name for field in fields(PageRecord)]
    found = [asdict(one.record) for one in extract_archive(crawl) if one.record and not one.error]

    assert {*names} <= {*EXTRACTIONS.names}
    assert sorted(rows.select(names).to_pylist(), key=str) == sorted(found, key=str)
    assert (None, None) == (extract(page(1), SITE).record, extract_pages([""])[0].record)


def test_a_record_that_is_no_page_has_its_place(tmp_path: Path) -> None:
    """It has no row, and so no id of one."""
    content = record(http("<script>1</script>"), url="http://bad.example/")
    archive(tmp_path / "bad.warc", content)
    (found,) = extract_archive(tmp_path)

    assert found.record
    assert found.error.startswith("no_text: ")
    assert f" error='{found.error}' warc_file='{tmp_path}/bad.warc'>" in repr(found)
    assert ("", f"{tmp_path}/bad.warc", 0, 0) == (
        found.record.capture_id, found.record.warc_file, found.record.warc_offset, found.record.http_status
    )  # fmt: skip
    assert found.record.record_id.startswith("<urn:uuid:")


def test_no_archive_is_an_error(tmp_path: Path) -> None:
    """A file that is none, and a place where there is nothing."""
    (tmp_path / "none.warc").write_bytes(b"this is none")
    for path in (tmp_path / "none.warc", tmp_path / "missing"):
        with pytest.raises(InputError, match=f"^{path}: "):
            extract_archive([path])


@pytest.mark.parametrize("path", ["missing", "*.zip", "folder", "@missing", "@manifest", "unknown://a/a.warc"])
def test_a_path_that_names_nothing_is_an_error_beside_good_ones(
    path: str, crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file is read then."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local, "extract", pytest.fail)
    Path("folder").mkdir()
    Path("manifest").touch()
    with pytest.raises(InputError, match=f"^{re.escape(path)}: "):
        extract_archive([crawl, path])


def test_no_paths_give_no_pages() -> None:
    """As no pages do."""
    assert [] == extract_archive([])


def test_a_file_that_is_no_archive_takes_no_page_away(crawl: Path) -> None:
    """Beside archives it stands behind their pages, with its error."""
    expected = extract_archive(crawl)
    (crawl / "none.warc").write_bytes(b"this is none")
    found = extract_archive(crawl)

    assert [one.text for one in expected] == [one.text for one in found[:-1]]
    assert found[-1].error.startswith("not_an_archive: ")
    assert found[-1].record
    assert f"{crawl}/none.warc" == found[-1].record.warc_file


@pytest.mark.parametrize("paths", [5, None, b"a.warc", ["a.warc", 5]])
def test_what_is_no_path_is_an_error(paths: Any) -> None:
    """Of the one class, with the type that was given."""
    with pytest.raises(InputError, match=r"not (int|NoneType|bytes)"):
        extract_archive(paths)


def test_the_language_is_detected() -> None:
    """Of the main text, whatever the page declares."""
    assert "de" == extract(page(3).replace("<title>", "<html lang=en><title>")).language


@pytest.mark.parametrize("setting", ["language.detect=false", "language.min_words=1000"])
def test_the_language_goes_by_the_settings(setting: str) -> None:
    """A page has no language where the settings have none detected in it."""
    given = config.load(settings=[setting])
    (found,) = extract_parsed([page(3)], partial(parse_fetches, config=given), given)

    assert "" == found.language


def test_threads_and_processes_share_pages(crawl: Path) -> None:
    """The same results from eight threads at once; a result can be sent to another process."""
    pages = [page(number) for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        found = [*threads.map(extract, pages)]

    assert [extract(one) for one in pages] == found
    assert found == pickle.loads(pickle.dumps(found))


PROGRAM = """
import json, sys
import dbce_spark
before = [name for name in sys.modules if name.startswith("dbce_spark.")]
dbce_spark.extract("<h1>Title</h1><p>A text.</p>", "http://a.example/1")
heavy = ("pyspark", "pandas", "scipy", "lightgbm", "sklearn", "requests", "pyarrow", "fsspec", "urllib3", "py3langid",
         "turbohtml")
after = [name for name in heavy if name in sys.modules]
dbce_spark.extract_pages([("<p>one two", f"http://a.example/{n}") for n in range(3)])
dbce_spark.extract_archive(sys.argv[1])
print(json.dumps([before, after, [name for name in ("pyspark", "pandas", "py4j") if name in sys.modules]]))
"""


def test_a_page_needs_few_imports(crawl: Path) -> None:
    """The package alone imports nothing of itself, a page no heavy library, and nothing PySpark or pandas."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(crawl)], capture_output=True, check=True, text=True)

    assert [[], [], []] == json.loads(done.stdout)


@pytest.mark.parametrize("package", ["dbce_spark", "dbce_spark.spark"])
def test_the_package_lists_what_it_gives(package: str) -> None:
    """To `dir`, and so to the key Tab, and to `import *`; each is there, and nothing else is."""
    module = import_module(package)

    assert {*module.__all__} == {name for name in dir(module) if not name.startswith("__")}
    assert {"__name__", "__doc__"} <= {*dir(module)}
    for name in module.__all__ if package == "dbce_spark" else ():
        assert name == getattr(module, name).__name__


def test_a_name_that_the_package_has_not_is_an_error() -> None:
    """The error that any module has."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dbce_spark.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("package", ["dbce_spark", "dbce_spark.spark"])
def test_checkers_of_types_see_no_names_but_its_own(package: str) -> None:
    """A `__getattr__` of the module would let them pass any."""
    tree = ast.parse(resources.files(package).joinpath("__init__.py").read_text(encoding="utf-8"))

    assert "__getattr__" not in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert {*import_module(package).__all__} <= {
        name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names
    }


@pytest.mark.parametrize("kind", [ExtractedPage, ExtractedBlock, PageRecord])
def test_the_help_of_a_class_has_each_field(kind: type) -> None:
    """Also what is written when it is looked at."""
    given = [name for name in inspect.get_annotations(kind) if not name.startswith("_")]
    given += [name for name, one in vars(kind).items() if isinstance(one, cached_property)]

    assert sorted(given) == sorted(re.findall(r"^    (\w+): ", inspect.getdoc(kind) or "", re.MULTILINE))


def test_the_package_is_typed_for_others_too() -> None:
    """Checkers of types look into an installed package only where this file is."""
    assert resources.files(dbce_spark).joinpath("py.typed").is_file()
