"""Choose what a page says about itself beyond the columns of each row: headline, author, date, and so on, with places.

Of its statements declarations come first, then what classes and headings show. docs/metadata.md: where each is looked
for, and how often that is right.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from html import unescape
from itertools import chain, islice
from typing import Any

from dbce_spark.files import timestamps
from dbce_spark.files.timestamps import DAY, parse_date, written_day
from dbce_spark.html.bylines import HINT, chosen, plain, squeezed
from dbce_spark.html.dom import parse_tree
from dbce_spark.html.metadata import END_SIGN, TITLE_SIGN, is_possible, with_hyphens
from dbce_spark.html.shown_text import shown_text
from dbce_spark.html.statements import MOST_TAGS, Statements, collect_statements, host_of
from dbce_spark.html.structure.addresses import Addresses
from dbce_spark.html.tokens import tokens

_LIKE = 0.3
"""Share of common words from which a heading is that of the title."""
_FEWEST_CHARACTERS = 8
"""Of a heading in a script without spaces that a title may repeat: shorter ones are names of sections."""
_MOST_SIGNS = 8
"""Signs that part a title; what lies behind more of them is one part."""
_MOST_CHARS = 200
"""Of a heading that alone is the title; what is longer is a text in the size of one."""

_RANKS = {
    "author": (
        *("ld:author", "ld:creator", "meta:author", "meta:dc.creator", "meta:dcterms.creator", "meta:article:author"),
        "meta:citation_author",
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
        *("meta:article:published_time", "ld:datepublished", "itemprop:datepublished", "meta:datepublished"),
        *("meta:dcterms.issued", "meta:dc.date.issued", "meta:dcterms.date", "meta:dc.date"),
        *("meta:dcterms.created", "meta:dc.date.created", "meta:citation_publication_date", "meta:citation_date"),
        *("pubdate", "property:published", "class:published", "ld:datecreated", "property:created"),
        *("meta:publishdate", "meta:publication_date", "meta:parsely-pub-date", "meta:sailthru.date", "meta:date"),
        "time",
    ),
    "modified": (
        *("meta:article:modified_time", "ld:datemodified", "itemprop:datemodified", "meta:datemodified"),
        *("meta:dcterms.modified", "meta:dc.date.modified", "property:modified", "class:updated"),
        "meta:og:updated_time",
    ),
}
"""The places of each, the first to be preferred."""

_CARDS = ("meta:citation_title", "meta:og:title", "meta:twitter:title", "ld:headline")
"""The places of titles that a page has for others that link to it."""
_HEADINGS = ("itemprop:headline", "h1", "class:title")
"""The places of headings that may be the title."""
_DAY_IN_URL = re.compile(r"/((?:19|20)\d\d)[/-](\d\d)[/-](\d\d)(?:\D|$)")
_DIGITS_IN_URL = re.compile(r"^[^/]*//[^/?#]*/[^?#]*?(?<!\d)((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)")
_MARKUP = re.compile(r"</[a-z]+\s*>|^<[a-z]+(?:\s[^<>]*)?>\s*\w|<br\s*/?>", re.IGNORECASE)
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,30});", re.IGNORECASE)
_LISTS = frozenset(("ld:keywords", "meta:keywords", "meta:news_keywords"))
"""Places each of whose values is a list of tags; elsewhere it is one tag, but for a single one."""
_OTHER_COMMAS = re.compile(r"[;|\uff0c\u3001\uff1b\u060c\u061b]")
_IN_ZONE = re.compile(r"T.*[+-](?!00:?00)\d\d:?\d\d\s*$")
_IN_UTC = re.compile(r"T.*(?:Z|\+00:?00)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """A page by its own statements; "" and empty where it makes none. `found_in` has a line for each, such as
    "author ld:author".

    `date` is that of the first publication, `modified` that of the last change, as YYYY-MM-DD; neither is after the
    capture, nor `modified` before `date`.
    """

    title: str
    author: str
    date: str
    modified: str
    description: str
    site_name: str
    image: str
    license: str
    tags: tuple[str, ...]
    found_in: tuple[str, ...]


NOTHING = About(
    title="", author="", date="", modified="", description="", site_name="", image="", license="", tags=(), found_in=()
)
"""The little that is known of an input that is no page."""


def read_about(root: Any, addresses: Addresses, url: str, timestamp: int) -> About:
    """Read what a page says about itself. `timestamp` is that of its capture, in microseconds since 1970."""
    found = collect_statements(root, addresses)
    site_names = _site_names(found, url)
    places: dict[str, str] = {}

    def take(field: str, values: Iterator[tuple[str, str]]) -> str:
        place, value = next(values, ("", ""))
        if value:
            places[field] = place
        return value

    values = {
        "title": take("title", _of_page(_titles(found, site_names), found, site_names)),
        "author": take("author", chosen([*_unmarked(_ranked(found, "author"))], site_names)),
        "date": take("date", _dates(found, url, timestamp)),
        "modified": take("modified", _days([*_ranked(found, "modified")], "", timestamp)),
        "description": take("description", _unmarked(_ranked(found, "description"))),
        "site_name": take("site_name", _ranked(found, "site_name")),
        "image": take("image", _absolute(_ranked(found, "image"), addresses)),
        "license": take("license", _licenses(found, addresses)),
    }
    if values["modified"] < values["date"]:  # one of both is wrong
        values["modified"] = ""
        places.pop("modified", None)
    place, tags = _tags(found)
    if tags:
        places["tags"] = place
    return About(**values, tags=tags, found_in=tuple(f"{field} {where}" for field, where in sorted(places.items())))


def _tags(found: Statements) -> tuple[str, tuple[str, ...]]:
    """Choose the place that has tags, and list these, each once."""
    place, tags = next(((one, found[one]) for one in _RANKS["tags"] if found.get(one)), ("", []))
    if place in _LISTS or len(tags) == 1:
        tags = [part for tag in tags for part in _parted(tag)]
    each = dict.fromkeys(filter(None, map(str.strip, tags)))
    return place, tuple(islice(each, MOST_TAGS))


def _parted(tags: str) -> list[str]:
    """Part a list of tags at its commas; one without any at the signs that stand for them."""
    return tags.split(",") if "," in tags else _OTHER_COMMAS.split(tags)


def _ranked(found: Statements, field: str) -> Iterator[tuple[str, str]]:
    return ((place, value) for place in _RANKS[field] for value in found.get(place, ()))


def _titles(found: Statements, site_names: Set[str]) -> Iterator[tuple[str, str]]:
    """Choose the title of what the page is about: the one that a heading repeats, or the heading that is nearest to it.

    <title> and Open Graph's have the site's name behind it, and some pages nothing else; a heading alone may be the
    site's.
    """
    title = next(iter(found.get("title", ())), "")
    card = next((one for name in _CARDS for one in found.get(name, ())), "")
    headings = [(name, one) for name in _HEADINGS for one in found.get(name, ())]
    for _, one in chain(headings, (("h2", one) for one in found.get("h2", ()))):
        heading = plain(one)
        if " " in heading or len(tokens(heading)) >= _FEWEST_CHARACTERS:
            if heading in plain(title):
                yield "title", title
            elif heading in plain(card):
                yield "card", card
    likely = [max(_likeness(one, title), _likeness(one, card)) for _, one in headings]
    if likely and max(likely) >= _LIKE:
        yield headings[likely.index(max(likely))]
    own = [one for one in found.get("h1", ()) if len(one) <= _MOST_CHARS and squeezed(one) not in site_names]
    if len({plain(one) for one in own}) == 1:
        yield "h1", own[0]
    yield from (pair for pair in (("card", card), ("title", title)) if pair[1])
    yield from (("h1", one) for one in found.get("h1", ()))


def _of_page(titles: Iterator[tuple[str, str]], found: Statements, site_names: Set[str]) -> Iterator[tuple[str, str]]:
    """Cut what is not of the page off its titles."""
    firsts, others = (
        {plain(one) for place in places for one in found.get(place, ()) if squeezed(one) not in site_names} - {""}
        for places in (_HEADINGS, ("h2",))
    )
    headings = {**dict.fromkeys(others, False), **dict.fromkeys(firsts, True)}
    parts = ((place, title, _part_of_page(title, headings, site_names)) for place, title in titles)
    return ((place, END_SIGN.sub("", part) or title) for place, title, part in parts)


def _part_of_page(title: str, headings: Mapping[str, bool], site_names: Set[str]) -> str:
    """Choose the part of a title that a heading has, or what is left without the name of the site. Of each heading it
    is known whether it may be the page's title.

    What the title begins with goes first: behind it the site may have its name, which a heading of it has too. But it
    is the name of a section if a longer heading lies between two signs and may be the title. Of the rest, the longest
    goes first.
    """
    signs = [*islice(TITLE_SIGN.finditer(title), _MOST_SIGNS)]
    begins, ends = [0, *(sign.end() for sign in signs)], [*(sign.start() for sign in signs), len(title)]
    parts = ((begin, end) for at, begin in enumerate(begins) for end in ends[at:])
    repeated = [(begin, end) for begin, end in parts if plain(title[begin:end]) in headings]
    if repeated:
        first = min(repeated, key=lambda part: (part[0] > 0, part[0] - part[1]))
        between = (part for part in repeated if part[1] < len(title) and headings[plain(title[slice(*part)])])
        longest = max(between, key=lambda part: part[1] - part[0], default=first)
        is_section = first[0] == 0 and longest[1] - longest[0] > first[1]
        return title[slice(*(longest if is_section else first))]
    if signs and squeezed(title[begins[-1] :]) in site_names:
        return title[: ends[-2]]
    if signs and squeezed(title[: ends[0]]) in site_names:
        return title[begins[1] :]
    return title


def _likeness(one: str, other: str) -> float:
    """Compute the share of the words of the shorter of two texts that the other has; 0 for a text of one word."""
    first, second = set(plain(one).split()), set(plain(other).split())
    fewest = min(len(first), len(second))
    return len(first & second) / fewest if fewest > 1 else 0.0


def _site_names(found: Statements, url: str) -> set[str]:
    """List the names of the site, squeezed, which are no authors."""
    host = host_of(url) or ""
    names = (one for place in _RANKS["site_name"] for one in found.get(place, ()))
    return {squeezed(one) for one in (*names, host, *host.split(".")[:-1])}


def _absolute(values: Iterator[tuple[str, str]], addresses: Addresses) -> Iterator[tuple[str, str]]:
    return ((place, address) for place, value in values if (address := addresses.image(value)))


def _licenses(found: Statements, addresses: Addresses) -> Iterator[tuple[str, str]]:
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


def _dates(found: Statements, url: str, timestamp: int) -> Iterator[tuple[str, str]]:
    """Choose the day of publication: what is declared, or the one in the URL, or that of a change."""
    signed = _DAY_IN_URL.search(url)
    match = signed or _DIGITS_IN_URL.search(url)
    in_url = [("url", "-".join(match.groups()))] if match else []
    updated = [("class:updated", date) for date in found.get("class:updated", ())]
    return _days([*_ranked(found, "date"), *in_url, *updated], in_url[0][1] if signed else "", timestamp)


def _days(dates: Sequence[tuple[str, str]], in_url: str, timestamp: int) -> Iterator[tuple[str, str]]:
    """Read the days of dates that can be true: the capture's own at the latest.

    Where a time is declared in UTC, the day at the place of the page may be the one before or after: that of the URL,
    or of the same time in another zone.
    """
    written = [(place, with_hyphens(date)) for place, date in dates]
    read = [(place, text, at) for place, text in written if (at := parse_date(text)) is not None]
    local = {at: (place, written_day(text)) for place, text, at in reversed(read) if _IN_ZONE.search(text)}
    for place, text, at in read:
        if is_possible(at, timestamp):
            source, day = place, written_day(text)
            if _IN_UTC.search(text):
                source, day = ("url", in_url) if _is_next_to(at, in_url) else local.get(at, (source, day))
            yield source, min(day, timestamps.day(timestamp))


def _is_next_to(at: int, day: str) -> bool:
    """Test for a day that is that of a time, the one before or the one after."""
    start = parse_date(day)
    return start is not None and -DAY <= at - start < 2 * DAY
