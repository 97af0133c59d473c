"""The labels: true to the pages they were written with."""

import re
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import lxml.html
import pytest

CHARSETS = {
    "www.tagblatt.example": "iso-8859-1",
    "dnevnik.example": "windows-1251",
    "www.machikado.example": "shift_jis",
}


def tree(record: Any) -> Any:
    html = record.payload.decode(CHARSETS.get(record.url.split("/")[2], "utf-8"))
    root: Any = lxml.html.fromstring(html)
    for element in list(root.iter("script", "style", "title")):
        element.drop_tree()
    return root


def labelled(archive: Any) -> list[tuple[dict[str, Any], Any]]:
    stored = {}
    for record in archive.all_records:
        if record.type == "response":
            stored[record.url, re.sub(r"\D", "", record.headers["WARC-Date"])[:14]] = record
    return [(label, stored[label["url"], label["timestamp"]]) for label in archive.labels]


def test_every_html_page_has_labels(archive: Any) -> None:
    """Every HTML page that came with a body has its line, in the order of the timestamps, and nothing else has one."""
    html = [
        r
        for r in archive.all_records
        if r.type == "response" and r.status == "200" and "html" in r.http["Content-Type"]
    ]
    assert sorted(re.sub(r"\D", "", r.headers["WARC-Date"])[:14] for r in html) == [
        x["timestamp"] for x in archive.labels
    ]


@pytest.mark.parametrize("role", ["content", "comments", "boilerplate"])
def test_texts_stand_in_the_page(archive: Any, role: str) -> None:
    """Every labelled text stands in its page, word for word and in document order."""
    lost = []
    for label, record in labelled(archive):
        text = " ".join(tree(record).text_content().split())
        place = 0
        for block in label[role]:
            place = text.find(block, place)
            if place < 0:
                lost.append((label["url"], block))
                break
            place += len(block)
    assert [] == lost


def test_whole_page_is_labelled(archive: Any) -> None:
    """Each word of the page's text belongs to one labelled block."""
    missed = []
    for label, record in labelled(archive):
        words = Counter(" ".join(" ".join(tree(record).xpath("//body//text()")).split()).replace(" ", ""))
        words.subtract(
            "".join("".join(label[role]) for role in ("content", "comments", "boilerplate")).replace(" ", "")
        )
        left = {letter: count for letter, count in words.items() if count and letter != "\xa0"}
        if left:
            missed.append((label["url"], left))
    assert [] == missed


def test_kinds_and_languages(archive: Any) -> None:
    """All kinds of page and all languages are there, list pages too."""
    found = {(label["kind"], label["lang"]) for label in archive.labels}
    items = {("article", "en"), ("article", "de"), ("article", "ru"), ("article", "ja"), ("forum", "en")}
    items |= {("product", "en"), ("recipe", "en"), ("documentation", "en")}
    assert items | {("listing", lang) for lang in ("en", "de", "ru", "ja")} == found


def test_charset_declarations(archive: Any) -> None:
    """Each page declares its charset where its site does: in the header, in a meta tag, or in both."""
    declared: dict[str, set[tuple[bool, bool]]] = defaultdict(set)
    for label, record in labelled(archive):
        in_header = "charset" in record.http["Content-Type"].lower()
        declared[label["url"].split("/")[2]].add((in_header, b"charset" in record.payload[:600]))
    assert [{(False, True)}, {(False, True)}, {(True, False)}] == [declared[host] for host in CHARSETS]
    assert {(True, True)} == declared["www.gazette.example"]


def test_most_content_stays_and_boilerplate_changes(archive: Any) -> None:
    """Between two crawls the content of most item pages stays the same, and their boilerplate does not."""
    captures: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for label in archive.labels:
        if label["kind"] != "listing":
            captures[label["url"]].append(label)
    pairs = [pair for found in captures.values() for pair in pairwise(found)]
    same_content = sum(before["content"] == after["content"] for before, after in pairs) / len(pairs)
    same_boilerplate = sum(before["boilerplate"] == after["boilerplate"] for before, after in pairs) / len(pairs)
    assert 0.6 < same_content < 0.95
    assert same_boilerplate < 0.05


def paths(archive: Any, host: str, crawl: str) -> set[str]:
    found = set()
    for label, record in labelled(archive):
        if label["url"].split("/")[2] == host and label["timestamp"].startswith(crawl):
            root = tree(record)
            found |= {re.sub(r"\[\d+\]", "", root.getroottree().getpath(node)) for node in root.iter("p")}
    return found


def test_redesign(archive: Any) -> None:
    """The redesigned site has other paths to its paragraphs from the third crawl on; another site has not."""
    assert paths(archive, "dnevnik.example", "202203") == paths(archive, "dnevnik.example", "202209")
    assert set() == paths(archive, "dnevnik.example", "202209") & paths(archive, "dnevnik.example", "202303")
    assert paths(archive, "www.gazette.example", "202209") & paths(archive, "www.gazette.example", "202303")
