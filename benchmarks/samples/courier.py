"""A daily that comes out story by story for weeks, as a stream has it: a page is drawn when its story appears.

The constants below are its drift: everything about a page that changes, and when. All else stays as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from random import Random
from typing import ClassVar

from benchmarks.samples.gazette import Gazette
from benchmarks.samples.sample_languages import NEWS
from benchmarks.samples.sample_site import Item

BEGINS = date(2022, 3, 1)
STORIES_A_DAY = 105
"""6,000 in 57 days, which is as long as the stream of the URL Tree paper."""
MENU_ENTRIES, MENU_DAYS = 12, 10
"""Entries of the menu; after so many days one of them is replaced."""
CAMPAIGNS, CAMPAIGN_DAYS, ADVERTS = 30, 7, 3
"""Advertising campaigns that run at a time, each for so many days, and the number of them that a page shows."""
LATEST, READ, READ_STORIES = 8, 6, 10
"""Links to the stories before a story; to those most read, which are others after so many stories."""
RELATED, RELATED_AGE = 4, 400
"""Links to older stories, and how many stories ago these appeared, on average (exponential)."""
REDESIGN_DAYS = 20
"""Days after which headings of boxes, the footer and all fixed sentences have other words."""
COPIED_AMONG = 100
"""A story that appears a second time is one of so many before it."""

WEATHER: Sequence[Sequence[str]] = (
    ("light rain", "heavy rain", "sunshine", "clouds", "snow", "fog", "hail", "thunderstorms"),
    ("the north", "the south", "the east", "the west", "the sea", "the hills"),
)


@dataclass(frozen=True, eq=False)
class Courier(Gazette):
    """An English daily as a stream. A share `copies` of its stories appears a second time, with one paragraph more, in
    another section: updates, and agencies' texts."""

    copies: float = 0.0

    design = "courier"
    register = NEWS
    KINDS: ClassVar[Mapping[str, str]] = {
        "menu": "entries of the menu and of a section's own",
        "advert": "adverts in the text and beside it",
        "list": "titles of other stories: latest, most read, related",
        "changing": "a line with a date, the weather or a name in it",
        "fixed": "headings of boxes, notices, buttons",
        "footer": "the footer's links and sentences",
    }
    """Kinds of boilerplate."""

    @property
    def lists(self) -> int:
        """Have a front page, which is never drawn, and no other list."""
        return 1

    def day(self, number: int) -> date:
        """Date a story by its number."""
        return BEGINS + timedelta(days=number // STORIES_A_DAY)

    def item(self, number: int) -> Item:
        """Return a story; a copy has the title of its source."""
        item, source = super().item(number), self.source(number)
        return item if source == number else replace(item, title=super().item(source).title)

    def source(self, number: int) -> int:
        """Return the story whose text this one has: its own number, if it is no copy."""
        dice = self.dice("copy", number)
        if dice.random() >= self.copies or not number:
            return number
        found = number - 1 - dice.randrange(min(COPIED_AMONG, number))
        return found if self.source(found) == found else number

    def text(self, number: int) -> list[str]:
        """Write the paragraphs of a story; a copy has one more."""
        source = self.source(number)
        count = 4 + int(16 * self.dice("length", source).random() ** 2)
        added = [] if source == number else self.register.paragraphs(self.dice("update", number), 1)
        return [*self.story(source, count, 0), *added]

    def menu(self, number: int) -> list[str]:
        """List the entries of the menu on the day of a story: one after the other is replaced."""
        period = self._days(number) // MENU_DAYS
        versions = [(period - place - 1) // MENU_ENTRIES for place in range(MENU_ENTRIES)]
        return [self._words("menu", place, version) for place, version in enumerate(versions)]

    def submenu(self, number: int) -> list[str]:
        """List the entries of a section's own menu."""
        return [self._words("submenu", number % len(self.sections), place) for place in range(5)]

    def campaigns(self, number: int) -> list[tuple[str, str]]:
        """Draw adverts for a page, each a headline and a sentence, from the campaigns of its day."""
        day = self._days(number)
        chosen = self.dice("adverts", number).sample(range(CAMPAIGNS), ADVERTS)
        dices = [self.dice("campaign", one, (day + one) // CAMPAIGN_DAYS) for one in chosen]
        return [(self.adverts.headline(dice), self.adverts.sentence(dice)) for dice in dices]

    def latest(self, number: int) -> list[Item]:
        """List the stories before a story."""
        return [self.item(other) for other in range(number - 1, max(-1, number - 1 - LATEST), -1)]

    def most_read(self, number: int) -> list[Item]:
        """List stories of the last three days."""
        return self._older(self.dice("read", number // READ_STORIES), number // READ_STORIES * READ_STORIES, READ)

    def related(self, number: int) -> list[Item]:
        """List older stories, mostly of the last days."""
        dice = self.dice("related", number)
        ages = [1 + int(dice.expovariate(1 / RELATED_AGE)) for _ in range(RELATED)]
        return [self.item(number - age) for age in ages if age <= number]

    def fixed(self, number: int, name: str) -> str:
        """Return the words of a fixed sentence on the day of a story."""
        return self.register.sentence(self.dice("fixed", name, self._days(number) // REDESIGN_DAYS))

    def heading(self, number: int, name: str) -> str:
        """Return the words of a box's heading on the day of a story."""
        return self._words("heading", name, self._days(number) // REDESIGN_DAYS)

    def weather(self, number: int) -> str:
        """Write a line about the weather, which is another after some stories."""
        dice = self.dice("weather", number // READ_STORIES)
        sky, wind = map(dice.choice, WEATHER)
        return f"Weather in the county today: {sky}, {dice.randrange(30)} degrees, wind from {wind}"

    def _days(self, number: int) -> int:
        return number // STORIES_A_DAY

    def _older(self, dice: Random, before: int, count: int) -> list[Item]:
        oldest = max(0, before - 3 * STORIES_A_DAY)
        return [self.item(oldest + int(dice.random() * (before - oldest))) for _ in range(count if before else 0)]

    def _words(self, *names: str | int) -> str:
        return " ".join(self.register.sentence(self.dice(*names)).split()[:3]).strip(",.;:!?“”")
