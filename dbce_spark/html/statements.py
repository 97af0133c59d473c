"""Collect the statements of a page about itself: the values of each place where headline, author, date and so on stand.

Declarations (JSON-LD, microdata, Open Graph, Dublin Core, `rel`), and what classes, headings, bylines and links show.
`about` chooses among them.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from dbce_spark.html.bylines import BYLINE, HINT, MAX_BYLINE, NAME, name_of, named_by, named_in, names_of_page, plain
from dbce_spark.html.elements import LINE_END_TAGS
from dbce_spark.html.json_ld import Thing, is_image, is_of_page, page_things, texts
from dbce_spark.html.metadata import is_in_drawing, meta_name
from dbce_spark.html.shown_text import heading_text, shown_lines, shown_text
from dbce_spark.html.structure.addresses import Addresses

Statements = dict[str, list[str]]
"""The values of each place, such as "ld:author", in document order."""

MAX_CHARS = 1_000
"""Of a value: descriptions have 160, and what is longer is a text."""

_MOST = 8
"""Candidates of one place; a page of a thousand comments has a thousand authors."""

MOST_TAGS = 32
"""Tags of a page."""

_AUTHOR_CLASS = re.compile(
    r"(?:^|[\s_-])(?:author|byline|autor|auteur|autore|writer)(?:s|in|name)?(?:[\s_-]|$)", re.IGNORECASE
)
_TITLE_CLASS = re.compile(r"(?:^|[\s_-])(?:entry|post|article)-?(?:title|headline)(?:[\s_-]|$)", re.IGNORECASE)
_AUTHOR_PATH = re.compile(
    r"^[^/]*(?://[^/]*)?/(?:[^?#]*/)?(?:(?P<author>authors?|by)|profiles?|users?)/(?P<slug>[^/?#]+)", re.IGNORECASE
)
_MICROFORMATS = {
    "hentry": frozenset(("author", "p-author")),
    "published": frozenset(("published", "dt-published")),
    "updated": frozenset(("updated", "dt-updated")),
}
"""Classes that the microformats hAtom and h-entry define, by what they are a sign of."""
_PROPERTIES = ("headline", "description", "datePublished", "dateCreated", "dateModified", "license", "keywords")
"""Properties of a thing in JSON-LD that are read if it may be the page."""
_DAYS = {
    **dict.fromkeys(("datepublished", "dcterms.issued", "dcterms.date", "dc.date"), "published"),
    **dict.fromkeys(("datecreated", "dcterms.created", "dc.created"), "created"),
    **dict.fromkeys(("datemodified", "dcterms.modified", "dc.modified"), "modified"),
}
"""Meanings of properties of schema.org and Dublin Core in RDFa."""
_TIMES = frozenset(("published", "updated"))
_NO_SIGNS = frozenset(("body", "label", "input", "form", "li"))
"""Elements whose classes say nothing of author and title."""
_READER_CLASS = re.compile(r"(?:^|\s)(?:comments?|(?:h-?)?reviews?)(?:[\s_-]|$)")
"""A class that begins with a name of schema.org or the microformats for what readers write; the end of one, such as
category-reviews, may say what kind of page it is."""
_READER_PROPERTIES = frozenset(("comment", "review", "reviews"))
"""Properties of schema.org for the same."""
_NO_BYLINE = frozenset("title script style option textarea body".split())
_MOST_IN_BYLINE = 4
"""Elements in it: names, a date."""
_MOST_AROUND = 12
"""Elements around one that may show that a reader wrote it."""
_MOST_PARTS = 100
"""Elements of an author in which the name is looked for."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The values of each place, in document order; of authors and times in elements, with the element."""

    addresses: Addresses
    values: Statements = field(default_factory=lambda: defaultdict(list))
    named: dict[str, list[tuple[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    signs: dict[str, Set[str]] = field(default_factory=dict)
    """Meanings of each of the page's class attributes: a page has few of them, on many elements."""


def collect_statements(root: Any, addresses: Addresses) -> Statements:
    """Collect what a page says about itself, by the places where it does."""
    found = _Found(addresses)
    values, bylines = found.values, found.named["byline"]
    _read_tags(root, found)
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


def _read_tags(root: Any, found: _Found) -> None:
    """Read the places that are elements of one tag: declarations, headings, times."""
    values = found.values
    for meta in root.iter("meta"):
        names = filter(None, map(meta.get, ("property", "name", "itemprop")))
        for key in dict.fromkeys(map(meta_name, names)):
            _keep(values, f"meta:{key}", meta.get("content"), MOST_TAGS)
    if "article" not in values.get("meta:og:type", ()):
        values.pop("meta:twitter:data1", None)
    if authors := values.get("meta:citation_author"):
        values["meta:citation_author"] = [", ".join(map(_forename_first, authors))]
    scripts = (one for one in root.iter("script") if "ld+json" in (one.get("type") or "").lower())
    for thing in page_things(root, (one.text for one in scripts if one.text)):
        _read_thing(thing, values)
    for heading in root.iter("title", "h1", "h2"):
        if heading.tag != "title" or not is_in_drawing(heading):
            _keep_text(values, heading.tag, heading)
    for time in root.iter("time"):
        if (time.get("itemprop") or "").lower() != "datemodified":
            _keep_time(found, "time", time, time.get("datetime"))
        if "pubdate" in time.attrib:
            _keep(values, "pubdate", _time(time))


def _forename_first(name: str) -> str:
    """Write a name that a catalogue has with its surname first as people do."""
    surname, comma, forename = name.partition(",")
    return f"{forename.strip()} {surname}" if comma and "," not in forename else name


def _byline(text: str | None) -> re.Match[str] | None:
    """Match a short text that says "by", or "author:". Most texts are white space between elements."""
    return BYLINE.match(text) if text and len(text) < MAX_BYLINE and not text.isspace() else None


def _read_byline(element: Any, byline: re.Match[str], found: _Found) -> None:
    """Read the name in an element that says "by", and little else, or behind one that says nothing else."""
    if not byline["name"] and not len(element) and element.getparent() is not None:
        element = element.getparent()
    if next(islice(element.iterchildren(), _MOST_IN_BYLINE, None), None) is not None:
        return
    name = named_by(element)
    if name and not _is_of_comment(element):
        _keep_name(found, "byline", element, name)


def _read_byline_behind(element: Any, byline: re.Match[str], found: _Found) -> None:
    """Read the name in a text that says more than "by", behind the first element of a line, such as a picture; where
    the text ends before the name, in the next element too."""
    following = element.getnext()
    is_first = element.tag in LINE_END_TAGS or (
        element.getprevious() is None and not (element.getparent().text or "").strip()
    )
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
    if (names := element.get("property")) and element.tag != "meta":
        _read_rdfa(element, names, found)
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
            if len(values["rel:tag"]) < MOST_TAGS:
                _keep(values, "rel:tag", shown_text(element) or element.get("title"), MOST_TAGS)
        elif rel in ("license", "image_src"):
            _keep(values, f"rel:{rel}", element.get("href"))


def _read_property(element: Any, name: str, found: _Found) -> None:
    """Read a property of microdata."""
    if name in ("author", "creator") and not _is_of_comment(element):
        inner = _first_within(element, lambda one: one.get("itemprop") == "name")
        _keep_name(found, "itemprop:author", inner, inner.get("content"))
    elif name == "headline":
        _keep_text(found.values, "itemprop:headline", element)
    elif name in ("datepublished", "datemodified"):
        _keep(found.values, f"itemprop:{name}", _time(element))


def _read_rdfa(element: Any, names: str, found: _Found) -> None:
    """Read days in RDFa, which has several properties in one attribute."""
    days = dict.fromkeys(f"property:{_DAYS[name]}" for name in map(meta_name, names.split()) if name in _DAYS)
    places = [place for place in days if len(found.values[place]) < _MOST]
    if places and not _is_of_comment(element):
        for place in places:
            _keep(found.values, place, _time(element))


def _signs(classes: str) -> Set[str]:
    """List what some classes are a sign of: the author, also by microformats, the title and the publication."""
    words = classes.split()
    signs = {
        "author": _AUTHOR_CLASS.search(classes) is not None,
        "title": _TITLE_CLASS.search(classes) is not None,
        **{sign: not named.isdisjoint(words) for sign, named in _MICROFORMATS.items()},
    }
    return {sign for sign, is_there in signs.items() if is_there}


def _read_signs(element: Any, signs: Set[str], found: _Found) -> None:
    for sign in signs & _TIMES:
        _keep_time(found, f"class:{sign}", element, _time(element))
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
    own, other = host_of(addresses.base), host_of(reference)
    if own is None or other is None:
        return False
    return other in ("", own) or other.endswith(f".{own}") or own.endswith(f".{other}")


def host_of(address: str) -> str | None:
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
    """Read the time of an element; microformats have it in the title of an <abbr>, and <time> may have it as text."""
    found: str | None = element.get("datetime") or element.get("content") or element.get("title")
    return found or (element.text if element.tag == "time" else None)


def _is_of_comment(element: Any) -> bool:
    """Test for the name of a reader, or the field for it."""
    if _READER_CLASS.search(element.get("class") or "") and element.tag != "body":
        return True
    return any(map(_is_of_reader, islice(element.iterancestors(), _MOST_AROUND)))


def _is_of_reader(element: Any) -> bool:
    """Test for an element of what readers wrote, or write."""
    named = element.get("class") or element.get("id") or ""
    if element.tag in ("form", "label") or (element.tag != "body" and _is_named_for_readers(named)):
        return True
    if element.get("itemprop") in _READER_PROPERTIES:
        return True
    return (element.get("itemtype") or "").rpartition("/")[2] in ("Comment", "Answer")


def _is_named_for_readers(named: str) -> bool:
    return "comment" in named or _READER_CLASS.search(named) is not None


def _keep(found: Statements, place: str, value: str | None, most: int = _MOST) -> None:
    if value and len(found[place]) < most and (folded := " ".join(value[: 2 * MAX_CHARS].split())):
        found[place].append(folded[:MAX_CHARS])


def _keep_text(found: Statements, place: str, element: Any) -> None:
    """Keep the start of a heading's text, without the sign that links to it. It is not read in vain: thousands of
    elements may hold the same one."""
    if len(found[place]) < _MOST:
        link = next(element.iterchildren("a", reversed=True), None)
        sign = "" if link is None or not (link.get("href") or "").startswith("#") else shown_text(link)
        text = heading_text(element)
        _keep(found, place, text if any(map(str.isalnum, sign)) else text.removesuffix(sign))


def _keep_name(found: _Found, place: str, element: Any, name: str | None = None) -> None:
    """Keep the name in an element, with the element."""
    if len(found.named[place]) < _MOST and (name := name or name_of(element)):
        found.named[place].append((name[:MAX_CHARS], element))


def _keep_time(found: _Found, place: str, element: Any, time: str | None) -> None:
    """Keep the time of an element, with the element."""
    if time and len(found.named[place]) < _MOST:
        found.named[place].append((time[:MAX_CHARS].strip(), element))


def _read_thing(thing: Thing, found: Statements) -> None:
    """Read what JSON-LD says of the page, its authors and its site."""
    if is_of_page(thing):
        for name in _PROPERTIES:
            for text in texts(thing.get(name)):
                _keep(found, f"ld:{name.lower()}", text, MOST_TAGS)
        for image in _names(thing.get("image"), "url"):
            _keep(found, "ld:image", image)
    for name in ("publisher",) if is_image(thing) else ("author", "creator", "publisher"):
        _keep(found, f"ld:{name}", ", ".join(_names(thing.get(name))))
    if thing.get("@type") == "Person":
        _keep(found, "ld:person", ", ".join(_names(thing)))


def _names(value: Any, key: str = "name") -> Iterator[str]:
    for one in islice(value, _MOST) if isinstance(value, list) else [value]:
        named = one.get(key) if isinstance(one, dict) else one
        yield from (text for text in (named if isinstance(named, list) else [named]) if isinstance(text, str) and text)
