"""Addresses of links and images: absolute where the page's own is known, and none that acts."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin, urlsplit

from dbce_spark.html.metadata import canonical_url

MAX_ADDRESS_CHARS = 4096
"""Longer than any browser of the time sent; what is longer is data in an address."""

_MOST_SET_CHARS = 4 * MAX_ADDRESS_CHARS
"""Of a `srcset`, which has an address for each size."""
_LINK_SCHEMES = frozenset(("http", "https", "ftp", "mailto", "tel"))
_IMAGE_SCHEMES = frozenset(("http", "https"))
# What a browser takes out of an address, and what must not stand in one.
_STRIPPED = re.compile(r"[\t\n\r]")
_BAD = re.compile(r"[\x00-\x20\x7f-\xa0<>\"`{}|\\^\u2028\u2029\ud800-\udfff]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
# References that the rules of URLs leave as they are, but for the origin before a path: so are most.
_SAFE = r"[\w/.~!$&'()*+,=:@%-]"
_ORIGIN = re.compile(r"https?://[a-z0-9][a-z0-9.-]*(?=/|$)")
_PLAIN = re.compile(rf"{_ORIGIN.pattern}(?:/{_SAFE}*(?:\?{_SAFE}+)?(?:#{_SAFE}+)?)?", re.ASCII)
_PLAIN_PATH = re.compile(rf"/(?!/)(?!\.)(?:(?!/\.){_SAFE})*(?:\?{_SAFE}+)?(?:#{_SAFE}+)?", re.ASCII)
_PATH = re.compile(r"((?:[a-z][a-z0-9+.-]*:)?(?://[^/?#]*)?)([^?#]*)(.*)", re.IGNORECASE | re.DOTALL)
_TO_QUERY = re.compile(r"[^?#]*")
_BEGINNING = "".join(map(chr, range(0x21)))
"""Controls and the space, which browsers take off both ends of an address."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_LIKE_SCHEME = re.compile(r"[^/?#]*[:&]")
"""A colon in the first segment of a path, or the beginning of what Markdown reads as one: `&#58;`."""
_HOST = re.compile(r"[a-z]+://(?:[^/?#@]*@)?([^/?#@:]{1,253})(?=[/?#:]|$)", re.IGNORECASE)
_SLASH_BEFORE_SLASH = re.compile("/(?=/)")
_EMPTY = "\0"
"""Stands in a path where nothing does; no page has it."""
_PLACEHOLDER = re.compile(
    r"(?:^|[_.-])(?:blank|spacer|placeholder|transparent|pixel|1x1|loading|lazy)|^(?:none|clear)\.", re.IGNORECASE
)
"""In the name of a file."""
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-original-src", "data-pagespeed-lazy-src")
"""Attributes that scripts load images from, in the place of what `src` names."""
_LAZY_NAMES = frozenset(_LAZY)
_LAZY_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_CANDIDATE = re.compile(r"([^\s,]\S*)(?:(?<!,)([^,]*))?")
"""A candidate of a `srcset`: an address, which ends at white space, and its size, if no comma ends the address."""
_IMAGE_FILE = re.compile(r"\.(?:avif|bmp|gif|jfif|jpe|jpe?g|png|svg|tiff?|webp)$", re.IGNORECASE)
_WIDTH = re.compile(r"\s*(\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Addresses:
    """The address that references of a page are relative to: its base, or else its own.

    Where neither is an address on the web, relative references are none, or with `keeps_relative` stay as written.
    """

    base: str
    keeps_relative: bool = False

    def link(self, reference: str | None) -> str | None:
        """Resolve the address of a link; None if it leads nowhere, or acts."""
        return self._resolve(reference, _LINK_SCHEMES)

    def image(self, reference: str | None) -> str | None:
        """Resolve the address of an image; None if it is none on the web, a place of the page itself, or to be filled
        in by a script: `x_{width}.jpg`."""
        is_none = not reference or "{" in reference or reference.startswith("#")
        return None if is_none else self._resolve(reference, _IMAGE_SCHEMES)

    def is_own(self, reference: str) -> bool:
        """Test for a reference to a place of the page itself."""
        if "#" not in reference:
            return False
        address, own = self.link(reference) or "", self.link(self.base) or ""
        return "#" in address and address.partition("#")[0] == own.partition("#")[0]

    def _resolve(self, reference: str | None, schemes: frozenset[str]) -> str | None:
        if not reference or len(reference) > MAX_ADDRESS_CHARS:
            return None
        if _PLAIN.fullmatch(reference):
            return reference
        if _PLAIN_PATH.fullmatch(reference) and (origin := _origin(self.base)):
            return origin + reference
        return _joined(self.base, reference, schemes | {""} if self.keeps_relative else schemes)


def addresses(root: Any, url: str, *, keeps_relative: bool = False) -> Addresses:
    """Read what the references of a page are relative to: to nothing where that is longer than an address.

    Of a page without a URL, or with one that lacks its scheme, the one counts that it declares as its own.
    """
    url = url.strip()
    base = next((one.get("href") for one in root.iter("base") if one.get("href")), "")
    if max(len(url), len(base)) > MAX_ADDRESS_CHARS:
        return Addresses("", keeps_relative)
    if not _SCHEME.match(url):
        url = canonical_url(root) or ""
    try:
        return Addresses(_join(url, base.strip()), keeps_relative)
    except ValueError:
        return Addresses(url, keeps_relative)


@lru_cache(maxsize=1024)
def _joined(base: str, reference: str, schemes: frozenset[str]) -> str | None:
    reference = _STRIPPED.sub("", reference.strip().strip(_BEGINNING))
    reference = _TO_QUERY.sub(lambda path: path[0].replace("\\", "/"), reference, count=1)  # as browsers read it
    try:
        absolute = _join(base, reference) if reference else ""
        parts = urlsplit(absolute)
    except ValueError:
        return None
    if parts.scheme.lower() not in schemes or (parts.scheme in _IMAGE_SCHEMES and not parts.netloc):
        return None
    if not parts.scheme:
        if not absolute or _SCHEME.match(absolute):  # a scheme to browsers alone
            return None
        if _LIKE_SCHEME.match(absolute):
            absolute = f"./{absolute}"
    return _BAD.sub(_escaped, absolute)


def _join(base: str, reference: str) -> str:
    """Resolve a reference as browsers do: urljoin would take the empty segments out of paths (a//b)."""
    return urljoin(_marked(base), _marked(reference)).replace(_EMPTY, "")


def _marked(address: str) -> str:
    """Put a mark in each empty segment of the path of an address."""
    begin, path, rest = _PATH.match(address).groups()  # type: ignore[union-attr]
    return begin + _SLASH_BEFORE_SLASH.sub(f"/{_EMPTY}", path) + rest


@lru_cache(maxsize=64)
def _origin(base: str) -> str:
    """Return scheme and host of an address on the web; "" if it has none that stay as they are."""
    found = _ORIGIN.match(base)
    return found.group() if found else ""


def image_source(image: Any, addresses: Addresses) -> str | None:
    """Resolve the source of an image: of a lazy one that which a script would load.

    Where the image itself has only a placeholder, the largest of a set is taken, or what else names a file of an image.
    """
    own = addresses.image(image.get("src"))
    name = own.partition("?")[0].removesuffix("/").rpartition("/")[2] if own else ""
    if own and not _PLACEHOLDER.search(name) and not _is_lazy(image):
        return own
    found = next((one for name in _LAZY if (one := addresses.image(image.get(name)))), None)
    return found or next(_from_sets(image, addresses), None) or _from_file(image, addresses) or own


def _is_lazy(image: Any) -> bool:
    return not _LAZY_NAMES.isdisjoint(image.keys()) and any(image.get(name) for name in _LAZY)


def _from_sets(image: Any, addresses: Addresses) -> Iterator[str]:
    picture = next(image.iterancestors("picture"), None)
    around = () if picture is None else picture.iter("source")
    for one in (image, *around):
        for name in _LAZY_SETS:
            if (found := _largest(one.get(name))) and (source := addresses.image(found)):
                yield source


def _from_file(image: Any, addresses: Addresses) -> str | None:
    """Find the address of a file in an attribute, whatever its name: each program has another."""
    found = (value for name, value in image.items() if name != "src" and "/" in value and not _has_space(value))
    return next((one for value in found if is_image_file(value) and (one := addresses.image(value))), None)


def _has_space(text: str) -> bool:
    return len(text.split(maxsplit=1)) > 1


def is_image_file(address: str) -> bool:
    """Test for the address of an image, by the end of its path."""
    return _IMAGE_FILE.search(address.partition("?")[0].partition("#")[0]) is not None


def _largest(source_set: str | None) -> str | None:
    """Find the candidate of the greatest width or density in a `srcset`."""
    if not source_set or len(source_set) > _MOST_SET_CHARS:
        return None
    best, found = -1.0, None
    for candidate in _CANDIDATE.finditer(source_set):
        address, size = candidate[1].rstrip(","), _WIDTH.match(candidate[2] or "")
        width = float(size[1]) if size else 0.0
        if address and not address.startswith("data:") and width > best:
            best, found = width, address
    return found


def encoded(address: str) -> str:
    """Write an address in ASCII, as it is sent."""
    if address.isascii():
        return address
    if found := _HOST.match(address):
        with suppress(UnicodeError):  # what can be no host
            address = address[: found.start(1)] + found[1].encode("idna").decode() + address[found.end(1) :]
    return _NOT_ASCII.sub(_escaped, address)


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "replace"))
