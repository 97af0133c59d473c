"""Turn the URL of a document into its URL key, and into its branch of the tree (section 3 of the paper)."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, unquote_to_bytes, urlsplit

from dbce_spark.archive.index.urls import domain_of, host_of
from dbce_spark.streaming.urltree.urltree_settings import Rule

TITLE = "_cid_"
"""The query parameter that holds the hash of a document's title."""

KEY_FORMS = ("request", "response", "titled", "key")
"""The forms of a URL, from the feed's to the key."""

_PATH_SAFE = "/:@!$&'()*+,;=~"
_QUERY_SAFE = "/:@!$'()*,;~?"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MOST_REDIRECTS = 20
"""Redirects followed at most, as in browsers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlKey:
    """A document's URL after each step of its normalisation, and the branch of the tree that the last one names."""

    request: str
    response: str
    titled: str  # with the hash of the title; encoding and order of the parameters are those of all URLs
    key: str  # with the parameters that a rule keeps, or none
    domain: str
    branch: tuple[str, ...]  # below the domain: names of the host from the right, of the path, and the query


def url_key(request: str, title: str, rules: Sequence[Rule], redirects: Mapping[str, str] | None = None) -> UrlKey:
    """Return the URL key of a document.

    `redirects` maps URLs to their targets; without them `request` is the response URL. `title` is that of the feed,
    or the page's own.
    """
    response = response_url(request, redirects or {})
    titled = _titled(response, title)
    key = apply_rules(titled, rules)
    domain, branch = _branch(key)
    return UrlKey(request=request, response=response, titled=titled, key=key, domain=domain, branch=branch)


def response_url(url: str, redirects: Mapping[str, str]) -> str:
    """Follow redirects from a URL to their end, or to where they turn in a circle."""
    seen = {url}
    while (target := redirects.get(url)) is not None and target not in seen and len(seen) <= _MOST_REDIRECTS:
        seen.add(target)
        url = target
    return url


def apply_rules(titled: str, rules: Sequence[Rule]) -> str:
    """Take step 3: drop all parameters that the first fitting rule does not keep; without a rule, drop the query."""
    base, _, query = titled.partition("?")
    names = next((frozenset(rule.keep) for rule in rules if re.match(rule.match, titled.partition("://")[2])), None)
    left = [pair for pair in query.split("&") if pair.partition("=")[0] in names] if names else []
    return f"{base}?{'&'.join(left)}" if left else base


def duplicates(keys: Iterable[UrlKey]) -> dict[str, int]:
    """Count for each step the documents that have the URL of an earlier one of their domain: figure 2."""
    seen: dict[str, set[tuple[str, str]]] = {step: set() for step in KEY_FORMS}
    count = 0
    for key in keys:
        count += 1
        for step in KEY_FORMS:
            seen[step].add((key.domain, getattr(key, step)))
    return {step: count - len(seen[step]) for step in KEY_FORMS}


def _titled(url: str, title: str) -> str:
    """Take step 2. The query is taken as bytes, so that it need not be UTF-8."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # a port that is no number, a bracket without its pair: the URL stands as it is
        return url
    scheme, host = parts.scheme.lower(), (parts.hostname or "").rstrip(".")
    if ":" in host:
        host = f"[{host}]"
    authority = host if port in (None, _DEFAULT_PORTS.get(scheme)) else f"{host}:{port}"
    path = quote(unquote_to_bytes(parts.path), safe=_PATH_SAFE) or "/"
    pairs = [_pair(pair) for pair in parts.query.split("&") if pair]
    pairs.append((TITLE, hashlib.md5(title.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()))
    query = "&".join(name if value is None else f"{name}={value}" for name, value in sorted(pairs, key=lambda p: p[0]))
    return f"{scheme}://{authority}{path}?{query}"


def _pair(text: str) -> tuple[str, str | None]:
    """Split a parameter into its name and value, both encoded; the value is None where there is no "="."""
    name, equals, value = text.partition("=")
    return _encoded(name), _encoded(value) if equals else None


def _encoded(text: str) -> str:
    return quote(unquote_to_bytes(text.replace("+", " ")), safe=_QUERY_SAFE)


def _branch(key: str) -> tuple[str, tuple[str, ...]]:
    """Return the domain, and the names below it. http and https are one site, so the scheme is no part of it."""
    domain, names = _host_names(host_of(key))
    base, _, query = key.partition("?")
    path = base.partition("://")[2].partition("/")[2].strip("/")
    steps = tuple(step for step in path.split("/") if step)
    return domain, (*names, *steps, *((f"?{query}",) if query else ()))


@lru_cache(maxsize=65_536)
def _host_names(host: str) -> tuple[str, tuple[str, ...]]:
    """Return a host's domain, and the names below the domain, from the right."""
    domain = domain_of(host)
    below = host.removesuffix(domain).rstrip(".")
    return domain, tuple(reversed(below.split("."))) if below else ()
