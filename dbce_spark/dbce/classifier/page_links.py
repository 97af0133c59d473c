"""Targets of the links of a page, seen from its own URL: to the page itself, up, down, beside it, to pages like it.

A menu leads up and across, the items of a listing lead down, what is related to a page leads to pages whose URLs are
like its own. None of this hangs on a language or a site. Of a page without a URL, the one that it declares counts.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier.features import LEVELS, UNKNOWN, Columns, share
from dbce_spark.dbce.classifier.layout import Layout
from dbce_spark.html.metadata import MAX_URL_CHARS
from dbce_spark.html.page import Parsed
from dbce_spark.model import Numbers, text_hash

KINDS = ("out", "same", "query", "root", "above", "below", "beside", "elsewhere", "like", "repeated", "nowhere")
"""Kinds of links. One is `out` (to another host), to the `same` URL, to that with another `query`, to the host's
`root`, to a folder `above` the page, `below` or `beside` it, `elsewhere` on its host or `nowhere` (a place on the page,
a script, a mail). It may also be `like`, to a URL of the same shape, and `repeated`, to where others of the page lead.
"""

NO_ONES = ".invalid"
"""The top level that no host has (RFC 2606). A URL that is made up has it at the end of its host or of a folder."""

_BITS = {kind: 1 << at for at, kind in enumerate(KINDS)}
_NEEDS_NO_URL = ("repeated", "nowhere")
_POOLED = ("out", "above", "below", "beside", "elsewhere", "like", "repeated")
"""Kinds whose share of the links is measured in the elements around a block too."""

_REMEMBERED = 300
"""Characters of a reference up to which it is remembered: the pages of a site have their menus in common."""

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_DOTS = re.compile(r"/\.\.?(?:/|$)")
_WORDS = re.compile(r"[^\W\d_]+")
_EXTENSION = re.compile(r"\.[a-z]{2,5}$", re.IGNORECASE)
_EXTENSION_CHARS = 7  # the line break that $ overlooks among them


class Target(NamedTuple):
    """The parts of a URL: `host` in small letters, without "www."; the path, at least "/"; the query."""

    host: str
    path: str
    query: str


@dataclass(frozen=True, slots=True)
class _Here:
    """The URL of a page, with what each of its links is compared with."""

    target: Target
    folder: str
    below: str
    depth: int
    shape: str


def of_pages(pages: Layout) -> Columns:
    """Compute the features of all blocks of some pages, by name: (blocks,) each."""
    own = [_own(one) for one in pages.parsed]
    kinds = np.concatenate([_kinds(one, url) for one, url in zip(pages.parsed, own, strict=True)])
    places, of_page = pages.located([one.tree.link_blocks for one in pages.parsed])
    is_known = np.array([url is not None for url in own])[pages.pages]
    links = pages.count_before(places, of_page)
    links_within = pages.in_elements(links)
    columns: Columns = {}
    for kind, bit in _BITS.items():
        chosen = (kinds & bit) > 0
        of_kind = pages.count_before(places[chosen], of_page[chosen])
        known = is_known | (kind in _NEEDS_NO_URL)
        columns[f"link_{kind}"] = _part(of_kind, links, known)
        if kind in _POOLED:
            within = pages.in_elements(of_kind)
            for level, element in pages.around(LEVELS):
                columns[f"link_{kind}^{level}"] = _part(within[element], links_within[element], known)
    return columns | _of_words(own, pages)


def _part(part: Numbers, whole: Numbers, is_known: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    return np.where(is_known & (whole > 0), share(part, whole), UNKNOWN)


def _of_words(own: Sequence[Target | None], pages: Layout) -> Columns:
    """Measure how many words a block shares with the description that its page declares, and with its URL."""
    columns: Columns = {}
    texts = {"description": [one.declared.description for one in pages.parsed], "path": list(map(_written, own))}
    for name, of_pages in texts.items():
        shared, words = pages.shared_words(of_pages)
        whole = words[pages.pages]
        columns[f"of_{name}"] = np.where(whole > 0, share(shared, whole), UNKNOWN)
        columns[f"in_{name}"] = np.where(whole > 0, share(shared, pages.words), UNKNOWN)
    return columns


def _written(url: Target | None) -> str:
    """Write the words of a URL's path as a heading may have them: small, with a capital, in capitals."""
    words = _WORDS.findall(unquote(url.path)) if url else []
    return " ".join(form for word in words for form in (word.lower(), word.capitalize(), word.upper()))


def _own(page: Parsed) -> Target | None:
    """Find the URL of a page: its own, or the one that it declares; None if neither is one, or both are made up."""
    for url in (page.url, *page.declared.canonical_urls):
        is_one = len(url) <= MAX_URL_CHARS and f"{NO_ONES}/" not in url
        if is_one and (split := _split(url)) and split[0]:
            return Target(split[0], split[1] or "/", split[2])
    return None


def _kinds(page: Parsed, own: Target | None) -> Numbers:
    """Name the kinds of each link of a page, as the sum of their bits."""
    base, here = _base(page, own), _here(own) if own else None
    kinds: dict[str, int] = {}
    targets: dict[str, int] = {}  # hashes: a page may have 100,000 links relative to a long base
    for href in dict.fromkeys(page.tree.hrefs):
        split = _remembered_split(href) if len(href) <= _REMEMBERED else _split(href)
        if split is None:
            kinds[href] = _BITS["nowhere"]
        else:
            target = _resolved(split, base)
            targets[href] = text_hash("\0".join(target))
            kinds[href] = _kind(target, here) if here else 0
    times = Counter(targets[href] for href in page.tree.hrefs if href in targets)
    for href, target_hash in targets.items():
        kinds[href] |= _BITS["repeated"] if times[target_hash] > 1 else 0
    return np.array([kinds[href] for href in page.tree.hrefs], np.int64)


def _here(own: Target) -> _Here:
    folder, below = own.path.rpartition("/")[0], f"{own.path.rstrip('/')}/"
    return _Here(own, folder, below, _depth(own.path), _shape(own.path, own.query))


def _base(page: Parsed, own: Target | None) -> Target:
    """Find what the references of a page are relative to: the base that it declares, or else its own URL."""
    around, declared = own or Target("", "/", ""), page.declared.base.strip()
    split = _split(declared) if len(declared) <= MAX_URL_CHARS else None
    return _resolved(split, around) if split else around


def _split(reference: str) -> tuple[str, str, str] | None:
    """Split a reference into host ("": the page's), path and query; None: it leads to no other page."""
    rest = reference.strip().partition("#")[0]
    if rest[:1] != "/" and (scheme := _SCHEME.match(rest)):
        if scheme[0].lower() not in ("http:", "https:"):
            return None
        rest = rest[scheme.end() :]
    if not rest:
        return None
    host = ""
    if rest.startswith("//"):
        host, slash, rest = rest[2:].partition("/")
        host, mark, query_of_host = host.partition("?")
        rest = f"{slash}{rest}" if not mark else f"/?{query_of_host}{slash}{rest}"
        host = host.lower().removeprefix("www.")
    path, _, query = rest.partition("?")
    return host, path, query


_remembered_split = lru_cache(maxsize=1 << 14)(_split)


def _resolved(reference: tuple[str, str, str], base: Target) -> Target:
    host, path, query = reference
    if not host:
        host = base.host
        if not path:
            path = base.path
        elif path[0] != "/":
            path = base.path[: base.path.rfind("/") + 1] + path
    if "/." in path and _DOTS.search(path):
        path = _without_dots(path)
    return Target(host, path or "/", query)


def _without_dots(path: str) -> str:
    """Remove "." and ".." from a path (RFC 3986, 5.2.4)."""
    kept: list[str] = []
    parts = path.split("/")
    for part in parts:
        if part == "..":
            if len(kept) > 1:
                kept.pop()
        elif part != ".":
            kept.append(part)
    if parts[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)


def _kind(target: Target, here: _Here) -> int:
    """Name the kinds of a target, as the sum of their bits."""
    host, path, query = target
    own = here.target
    if host != own.host:
        near = host.endswith(f".{own.host}") or own.host.endswith(f".{host}")
        return _BITS["elsewhere" if near else "out"]
    if path == own.path and query == own.query:
        return _BITS["same"]
    is_like = _depth(path) == here.depth and _shape(path, query) == here.shape
    return _BITS[_side(path, here)] | (_BITS["like"] if is_like else 0)


def _side(path: str, here: _Here) -> str:
    """Name the side of a page that a path on its host lies on."""
    own = here.target.path
    if path == own:
        return "query"
    if path == "/":
        return "root"
    if own.startswith(f"{path.rstrip('/')}/"):
        return "above"
    if path.startswith(here.below):
        return "below"
    return "beside" if path.rpartition("/")[0] == here.folder else "elsewhere"


def _depth(path: str) -> int:
    return path.strip("/").count("/")


def _shape(path: str, query: str) -> str:
    """Write what URLs of one kind share: depth, characters of the last folder by kind, extension, keys of the query."""
    keys = "&".join(sorted(one.partition("=")[0] for one in query.split("&"))) if query else ""
    folders = unquote(path).strip("/").split("/")
    kinds = "".join(sorted(set(map(_kind_of_character, set(folders[-1])))))
    extension = _EXTENSION.search(path, max(0, len(path) - _EXTENSION_CHARS))
    return f"{len(folders)}/{kinds}{extension[0] if extension else ''}?{keys}"


@lru_cache(1 << 10)
def _kind_of_character(character: str) -> str:
    """Write a letter as a, a digit as 9; others are kinds of their own."""
    if character.isdecimal():
        return "9"
    return "a" if character.isalnum() else character
