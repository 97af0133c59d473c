"""Title, author, day and description of pages, beside those that people noted for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from html import unescape
from importlib import import_module
from typing import Any

from dbce_spark.files import jsonl, markdown_table, timestamps
from dbce_spark.html import metadata
from dbce_spark.html.about import read_about
from dbce_spark.html.bylines import plain
from dbce_spark.html.dom import parse_tree
from dbce_spark.html.structure.addresses import addresses

Extractor = Callable[[str, str], Mapping[str, Any]]
"""Gives the fields of a page, by its HTML and its URL."""

FIELDS = ("title", "author", "date", "description")
_LAST_DAY = "2399-12-31"
"""The day of capture of a page without one."""
_CAPTURED = timestamps.parse_date(_LAST_DAY) or 0


def measure(paths: Iterable[str], names: Sequence[str]) -> str:
    """Score extractors on the pages of files of phrases that have noted fields; return a table in Markdown.

    Raises:
        InputError: a file cannot be read.
    """
    pages = [fields for path in paths for _, fields in jsonl.read(path)]
    noted = {name: [page["metadata"].get(name) for page in pages] for name in FIELDS}
    noted["description, decoded"] = [unescape(unescape(one or "")) for one in noted["description"]]
    rows = []
    for name in names:
        extract = EXTRACTORS[name]()
        found = [_answer(extract, page["html"], page["url"]) for page in pages]
        shares = (_share([one.get(field.split(",")[0]) or "" for one in found], noted[field]) for field in noted)
        rows.append([name, *(f"{share:.3f}" for share in shares)])
    return markdown_table.table(["", *(f"{name} ({sum(map(bool, of))})" for name, of in noted.items())], rows)


def is_right(found: str, noted: str | Sequence[str]) -> bool:
    """Test whether one of two texts contains the other, without case and punctuation; of several, whether one does."""
    if not isinstance(noted, str):
        return any(is_right(found, one) for one in noted)
    one, other = plain(found), plain(noted)
    return bool(one and other) and (one in other or other in one)


def _share(found: Sequence[str], noted: Sequence[Any]) -> float:
    right = [is_right(one, other) for one, other in zip(found, noted, strict=True) if other]
    return sum(right) / max(len(right), 1)


def _answer(extract: Extractor, html: str, url: str) -> Mapping[str, Any]:
    try:
        return extract(html, url if url.startswith("http") else "")
    except Exception:  # an extractor that fails on a page has found nothing in it
        return {}


def _about(html: str, url: str) -> Mapping[str, Any]:
    root = parse_tree(html.encode("utf-8", "replace"))
    return asdict(read_about(root, addresses(root, url), url, _CAPTURED))


def _about_with_htmldate() -> Extractor:
    from htmldate import find_date

    def extract(html: str, url: str) -> Mapping[str, Any]:
        about = {**_about(html, url)}
        last = about["modified"] or _LAST_DAY
        about["date"] = about["date"] or find_date(html, original_date=True, url=url or None, max_date=last)
        return about

    return extract


def _columns(html: str, url: str) -> Mapping[str, Any]:
    utf8 = html.encode("utf-8", "replace")
    found = metadata.metadata(metadata.declared(parse_tree(utf8), utf8), url, _CAPTURED)
    return {"title": found.title, "date": "" if found.published is None else timestamps.day(found.published)}


def _trafilatura() -> Extractor:
    import trafilatura

    return lambda html, url: trafilatura.extract_metadata(html, default_url=url or None).as_dict()


def _extruct() -> Extractor:
    extract = import_module("extruct").extract  # which no extra of this package installs
    return lambda html, url: _first_declared(extract(html, base_url=url or None, uniform=True, errors="ignore"))


_DECLARED = {
    "title": ("og:title", "headline", "title"),
    "author": ("author", "article:author", "creator"),
    "date": ("published_time", "article:published_time", "datePublished", "issued", "date", "created"),
    "description": ("og:description", "description"),
}
"""Names of each field in Open Graph, schema.org and Dublin Core, the first to be preferred."""


def _first_declared(found: Mapping[str, Any]) -> Mapping[str, str]:
    """Choose the first value that extruct found of each field; a kind on which it fails is missing."""
    things = [one for kind in ("opengraph", "json-ld", "microdata", "rdfa") for one in _things(found.get(kind))]
    things += [
        {one.get("name", "").lower().rpartition(".")[2]: one.get("content")}
        for core in found.get("dublincore", ())
        for one in (*core["elements"], *core["terms"])
    ]
    named = [{name.rpartition("/")[2].rpartition("#")[2]: value for name, value in one.items()} for one in things]
    fields = {
        field: next((text for name in names for one in named if (text := _text(one.get(name)))), "")
        for field, names in _DECLARED.items()
    }
    return fields | {"date": fields["date"][: len(_LAST_DAY)]}


def _things(value: Any) -> Iterable[Mapping[str, Any]]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            yield one
            yield from _things(one.get("@graph"))


def _text(value: Any) -> str:
    while isinstance(value, list | dict):
        value = next(iter(value), None) if isinstance(value, list) else value.get("name") or value.get("@value")
    return value.strip() if isinstance(value, str) else ""


EXTRACTORS: Mapping[str, Callable[[], Extractor]] = {
    "about": lambda: _about,
    "about-htmldate": _about_with_htmldate,
    "columns": lambda: _columns,
    "trafilatura": _trafilatura,
    "extruct": _extruct,
}
"""The extractors by their names; `columns` are those that are always written, and extruct chooses nothing itself."""
