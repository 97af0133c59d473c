"""The common parts of all sites: numbered pages (lists first, then items), items that are born from crawl to crawl, and
dice."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache
from importlib.resources import files
from random import Random
from typing import ClassVar

from jinja2 import Environment, PackageLoader, StrictUndefined

from benchmarks.samples.calendar import THREE_YEARS, Calendar
from benchmarks.samples.drawn_page import DrawnPage, Span, code, link, strong
from benchmarks.samples.prose import Register, length

PAGES_PER_LIST = 15
"""A site has one list page (front page, section) for so many pages."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of a server that puts a page together."""

    crawl: int  # decides adverts, changing lists, the year in the footer
    edits: int  # how often the page's content was edited by then


@dataclass(frozen=True, slots=True)
class Item:
    """The entry of an item page in a list."""

    number: int
    title: str
    author: str
    section: str
    day: date


@dataclass(frozen=True, eq=False)
class Site(ABC):
    """One web site. Pages 0 to `lists` - 1 are lists, 0 is the front page; the others are items, the oldest first."""

    host: str
    name: str
    seed: str
    pages: int
    hue: int  # 0 to 359, the site's colour
    weight: int = 0  # what its pages carry beside their text, in the measure of weight.py
    calendar: Calendar = THREE_YEARS

    kind: ClassVar[str]  # of the item pages
    language: ClassVar[str]
    charset: ClassVar[str]
    content_type: ClassVar[str]
    server: ClassVar[str]
    sections: ClassVar[tuple[str, ...]]
    register: ClassVar[Register]
    authors: ClassVar[tuple[str, ...]]
    gzipped: ClassVar[bool] = False
    chunked: ClassVar[bool] = False
    is_redesigned: ClassVar[bool] = False
    per_list: ClassVar[int] = 12
    front: ClassVar[str]  # title of the front page
    titled: ClassVar[str] = "{}"  # title of a section's lists
    design: ClassVar[str]  # the name of its style sheet and template in data/

    @abstractmethod
    def item_path(self, number: int) -> str:
        """Return the path (and query) of an item page."""

    @abstractmethod
    def section_path(self, section: int, part: int) -> str:
        """Return the path (and query) of a section's list page."""

    def item_title(self, number: int) -> str:
        return self.item(number).title

    def list_title(self, number: int) -> str:
        section = self.sections[(number - 1) % len(self.sections)]
        return self.titled.format(section) if number else self.front.format(name=self.name)

    def list_path(self, number: int) -> str:
        """Return the path (and query) of a list page; "/" for number 0."""
        part, section = divmod(number - 1, len(self.sections))
        return self.section_path(section, part) if number else "/"

    @property
    def lists(self) -> int:
        return max(1, round(self.pages / PAGES_PER_LIST))

    @property
    def items(self) -> int:
        return self.pages - self.lists

    @property
    def redesigned(self) -> int:
        """Return the first crawl that sees the new design; behind all, if there is none."""
        return self.calendar.redesigned if self.is_redesigned else len(self.calendar.days)

    def year(self, crawl: int) -> int:
        return self.calendar.days[crawl].year

    def alive(self, crawl: int) -> int:
        """Count the items that have been published by a crawl: the items below this number."""
        return max(min(1, self.items), int(self.items * self.calendar.born[crawl]))

    def born(self, number: int) -> int:
        """Return the first crawl that finds an item."""
        return next(crawl for crawl in range(len(self.calendar.days)) if number < self.alive(crawl))

    def path(self, page: int) -> str:
        return self.list_path(page) if page < self.lists else self.item_path(page - self.lists)

    def draw(self, page: int, moment: Moment) -> DrawnPage:
        """Draw the whole page as served at a moment."""
        drawn, number = DrawnPage(), page - self.lists
        is_list = number < 0
        drawn.html = _TEMPLATES.get_template(f"{self.design}.html.j2").render(
            site=self,
            number=page if is_list else number,
            item=None if is_list else self.item(number),
            listed=self.listed(page, moment.crawl) if is_list else (),
            title=self.list_title(page) if is_list else self.item_title(number),
            crawl=moment.crawl,
            edits=moment.edits,
            main=drawn.main,
            comment=drawn.comment,
            chrome=drawn.chrome,
        )
        return drawn

    def dice(self, *names: str | int) -> Random:
        """Make dice of their own for every purpose, so that one draw more here changes nothing there."""
        return Random(f"{self.seed}/{self.host}/{'/'.join(map(str, names))}")

    def item(self, number: int) -> Item:
        return _item(self, number)

    def day(self, number: int) -> date:
        """Date an item: spread over four years before the first crawl, then between the crawls."""
        crawl, crawls = self.born(number), self.calendar.days
        first = self.alive(crawl - 1) if crawl else 0
        days = (crawls[crawl] - crawls[crawl - 1]).days if crawl else 1400
        return crawls[crawl] - timedelta(
            days=1 + (self.alive(crawl) - 1 - number) * days // (self.alive(crawl) - first)
        )

    def listed(self, page: int, crawl: int) -> list[Item]:
        """List the items on a list page: on the front page the newest of all, elsewhere one section's, newest first."""
        alive = self.alive(crawl)
        if page == 0:
            return [self.item(number) for number in range(alive - 1, max(-1, alive - 1 - self.per_list), -1)]
        part, section = divmod(page - 1, len(self.sections))
        newest = alive - 1 - (alive - 1 - section) % len(self.sections) - part * self.per_list * len(self.sections)
        step = len(self.sections)
        return [self.item(number) for number in range(newest, max(-1, newest - step * self.per_list), -step)]

    def some(self, dice: Random, count: int, crawl: int) -> list[Item]:
        """Draw items from those that are published, as links beside a page."""
        alive = self.alive(crawl)
        return [self.item(int(dice.random() * alive)) for _ in range(count if alive else 0)]

    def beside(self, number: int, crawl: int) -> list[Item]:
        """List the items before and behind an item, if they are published."""
        return [self.item(other) for other in (number - 1, number + 1) if 0 <= other < self.alive(crawl)]

    def link(self, item: Item) -> Span:
        return link(self.item_path(item.number), item.title)

    def teaser(self, item: Item) -> str:
        return self.register.sentence(self.dice("teaser", item.number))

    def story(self, number: int, count: int, edits: int) -> list[str]:
        """Write an item's paragraphs: edits replace one or add one."""
        paragraphs = self.register.paragraphs(self.dice("story", number), count)
        for edit in range(edits):
            dice = self.dice("edit", number, edit)
            place = dice.randrange(len(paragraphs))
            paragraphs[place : place + dice.randrange(2)] = self.register.paragraphs(dice, 1)
        return paragraphs

    @cached_property
    def css(self) -> str:
        text = (files(__package__) / "data" / f"{self.design}.css").read_text(encoding="utf-8")
        return text.replace("HUE", str(self.hue))


@lru_cache(maxsize=20_000)
def _item(site: Site, number: int) -> Item:
    dice = site.dice("item", number)
    return Item(
        number=number,
        title=site.register.headline(dice),
        author=dice.choice(site.authors),
        section=site.sections[number % len(site.sections)],
        day=site.day(number),
    )


def long_date(day: date) -> str:
    """Format a date as English pages write it."""
    return f"{day.day} {day:%B} {day.year}"


_TEMPLATES = Environment(
    loader=PackageLoader(__package__, "data"),
    autoescape=False,  # the functions that write blocks escape their texts
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_TEMPLATES.globals |= {
    "span": Span, "link": link, "strong": strong, "code": code, "length": length, "long_date": long_date,
}  # fmt: skip
"""The tools that templates draw pages with: `main`, `comment` and `chrome` write a block, and note its text by its label."""
