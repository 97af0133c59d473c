"""Archives of one shape each: crawls that make one group, one page or one site much larger than others.

Every shape but `empty` is made of the same small page: some 360 words in 20 kinds of places, as its site's template has
them. What a page holds follows from the seed and its number, so a shape of a size is always the same.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from random import Random
from typing import NamedTuple

from benchmarks.samples.sample_languages import NEWS

SEED = 1
SITE_PAGES = 50
"""Pages of a site unless a shape has its own number."""
PAGE_WORDS = 360
"""Words of a small page, rounded: what a longer page is measured in."""
LONG_PAGE_WORDS = 99_000
"""Words of the long page: with those around them just under `page.max_tokens`, so that it is compared as any other."""

_PARAGRAPHS = 7
_LINKS = 8
_TAG = re.compile("<[^>]*>")
_START = datetime(2024, 3, 1, tzinfo=UTC)


class Made(NamedTuple):
    """One capture of one page."""

    url: str
    when: datetime
    html: str
    words: int

    @property
    def equivalents(self) -> int:
        """Count the small pages it is worth: as many as its words make up whole, and no page less than one."""
        return max(1, self.words // PAGE_WORDS)


Shape = Callable[[int], Iterator[Made]]


def plain(pages: int) -> Iterator[Made]:
    """Make sites of 50 pages, mixed as crawlers mix them: the base that other shapes are compared with."""
    sites = -(-pages // SITE_PAGES)
    for number in range(pages):
        yield _made(f"s{number % sites}.example", number)


def one_template(pages: int) -> Iterator[Made]:
    """Make one site: in each band, all its pages are one bucket."""
    for number in range(pages):
        yield _made("one.example", number)


def one_url(pages: int) -> Iterator[Made]:
    """Capture one URL again and again, each time with a text of its own: a fifth of the size, 20,000 of 100,000."""
    for number in range(max(1, pages // 5)):
        yield _made("one.example", number, path="")


def one_page_sites(pages: int) -> Iterator[Made]:
    """Make as many sites as pages: no page has a sibling."""
    for number in range(pages):
        yield _made(f"s{number}.example", number)


def long_page(pages: int) -> Iterator[Made]:
    """Make sites of 50 small pages, each with one of 100,000 words: as many sites as make about a third of the size by
    weight."""
    sites = max(1, pages // 1000)
    small = sites * SITE_PAGES
    yield from plain(small)
    for number in range(sites):
        yield _made(f"s{number}.example", small + number, words=LONG_PAGE_WORDS)


def identical(pages: int) -> Iterator[Made]:
    """Make one site whose every URL gives the same bytes."""
    same = _made("one.example", 0)
    for number in range(pages):
        yield same._replace(url=f"http://one.example/{number}", when=_when(number))


def empty(pages: int) -> Iterator[Made]:
    """Make half parked domains, each a site, half "not found" pages of one site: too few shingles for any bucket."""
    for number in range(pages):
        if number % 2:
            title, text = f"p{number}.example", "This domain is parked. Ask for its price."
            url = f"http://p{number}.example/"
        else:
            title, text = "Not found", f"There is no page {number} here."
            url = f"http://gone.example/{number}"
        html = f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>"
        yield Made(url, _when(number), html, _words(html))


SHAPES: Mapping[str, Shape] = {
    shape.__name__: shape for shape in (one_template, one_url, one_page_sites, long_page, identical, empty)
}
"""Shapes that are measured beside `plain`, by name."""


def _made(host: str, number: int, *, path: str | None = None, words: int = 0) -> Made:
    """Make a page of a site, of at least `words` words."""
    dice = Random(f"{SEED}/{number}")
    paragraphs = [NEWS.paragraph(dice, 3) for _ in range(_PARAGRAPHS)]
    found = _words(*paragraphs)
    while found < words:
        paragraphs.append(NEWS.paragraph(dice, 7))
        found += _words(paragraphs[-1])
    title = NEWS.headline(dice)
    related = _list(NEWS.headline(dice) for _ in range(_LINKS))
    before, after = _chrome(host)
    text = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    html = (
        f"<!doctype html><html><head><title>{title}</title></head><body>{before}<main><article><h2>{title}</h2>"
        f"<div>{text}</div></article><aside><h3>Related</h3>{related}</aside></main>{after}</body></html>"
    )
    url = f"http://{host}/{number if path is None else path}"
    return Made(url, _when(number), html, found + _words(before, title, related, after))


@lru_cache(maxsize=1024)
def _chrome(host: str) -> tuple[str, str]:
    """Write the parts before and after the text of every page of a site."""
    dice = Random(f"{SEED}/{host}")
    menu = _list(" ".join(NEWS.headline(dice).split()[:2]) for _ in range(_LINKS))
    return f"<header><h1>{host}</h1><nav>{menu}</nav></header>", f"<footer><p>{NEWS.sentence(dice)}</p></footer>"


def _words(*htmls: str) -> int:
    return sum(len(_TAG.sub(" ", html).split()) for html in htmls)


def _list(texts: Iterator[str]) -> str:
    return "<ul>" + "".join(f'<li><a href="/{nth}">{text}</a></li>' for nth, text in enumerate(texts)) + "</ul>"


def _when(number: int) -> datetime:
    """Date a capture, each differently from all others of its archive."""
    return _START + timedelta(seconds=number)
