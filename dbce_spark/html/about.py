"""Read what a page says about itself beyond the columns of each row: headline, author, date, and so on, with places.

Declarations come first (JSON-LD, microdata, Open Graph, Dublin Core, `rel`), then what classes and headings show.
docs/metadata.md: where each is looked for, and how often that is right.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape
from itertools import chain, islice
from typing import Any
from urllib.parse import urlsplit

from dbce_spark.files.timestamps import EARLIEST, SECOND, parse_date, written_day
from dbce_spark.html.bylines import (
    BYLINE,
    HINT,
    MAX_BYLINE,
    NAME,
    chosen,
    name_of,
    named_in,
    names_of_page,
    plain,
    squeezed,
)
from dbce_spark.html.dom import parse_tree
from dbce_spark.html.metadata import MAX_JSON_CHARS, SLACK, json_ld_things
from dbce_spark.html.shown_text import APART, shown_lines, shown_text
from dbce_spark.html.structure.addresses import Addresses

MAX_CHARS = 1_000
"""Of a value: descriptions have 160, and what is longer is a text."""

_MOST = 8
"""Candidates of one place; a page of a thousand comments has a thousand authors."""

_MOST_TAGS = 32
_LIKE = 0.3
"""Share of common words from which a heading is that of the title."""

_RANKS = {
    "author": (
        *("ld:author", "ld:creator", "meta:author", "meta:dc.creator", "meta:dcterms.creator", "meta:article:author"),
        *("rel:author", "itemprop:author", "meta:parsely-author", "meta:sailthru.author", "meta:twitter:data1"),
        *("hentry:author", "class:author", "ld:person", "byline", "href:author", HINT),
    ),
    "description": (
        *("meta:og:description", "meta:description", "ld:description", "meta:twitter:description"),
        *("meta:dc.description", "meta:dcterms.description"),
    ),
    "site_name": ("meta:og:site_name", "meta:application-name", "ld:publisher", "meta:dc.publisher"),
    "image": ("meta:og:image", "ld:image", "meta:twitter:image", "rel:image_src"),
    "license": ("rel:license", "ld:license", "meta:dc.rights", "meta:dcterms.license", "meta:dcterms.rights"),
    "tags": ("meta:article:tag", "rel:tag", "ld:keywords", "meta:keywords", "meta:news_keywords"),
    "date": (
        *("meta:article:published_time", "ld:datepublished", "itemprop:datepublished", "ld:datecreated"),
        "class:published",
        *("meta:dcterms.issued", "meta:dc.date.issued", "meta:dc.date", "meta:date", "time"),
    ),
}
"""The places of each, the first to be preferred."""

_AUTHOR_CLASS = re.compile(
    r"(?:^|[\s_-])(?:author|byline|autor|auteur|autore|writer)(?:s|in|name)?(?:[\s_-]|$)", re.IGNORECASE
)
_TITLE_CLASS = re.compile(r"(?:^|[\s_-])(?:entry|post|article)-?(?:title|headline)(?:[\s_-]|$)", re.IGNORECASE)
_AUTHOR_PATH = re.compile(
    r"^[^/]*(?://[^/]*)?/(?:[^?#]*/)?(?:(?P<author>authors?|by)|profiles?|users?)/(?P<slug>[^/?#]+)", re.IGNORECASE
)
_HENTRY_AUTHOR = frozenset(("author", "p-author"))
_PUBLISHED = frozenset(("published", "dt-published"))
"""Classes that the microformats hAtom and h-entry define."""
_NO_SIGNS = frozenset(("body", "label", "input", "form", "li"))
"""Elements whose classes say nothing of author and title."""
_NO_BYLINE = frozenset("title script style option textarea body".split())
_MOST_IN_BYLINE = 4
"""Elements in it: names, a date."""
_MOST_PARTS = 100
"""Elements of an author in which the name is looked for."""
_DAY_IN_URL = re.compile(r"/((?:19|20)\d\d)[/-](\d\d)[/-](\d\d)(?:\D|$)")
_MARKUP = re.compile(r"</[a-z]+\s*>|^<[a-z]+(?:\s[^<>]*)?>\s*\w|<br\s*/?>", re.IGNORECASE)
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,30});", re.IGNORECASE)
_LISTS = frozenset(("ld:keywords", "meta:keywords", "meta:news_keywords"))
"""Places each of whose values is a list of tags; elsewhere it is one tag, but for a single one."""
_OTHER_COMMAS = re.compile(r"[;|\uff0c\u3001\uff1b]")
_IN_UTC = re.compile(r"T.*(?:Z|\+00:?00)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Statements of a page about itself; "" and empty where it says nothing. `found_in` has a line for each, such as
    "author ld:author".

    `date` is that of the first publication, as YYYY-MM-DD; never after the capture.
    """

    title: str
    author: str
    date: str
    description: str
    site_name: str
    image: str
    license: str
    tags: tuple[str, ...]
    found_in: tuple[str, ...]


NOTHING = About(title="", author="", date="", description="", site_name="", image="", license="", tags=(), found_in=())
"""The little that is known of an input that is no page."""


def read_about(root: Any, addresses: Addresses, url: str, timestamp: int) -> About:
    """Read what a page says about itself. `timestamp` is that of its capture, in microseconds since 1970."""
    found = _found(root, addresses)
    site_names = _site_names(found, url)
    places: dict[str, str] = {}

    def take(field: str, values: Iterator[tuple[str, str]]) -> str:
        place, value = next(values, ("", ""))
        if value:
            places[field] = place
        return value

    values = {
        "title": take("title", _titles(found, site_names)),
        "author": take("author", chosen([*_unmarked(_ranked(found, "author"))], site_names)),
        "date": take("date", _dates(found, url, timestamp)),
        "description": take("description", _unmarked(_ranked(found, "description"))),
        "site_name": take("site_name", _ranked(found, "site_name")),
        "image": take("image", _absolute(_ranked(found, "image"), addresses)),
        "license": take("license", _licenses(found, addresses)),
    }
    place, tags = next(((one, found[one]) for one in _RANKS["tags"] if found.get(one)), ("", []))
    is_list = place in _LISTS or len(tags) == 1
    split = (part.strip() for tag in tags for part in (_parted(tag) if is_list else (tag,)))
    kept = tuple(islice(dict.fromkeys(filter(None, split)), _MOST_TAGS))
    if kept:
        places["tags"] = place
    return About(**values, tags=kept, found_in=tuple(f"{field} {where}" for field, where in sorted(places.items())))


def _parted(tags: str) -> list[str]:
    """Part a list of tags at its commas; one without any at the signs that stand for them."""
    return tags.split(",") if "," in tags else _OTHER_COMMAS.split(tags)


@dataclass(frozen=True, slots=True)
class _Found:
    """The values of each place, in document order; of authors that elements name, with the element."""

    addresses: Addresses
    values: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    named: dict[str, list[tuple[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    signs: dict[str, Set[str]] = field(default_factory=dict)
    """Meanings of each of the page's class attributes: a page has few of them, on many elements."""


def _found(root: Any, addresses: Addresses) -> dict[str, list[str]]:
    """Collect the values of each place, in document order."""
    found = _Found(addresses)
    values, bylines = found.values, found.named["byline"]
    _read_tags(root, values)
    for element in root.iter("*"):
        if len(bylines) < _MOST:
            if (byline := _byline(element.text)) and element.tag not in _NO_BYLINE:
                _read_byline(element, byline, found)
            if byline := _byline(element.tail):
                _read_byline_behind(element, byline, found)
        _read_attributes(element, found)
    for place, names in found.named.items():
        values[place] = names_of_page(names)
    return values


def _read_tags(root: Any, values: dict[str, list[str]]) -> None:
    """Read the places that are elements of one tag: declarations, headings, times."""
    for meta in root.iter("meta"):
        key = (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").lower()
        _keep(values, f"meta:{key.replace('dc:', 'dc.')}", meta.get("content"), _MOST_TAGS)
    budget = MAX_JSON_CHARS
    for script in root.iter("script"):
        if script.text and "ld+json" in (script.get("type") or "").lower():
            budget -= len(script.text)
            if budget >= 0:
                _read_json(script.text, values)
    for heading in root.iter("title", "h1", "h2"):
        if heading.tag != "title" or next(heading.iterancestors("svg"), None) is None:
            _keep_text(values, heading.tag, heading)
    for time in root.iter("time"):
        _keep(values, "time", time.get("datetime"))


def _byline(text: str | None) -> re.Match[str] | None:
    """Match a short text that says "by", or "author:". Most texts are white space between elements."""
    return BYLINE.match(text) if text and len(text) < MAX_BYLINE and not text.isspace() else None


def _read_byline(element: Any, byline: re.Match[str], found: _Found) -> None:
    """Read the name in an element that says "by", and little else, or behind one that says nothing else."""
    if not byline["name"] and not len(element) and element.getparent() is not None:
        element = element.getparent()
    if next(islice(element.iterchildren(), _MOST_IN_BYLINE, None), None) is not None:
        return
    name = named_in(shown_lines(element))
    if name and not _is_of_comment(element):
        _keep_name(found, "byline", element, name)


def _read_byline_behind(element: Any, byline: re.Match[str], found: _Found) -> None:
    """Read the name in or behind a text behind the first element of a line, where that says more than "by"."""
    following = element.getnext()
    is_first = element.tag in APART or (element.getprevious() is None and not (element.getparent().text or "").strip())
    if not (byline["verb"] or byline["noun"]) or not is_first:
        return
    behind = "" if following is None or byline["name"] else shown_lines(following)
    name = named_in(f"{element.tail} {behind}")
    if name and not _is_of_comment(element):
        _keep_name(found, "byline", element, name)


def _read_attributes(element: Any, found: _Found) -> None:
    if rels := element.get("rel"):
        _read_relations(element, rels, found)
    if name := element.get("itemprop"):
        _read_property(element, name.lower(), found)
    if classes := element.get("class"):
        signs = found.signs.get(classes)
        if signs is None:
            signs = found.signs[classes] = _signs(classes)
        if signs:
            _read_signs(element, signs, found)
    if element.tag == "a":
        _read_link(element, found)


def _read_relations(element: Any, rels: str, found: _Found) -> None:
    values = found.values
    for rel in dict.fromkeys(rels.lower().split()):
        if rel == "author":
            _keep_name(found, "rel:author", element)
        elif rel == "tag":
            if len(values["rel:tag"]) < _MOST_TAGS:
                _keep(values, "rel:tag", shown_text(element) or element.get("title"), _MOST_TAGS)
        elif rel in ("license", "image_src"):
            _keep(values, f"rel:{rel}", element.get("href"))


def _read_property(element: Any, name: str, found: _Found) -> None:
    """Read a property of microdata."""
    if name in ("author", "creator") and not _is_of_comment(element):
        inner = _first_within(element, lambda one: one.get("itemprop") == "name")
        _keep_name(found, "itemprop:author", inner, inner.get("content"))
    elif name == "headline":
        _keep_text(found.values, "itemprop:headline", element)
    elif name == "datepublished":
        _keep(found.values, "itemprop:datepublished", _time(element))


def _signs(classes: str) -> Set[str]:
    """List what some classes are a sign of: the author, also by microformats, the title and the publication."""
    words = classes.split()
    signs = {
        "author": _AUTHOR_CLASS.search(classes) is not None,
        "hentry": not _HENTRY_AUTHOR.isdisjoint(words),
        "title": _TITLE_CLASS.search(classes) is not None,
        "published": not _PUBLISHED.isdisjoint(words),
    }
    return {sign for sign, is_there in signs.items() if is_there}


def _read_signs(element: Any, signs: Set[str], found: _Found) -> None:
    if "published" in signs:
        _keep(found.values, "class:published", _time(element))
    if element.tag in _NO_SIGNS:
        return
    if "author" in signs and not _is_of_comment(element):
        inner = _first_within(element, _is_name_of_card)
        _keep_name(found, "class:author", inner)
        if "hentry" in signs:
            _keep_name(found, "hentry:author", inner)
    if "title" in signs:
        _keep_text(found.values, "class:title", element)


def _read_link(element: Any, found: _Found) -> None:
    """Read the name in a link to the page of an author on the same site; that of a user is no more than a sign."""
    href = element.get("href") or ""
    path = _AUTHOR_PATH.search(href)
    is_full = len(found.named[HINT]) + len(found.named["href:author"]) >= 2 * _MOST
    if path is None or is_full or not _is_own(href, found.addresses) or not (name := name_of(element)):
        return
    is_name = NAME.fullmatch(name) is not None or plain(name) == plain(path["slug"])
    _keep_name(found, "href:author" if path["author"] and is_name else HINT, element, name)


def _is_own(reference: str, addresses: Addresses) -> bool:
    """Test for a reference to the page's own site, or a part of it."""
    own, other = _host(addresses.base), _host(reference)
    if own is None or other is None:
        return False
    return other in ("", own) or other.endswith(f".{own}") or own.endswith(f".{other}")


def _host(address: str) -> str | None:
    """Return the host of an address, "" of one within a site; None of what is no address."""
    try:
        return (urlsplit(address).hostname or "").removeprefix("www.")
    except ValueError:
        return None


def _first_within(element: Any, fits: Callable[[Any], bool]) -> Any:
    """Find the first of the next elements within one that fits; the element itself where none does."""
    return next(filter(fits, islice(element.iterdescendants(), _MOST_PARTS)), element)


def _is_name_of_card(element: Any) -> bool:
    return not {"fn", "p-name"}.isdisjoint((element.get("class") or "").split())


def _time(element: Any) -> str | None:
    """Read the time of an element; microformats have it in the title of an <abbr>."""
    found: str | None = element.get("datetime") or element.get("content") or element.get("title")
    return found


def _is_of_comment(element: Any) -> bool:
    """Test for the name of a reader, or the field for it."""
    return any(map(_is_of_reader, islice(element.iterancestors(), 12)))


def _is_of_reader(element: Any) -> bool:
    """Test for an element of what readers wrote, or write."""
    named = element.get("class") or element.get("id") or ""
    if element.tag in ("form", "label") or ("comment" in named and element.tag != "body"):
        return True
    return (element.get("itemtype") or "").rpartition("/")[2] in ("Comment", "Answer")


def _keep(found: dict[str, list[str]], place: str, value: str | None, most: int = _MOST) -> None:
    if value and len(found[place]) < most and (folded := " ".join(value[: 2 * MAX_CHARS].split())):
        found[place].append(folded[:MAX_CHARS])


def _keep_text(found: dict[str, list[str]], place: str, element: Any) -> None:
    """Keep the start of an element's text. It is not read in vain: thousands of elements may hold the same one."""
    if len(found[place]) < _MOST:
        _keep(found, place, shown_text(element))


def _keep_name(found: _Found, place: str, element: Any, name: str | None = None) -> None:
    """Keep the name in an element, with the element."""
    if len(found.named[place]) < _MOST and (name := name or name_of(element)):
        found.named[place].append((name[:MAX_CHARS], element))


def _read_json(text: str, found: dict[str, list[str]]) -> None:
    for node in json_ld_things(text):
        for name in ("headline", "description", "datePublished", "dateCreated", "license", "keywords"):
            values = node.get(name)
            for value in values if isinstance(values, list) else [values]:
                if isinstance(value, str):
                    _keep(found, f"ld:{name.lower()}", value, _MOST_TAGS)
        is_image = "ImageObject" in str(node.get("@type"))
        for name in ("publisher",) if is_image else ("author", "creator", "publisher"):
            _keep(found, f"ld:{name}", ", ".join(_names(node.get(name))))
        for image in _names(node.get("image"), "url"):
            _keep(found, "ld:image", image)
        if node.get("@type") == "Person":
            _keep(found, "ld:person", ", ".join(_names(node)))


def _names(value: Any, key: str = "name") -> Iterator[str]:
    for one in islice(value, _MOST) if isinstance(value, list) else [value]:
        named = one.get(key) if isinstance(one, dict) else one
        yield from (text for text in (named if isinstance(named, list) else [named]) if isinstance(text, str) and text)


def _ranked(found: dict[str, list[str]], field: str) -> Iterator[tuple[str, str]]:
    return ((place, value) for place in _RANKS[field] for value in found.get(place, ()))


def _titles(found: dict[str, list[str]], site_names: Set[str]) -> Iterator[tuple[str, str]]:
    """Choose the title of what the page is about: the one that a heading repeats, or the heading that is nearest to it.

    <title> and Open Graph's have the site's name behind it, and some pages nothing else; a heading alone may be the
    site's.
    """
    title = next(iter(found.get("title", ())), "")
    card = next(
        (one for name in ("meta:og:title", "meta:twitter:title", "ld:headline") for one in found.get(name, ())), ""
    )
    headings = [(name, one) for name in ("itemprop:headline", "h1", "class:title") for one in found.get(name, ())]
    for _, one in chain(headings, (("h2", one) for one in found.get("h2", ()))):
        heading = plain(one)
        if " " in heading:
            if heading in plain(title):
                yield "title", title
            elif heading in plain(card):
                yield "card", card
    likely = [max(_likeness(one, title), _likeness(one, card)) for _, one in headings]
    if likely and max(likely) >= _LIKE:
        yield headings[likely.index(max(likely))]
    own = [one for one in found.get("h1", ()) if squeezed(one) not in site_names]
    if len({plain(one) for one in own}) == 1:
        yield "h1", own[0]
    yield from (pair for pair in (("card", card), ("title", title)) if pair[1])
    yield from (("h1", one) for one in found.get("h1", ()))


def _likeness(one: str, other: str) -> float:
    """Compute the share of the words of the shorter of two texts that the other has; 0 for a text of one word."""
    first, second = set(plain(one).split()), set(plain(other).split())
    fewest = min(len(first), len(second))
    return len(first & second) / fewest if fewest > 1 else 0.0


def _site_names(found: dict[str, list[str]], url: str) -> set[str]:
    """List the names of the site, squeezed, which are no authors."""
    host = _host(url) or ""
    names = (one for place in _RANKS["site_name"] for one in found.get(place, ()))
    return {squeezed(one) for one in (*names, host, *host.split(".")[:-1])}


def _absolute(values: Iterator[tuple[str, str]], addresses: Addresses) -> Iterator[tuple[str, str]]:
    return ((place, address) for place, value in values if (address := addresses.image(value)))


def _licenses(found: dict[str, list[str]], addresses: Addresses) -> Iterator[tuple[str, str]]:
    """Resolve the addresses among the licences; others are texts."""
    for place, value in _ranked(found, "license"):
        is_reference = place == "rel:license" or value.startswith("/")
        if address := addresses.link(value) if is_reference else value:
            yield place, address


def _unmarked(values: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Decode HTML in texts that should have none, where an end of an element or a whole reference shows it."""
    for place, value in values:
        if _MARKUP.search(value):
            value = shown_text(parse_tree(f"<p>{value}".encode("utf-8", "replace")))
        if text := " ".join(_REFERENCE.sub(lambda found: unescape(found.group()), value).split()):
            yield place, text


def _dates(found: dict[str, list[str]], url: str, timestamp: int) -> Iterator[tuple[str, str]]:
    """Choose the day of publication: what is declared, or the one in the URL; the capture's own at the latest.

    Where a time is declared in UTC, the URL has the day at the place of the page, which may be the one before or after.
    """
    match = _DAY_IN_URL.search(url)
    in_url = "-".join(match.groups()) if match else ""
    for place, text in chain(_ranked(found, "date"), [("url", in_url)] if in_url else []):
        at = parse_date(text)
        if at is not None and EARLIEST <= at <= timestamp + SLACK:
            is_local = not _IN_UTC.search(text) or not in_url or not _is_next_to(at, in_url)
            chosen = (place, written_day(text)) if is_local else ("url", in_url)
            yield chosen[0], min(chosen[1], day_of(timestamp))


def _is_next_to(at: int, day: str) -> bool:
    """Test for a day that is that of a time, the one before or the one after."""
    start = parse_date(day)
    return start is not None and -SLACK <= at - start < 2 * SLACK


def day_of(timestamp: int) -> str:
    """Write the day of a time in microseconds since 1970, as YYYY-MM-DD."""
    return datetime.fromtimestamp(timestamp // SECOND, UTC).date().isoformat()
