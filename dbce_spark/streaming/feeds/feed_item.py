"""One item of a feed: its title, description and date, and the page it links to. A page of a list is an item, too."""

from dataclasses import dataclass

from dbce_spark.archive.index.urls import domain_of, host_of
from dbce_spark.model import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item as its feed has it, white space folded; "" where the feed has nothing."""

    feed: str  # URL; "" for a page that a list names
    link: str  # URL, absolute
    title: str
    description: str
    date: str  # as written
    page: str = ""  # URL of the page that it is a requisite of; "" for a page

    @property
    def item_id(self) -> str:
        """Return an id of 32 hexadecimal digits, the same for equal title, description and date in feeds of one site.

        The link does not count: many feeds have a new one in each answer, with a number of the session in it. A page of
        a list, and a requisite, has nothing but its link.
        """
        if not self.feed:
            return digest("", self.link)
        return digest(domain_of(host_of(self.feed)), self.title, self.description, self.date)
