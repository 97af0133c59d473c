"""The crawls: the fetch times of each URL. Everything is computed from its number, so nothing has to be remembered."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import accumulate
from math import gcd

from benchmarks.samples.calendar import Calendar
from benchmarks.samples.sample_server import Answer, answer, urls
from benchmarks.samples.sample_site import Site

SECONDS = 2
"""Between two fetches, so that no two captures have the same 14-digit timestamp."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """One URL fetched at one time."""

    site: Site
    answer: Answer
    requested: datetime
    answered: datetime
    first_answered: datetime  # when the same body came the first time; `answered` if it is new

    @property
    def url(self) -> str:
        return f"http://{self.site.host}{self.answer.path}"

    @property
    def again(self) -> bool:
        """Test for a whole page or file that came a second time, byte for byte."""
        return self.first_answered < self.answered and self.answer.status.startswith("200")


class Schedule:
    """The order in which every crawl fetches all URLs: the sites mixed, as a crawler with many queues does it."""

    def __init__(self, sites: Sequence[Site]) -> None:
        self._sites = sites
        self.calendar = sites[0].calendar
        self._ends = list(accumulate(urls(site) for site in sites))
        self.total = self._ends[-1]
        self._stride = next(
            step for step in range(int(self.total * 0.618) + 1, 2 * self.total + 2) if gcd(step, self.total) == 1
        )

    def url(self, position: int) -> tuple[Site, int]:
        """Return the site and the number of the URL that is fetched at a position."""
        index = position * self._stride % self.total
        place = bisect_right(self._ends, index)
        return self._sites[place], index - (self._ends[place - 1] if place else 0)


def fetches(schedule: Schedule, crawl: int) -> Iterator[Fetch]:
    """Iterate over all fetches of one crawl in the order of their times."""
    for position in range(schedule.total):
        site, number = schedule.url(position)
        found = answer(site, number, crawl)
        if found is not None:
            answered = _answered(position, schedule.calendar, crawl)
            wait = timedelta(milliseconds=40 + position * 7919 % 300)
            yield Fetch(site, found, answered - wait, answered, _answered(position, schedule.calendar, found.since))


def _answered(position: int, calendar: Calendar, crawl: int) -> datetime:
    start = datetime.combine(calendar.days[crawl], time(6), tzinfo=UTC)
    return start + timedelta(seconds=SECONDS * (position + 1), microseconds=position * 104_729 % 900_000)
