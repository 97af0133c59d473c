"""Metadata that a page declares: title, language, dates, canonical URL. docs/metadata.md: where each is looked for.

Published standards only: HTML, Open Graph, schema.org (JSON-LD, microdata and RDFa), Dublin Core, Highwire Press.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import urljoin, urlsplit

from dbce_spark.files import timestamps
from dbce_spark.files.timestamps import EARLIEST, parse_date
from dbce_spark.html.json_ld import is_of_page, page_things, texts
from dbce_spark.html.tokens import SPACELESS
from dbce_spark.model import Metadata

MAX_URL_CHARS = 8_192
"""Characters of a URL. RFC 9110 (4.1) asks for 8,000 to be understood; longer ones carry data."""

MAX_CANDIDATES = 16
"""Values that are kept for one date. A page of a thousand comments has a thousand dates, and the first is its own."""


_SIGNS = "[|/:·•»–—-]+"
_TOUCHING = r"[|_\uff5c\uff0d–—-]"
TITLE_SIGN = re.compile(
    rf"\s+{_SIGNS}\s+|(?<=[{SPACELESS}])\s*{_TOUCHING}+\s*|(?<!{_TOUCHING})\s*{_TOUCHING}+\s*(?=[{SPACELESS}])"
)
"""A sign between the title of a page and the name of its site: "Harbour opens - The Gazette". It touches them where one
is in a script without spaces."""
END_SIGN = re.compile(rf"^{_SIGNS}\s+|\s+{_SIGNS}$")
"""The same sign where the title or the name is missing."""

AHEAD = 14 * 3_600 * timestamps.SECOND
"""Microseconds that a date may seem to lie after the capture: as far as clocks of the first time zone are ahead of UTC,
which a date without a zone is read as."""

_NAMES = ("title", "meta", "link", "base", "script", "time")
_VOCABULARY = b"schema.org"
_DATE_PROPERTIES = ("datePublished", "dateModified")
_DATE_WORDS = tuple(map(str.encode, _DATE_PROPERTIES))
_DRAFT_DATE = b" pubdate"
"""Signs in HTML of a date to be found below its head: by schema.org, or by the drafts of HTML 5."""

_RANKS = {
    "title": ("title", "og:title", "dcterms.title", "dc.title"),
    "description": ("description", "og:description", "dcterms.description", "dc.description"),
    "language": ("lang", "content-language", "dcterms.language", "dc.language", "og:locale"),
    "published": (
        *("article:published_time", "ld:datepublished", "datepublished"),
        *("dcterms.issued", "dc.date.issued", "dcterms.date", "dc.date", "dcterms.created", "dc.date.created"),
        *("citation_publication_date", "citation_date", "pubdate"),
    ),
    "modified": (
        *("article:modified_time", "ld:datemodified", "datemodified"),
        *("dcterms.modified", "dc.date.modified"),
    ),
    "canonical_url": ("canonical", "og:url"),
}
"""The names that each is looked for under, the first to be preferred."""

_OF_ELEMENTS = frozenset(("title", "lang", "ld:datepublished", "ld:datemodified", "pubdate", "canonical"))
_NAMED = frozenset(chain.from_iterable(_RANKS.values())) - _OF_ELEMENTS
"""The names that attributes of <meta> and <time> give, and no element or script of its own."""

_LANGUAGE = re.compile(
    r"[a-z]{2,3}(?:-[a-z]{3}){0,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?"
    r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?",
    re.IGNORECASE | re.ASCII,
)
"""A well-formed tag (RFC 5646, 2.1) of a language in two or three letters; longer ones were never registered."""

_SLASHES = re.compile(r"^\s*(\d{4})/(\d{1,2})(?:/(\d{1,2}))?(?![\d/])")

_BAD_IN_URL = re.compile(r"[\x00-\x20\x7f<>\"{}|\\^`]")
"""White space, controls and what RFC 3986 leaves no place for: templates that nobody filled in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The declarations of a page, before they are checked against the URL and time that it was fetched at.

    Dates and URLs have their candidates, the first to be preferred.
    """

    title: str  # white space folded, "" if none
    description: str  # white space folded, "" if none
    language: str  # a BCP 47 tag, "" if none
    published: tuple[int, ...]  # microseconds since 1970-01-01 UTC
    modified: tuple[int, ...]
    canonical_urls: tuple[str, ...]  # as written
    base: str  # as written, "" if none


def declared(root: Any, html: bytes) -> Declared:
    """Read what a page declares, from its root element and the HTML in UTF-8 that it was parsed from. Raise nothing."""
    found = _found(root, html)
    return Declared(
        title=next(filter(None, map(_folded, _ranked(found, "title"))), ""),
        description=next(filter(None, map(_folded, _ranked(found, "description"))), ""),
        language=next(filter(None, map(language_tag, _ranked(found, "language"))), ""),
        published=_dates(_ranked(found, "published")),
        modified=_dates(_ranked(found, "modified")),
        canonical_urls=tuple(_ranked(found, "canonical_url")),
        base=next(iter(found["base"]), ""),
    )


def metadata(declared: Declared, url: str, timestamp: int) -> Metadata:
    """Keep what can be true of a page fetched from `url` at `timestamp`, in microseconds. Raise nothing."""
    urls = (_absolute(url, declared.base, canonical_url) for canonical_url in declared.canonical_urls)
    return Metadata(
        title=declared.title,
        declared_language=declared.language,
        published=_possible(declared.published, timestamp),
        modified=_possible(declared.modified, timestamp),
        canonical_url=next(filter(None, urls), None),
    )


def canonical_url(root: Any) -> str | None:
    """Read the URL that a page declares as its own, if it is absolute or a <base> makes it so. Raise nothing."""
    return metadata(declared(root, b""), "", 0).canonical_url


def language_tag(text: str) -> str:
    """Write a BCP 47 tag in the case that RFC 5646 (2.1.1) recommends; "" for anything else, and for "und"."""
    tag = text.strip().replace("_", "-")
    if not _LANGUAGE.fullmatch(tag):
        return ""
    first, *rest = tag.lower().split("-")
    if first == "und":
        return ""
    cased, before = [first], first
    for part in rest:
        if len(before) > 1:  # behind a singleton, as in "en-x-us", everything stays small
            before = part = _cased(part)
        cased.append(part)
    return "-".join(cased)


def _cased(part: str) -> str:
    """Write a region in capitals, a script with one; years and variants stay as they are."""
    if not part.isalpha():
        return part
    return {2: part.upper(), 4: part.title()}.get(len(part), part)


def _found(root: Any, html: bytes) -> dict[str, list[str]]:
    """Collect the values under each of the names in _RANKS, and under "base", in document order."""
    found: dict[str, list[str]] = defaultdict(list)
    found["lang"] += [root.get("lang") or "", root.get("xml:lang") or ""]
    scripts = []
    for element in _elements(root, html):
        tag = element.tag
        if tag == "meta":
            _read_meta(element, found)
        elif tag == "link":
            if "canonical" in (element.get("rel") or "").lower().split():
                _keep(found, "canonical", element.get("href"))
        elif tag == "time":
            _read_time(element, found)
        elif tag == "title":
            if not is_in_drawing(element):
                _keep(found, "title", "".join(element.itertext()))
        elif tag == "base":
            _keep(found, "base", element.get("href"))
        elif "ld+json" in (element.get("type") or "").lower() and (text := element.text):
            scripts.append(text)
    _read_json(root, scripts, found)
    return found


def _elements(root: Any, html: bytes) -> Iterable[Any]:
    """Iterate over the elements that may declare something. All of the tree costs more than all else here, so mostly
    it is the head, and the children of the body, where parsers move what stands in a broken head."""
    head, body = root.find("head"), root.find("body")
    if head is None or body is None or head.find("title") is None or _has_dates(html):
        return root.iter(*_NAMES)  # type: ignore[no-any-return]
    return chain(head.iter(*_NAMES), body.iterchildren(*_NAMES))


def _has_dates(html: bytes) -> bool:
    """Test for signs of dates below the head. What no page of before 2011 has is looked for first: it costs most."""
    return (_VOCABULARY in html and any(word in html for word in _DATE_WORDS)) or _DRAFT_DATE in html


def _read_meta(element: Any, found: dict[str, list[str]]) -> None:
    content = element.get("content")
    if not content:
        return
    for attribute in ("property", "name", "itemprop", "http-equiv"):
        if (key := meta_name(element.get(attribute))) in _NAMED:
            _keep(found, key, content)


def meta_name(written: str | None) -> str:
    """Write the name of a <meta> in small letters; one of Dublin Core with stops, where some have colons, one of
    schema.org without its prefix."""
    name = (written or "").lower().removeprefix("schema:")
    return name.replace(":", ".") if name[:2] == "dc" else name


def _read_time(element: Any, found: dict[str, list[str]]) -> None:
    is_draft, key = "pubdate" in element.attrib, meta_name(element.get("itemprop") or element.get("property"))
    if is_draft or key in _NAMED:
        _keep(found, "pubdate" if is_draft else key, element.get("datetime") or element.text)


def _read_json(root: Any, scripts: Sequence[str], found: dict[str, list[str]]) -> None:
    """Read the dates in a page's JSON-LD, unless it has none."""
    if not any(word in script for word in _DATE_PROPERTIES for script in scripts):
        return
    for thing in filter(is_of_page, page_things(root, scripts)):
        for name in _DATE_PROPERTIES:
            for text in texts(thing.get(name)):
                _keep(found, f"ld:{name.lower()}", text)


def is_in_drawing(title: Any) -> bool:
    """Test whether a title is that of an SVG image or of a part of it."""
    return next(title.iterancestors("svg"), None) is not None


def _keep(found: dict[str, list[str]], key: str, value: str | None) -> None:
    values = found[key]
    if value and len(values) < MAX_CANDIDATES:
        values.append(value)


def _ranked(found: dict[str, list[str]], field: str) -> Iterator[str]:
    return chain.from_iterable(found.get(name, ()) for name in _RANKS[field])


def _folded(text: str) -> str:
    return " ".join(text.split())


def _dates(written: Iterable[str]) -> tuple[int, ...]:
    return tuple(at for text in written if (at := parse_date(with_hyphens(text))) is not None)


def with_hyphens(date: str) -> str:
    """Write a date with slashes that begins with its year, as Highwire Press has it, with hyphens: 2012/5/3."""
    return _SLASHES.sub(lambda found: "-".join(part.zfill(2) for part in found.groups() if part), date, count=1)


def _possible(dates: Iterable[int], timestamp: int) -> int | None:
    """Choose the first date that can be true; one that only its zone can put after the capture counts as the capture's
    own, from which the true one is no further than `AHEAD`."""
    return next((min(at, timestamp) for at in dates if is_possible(at, timestamp)), None)


def is_possible(at: int, timestamp: int) -> bool:
    """Test whether a date may be that of a page captured at `timestamp`."""
    return EARLIEST <= min(at, timestamp) and at <= timestamp + AHEAD


def _absolute(url: str, base: str, reference: str) -> str | None:
    """Resolve a URL reference against the page's base; None if the result is no address of a page."""
    reference = reference.strip()
    if not reference or len(reference) > MAX_URL_CHARS:
        return None
    try:
        given = urlsplit(reference)
        if given.scheme and not given.netloc:  # which urljoin would take for the page itself
            return None
        is_address = max(len(url), len(base)) <= MAX_URL_CHARS  # else references are relative to nothing
        absolute = urljoin(urljoin(url, base.strip()) if is_address else "", reference)
        parts = urlsplit(absolute)
        _ = parts.port  # raises if it is no number
    except ValueError:
        return None
    is_page = parts.scheme in ("http", "https") and parts.hostname and len(absolute) <= MAX_URL_CHARS
    return absolute if is_page and not _BAD_IN_URL.search(absolute) else None
