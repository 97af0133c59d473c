"""The dates of crawls, and the changes of a site's pages from one to the next."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """The days on which crawls begin, and how fast sites change between them."""

    days: tuple[date, ...]
    born: tuple[float, ...]  # share of a site's items that exist at each crawl
    gone: float  # share of the items that are gone (404) from some crawl on
    edited: float  # share of the items that are edited between two crawls
    cached: float  # share of the unedited items that come out of a cache, byte for byte as in the crawl before
    redesigned: int  # the first crawl that sees the new design of the site that has one


THREE_YEARS = Calendar(
    days=(date(2022, 3, 7), date(2022, 9, 5), date(2023, 3, 6)),
    born=(0.8, 0.92, 1.0),
    gone=0.06,
    edited=0.2,
    cached=0.15,
    redesigned=2,
)
"""Of the sample archive."""
