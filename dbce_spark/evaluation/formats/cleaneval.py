"""CleanEval 2007 and what follows its format: gold texts with a tag before each block, URL and charset in a header."""

import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

from dbce_spark.evaluation.formats import entry
from dbce_spark.evaluation.formats.entry import GoldEntry
from dbce_spark.evaluation.formats.pairs import paired_entries, pairs, subfolder

NAME = "cleaneval"
LOOKS = (
    "*.html and *.txt or *-cleaned.txt with <p>, <h> or <l> before each block, in input/ and GoldStandard/ or together"
)

_FOLDERS = (
    ("finalrun-input", "GoldStandard"),
    ("input", "GoldStandard"),
    ("input", "gold_std"),
    ("orig", "clean"),
    ("en_original", "en_cleaned"),
    ("zh_original", "zh_cleaned"),
)
"""Folders of pages and of gold texts: the two archives of the final run, CleanPortalEval, later copies, the development
set in both languages."""

_HEADER = re.compile(rb"\A\s*<text\b((?:[^>\"]|\"[^\"]*\")*)>", re.IGNORECASE)
_FOOTER = re.compile(rb"</text>\s*\Z", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"(\w+)\s*=\s*\"([^\"]*)\"")
_URL_LINE = re.compile(r"\A\s*URL:[ \t]*(\S*)[^\n]*\n?")
_BLOCK_TAGS = re.compile(r"^[ \t]*(?:</?[a-z][^<>\n]*>[ \t]*)+", re.IGNORECASE | re.MULTILINE)
_RULERS = re.compile(r"_{2,}")


def fits(folder: Path) -> bool:
    return next(_places(folder), None) is not None


def entries(folder: Path) -> Iterator[GoldEntry]:
    """Iterate over the pages of all folders that go together, in the order of their names."""
    for pages, golds in _places(folder):
        yield from paired_entries(pages, golds, partial(_fields, lang=_lang(pages)))


def _places(folder: Path) -> Iterator[tuple[Path, Path]]:
    for pages, golds in _FOLDERS:
        html, gold = subfolder(folder, pages), subfolder(folder, golds)
        if html and gold:
            yield html, gold
    whole = (pair.gold for pair in pairs(folder, folder) if pair.html and pair.gold)
    first = next(whole, None)
    # Any page may lie beside a text: only the markup shows that the text is CleanEval's.
    if first and _is_marked(entry.text(entry.stored(first))):
        yield folder, folder


def _is_marked(gold: str) -> bool:
    blocks = _URL_LINE.sub("", gold).strip()
    return blocks.lower().startswith(("<p>", "<h>", "<l>"))


def _lang(pages: Path) -> str:
    return {"en_original": "en", "zh_original": "zh"}.get(pages.name.lower(), "")


def _fields(html_path: Path, gold_path: Path, lang: str) -> dict[str, Any]:
    stored = entry.stored(html_path)
    html, header = _without_header(stored)
    gold = entry.text(entry.stored(gold_path))
    url = _URL_LINE.match(gold)
    return {
        "id": entry.page_id(stored),
        "html": entry.text(html, header.get("encoding", "")),
        "gold": _without_markup(gold),
        "dataset": NAME,
        "url": (url[1] if url else "") or header.get("id", ""),
        "lang": lang,
        "filename": html_path.name,
    }


def _without_header(html: bytes) -> tuple[bytes, dict[str, str]]:
    """Remove the <text> that was put around a page; return the page and the tag's attributes: id (the URL), title,
    encoding."""
    header = _HEADER.match(html)
    if not header:
        return html, {}
    named = {name.decode().lower(): value.decode("ascii", "replace") for name, value in _ATTRIBUTE.findall(header[1])}
    return _FOOTER.sub(b"", html[header.end() :]), named


def _without_markup(gold: str) -> str:
    """Remove the URL line, the tags at the beginning of lines and the rulers between parts (study, 3.2)."""
    return unescape(_RULERS.sub(" ", _BLOCK_TAGS.sub("", _URL_LINE.sub("", gold)))).strip()
