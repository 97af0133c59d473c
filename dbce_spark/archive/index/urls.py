"""The keys of a URL: its SURT key, its host, its registered domain.

The SURT key leaves out parameters that are known to name a session; `dbce/near_copies.py` finds what still differs.
"""

import warnings
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:  # 40 ms, which a page without a URL need not wait for
    from tldextract import TLDExtract

_LONGEST = 65_536
"""Characters of a URL that is brought into a form: surt takes time by the square of an escape of an escape of ..."""


_LONGEST_HOST = 253
"""Characters (RFC 1035). What is longer is not remembered: an archive of such hosts would fill the memory."""


def url_key(url: str) -> str:
    """Return the SURT key of a URL, by the Internet Archive's canonicalisation; the URL itself if that fails or it is
    huge."""
    if len(url) > _LONGEST:
        return url
    try:
        return _surt()(url)
    except Exception:  # the library raises whatever urllib does on a broken URL; such a URL is its own key
        return url


@cache
def _surt() -> Callable[[str], str]:
    """Return the library's function. Its source has escapes that Python 3.12 warns of, when it compiles them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import surt  # only here: it takes tldextract with it
    return surt.surt  # type: ignore[no-any-return]


def host_of(url: str) -> str:
    """Return the host of a URL as it is sent, without port, and as in URL keys without a dot behind it; "" where there
    is none."""
    try:
        return sent_host(urlsplit(url).hostname or "").removesuffix(".")
    except ValueError:
        return ""


def sent_host(name: str) -> str:
    """Write a host in lower case and in ASCII ("xn--..."), as URL keys have it and most archives; what can be no host
    stays."""
    name = name.lower()
    if name.isascii() or len(name) > _LONGEST_HOST:
        return name
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return name


def is_host(name: str) -> bool:
    """Return whether a URL can have this host, in whatever case."""
    return [name] == name.split() and sent_host(name) in (host_of(f"http://{name}/"), host_of(f"http://[{name}]/"))


def is_domain(name: str) -> bool:
    """Return whether a host can be of this registered domain, in whatever case."""
    return is_host(name) and domain_of(sent_host(name)) == sent_host(name)


def meant_host(name: str) -> str:
    """Return the host that a name, or a URL in its place, most likely means; an example where it means none."""
    host = host_of(name if "//" in name else f"http://{name}/")
    return host if is_host(host) else "www.example.org"


def domain_of(host: str) -> str:
    """Return the registered domain; under a top level that the Public Suffix List lacks, the last two labels (rule
    "*"). What is longer than a host can be is its own."""
    return _domain_of(host) if len(host) <= _LONGEST_HOST else host


@lru_cache(maxsize=65_536)
def _domain_of(host: str) -> str:
    found = _suffixes().extract_str(host)
    if found.top_domain_under_public_suffix or found.suffix or found.ipv4 or found.ipv6:
        return found.top_domain_under_public_suffix or host
    return ".".join(host.rsplit(".", 2)[-2:])


@cache
def _suffixes() -> "TLDExtract":
    """Load the Public Suffix List that tldextract carries."""
    import tldextract

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
