"""One item of a feed: what it says of a page, and where that is."""

from dataclasses import dataclass

from dbce_spark.archive.index.urls import domain_of, host_of
from dbce_spark.model import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """As the feed has it, white space folded; "" where it does not say."""

    feed: str  # URL
    link: str  # URL, absolute
    title: str
    description: str
    date: str  # as written

    @property
    def item_id(self) -> str:
        """The same as long as title, description and date are the same in feeds of one site: 32 hexadecimal digits.

        The link does not count: many feeds have a new one in each answer, with a number of the session in it.
        """
        return digest(domain_of(host_of(self.feed)), self.title, self.description, self.date)
