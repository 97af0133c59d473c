"""A news site of today: semantic HTML5, a cookie notice, adverts inside the text, related and most-read lists, comments."""

import re
from random import Random

from benchmarks.samples.drawn_page import Span, link
from benchmarks.samples.sample_languages import ENGLISH, GOODS, NEWS
from benchmarks.samples.sample_site import Site

SLUG_WORD = re.compile("[a-z0-9]+")


class Gazette(Site):
    """An English daily."""

    kind = "article"
    language = "en"
    charset = "utf-8"
    content_type = "text/html; charset=utf-8"
    server = "nginx/1.18.0"
    chunked = True
    register = NEWS
    adverts = GOODS
    authors = ENGLISH.names
    sections = ("Town", "Politics", "Economy", "Culture", "Science", "Sport", "Weather")
    front = "Today"
    design = "gazette"

    def item_path(self, number: int) -> str:
        item = self.item(number)
        slug = "-".join(SLUG_WORD.findall(item.title.lower())[:6])
        return f"/{item.section.lower()}/{item.day:%Y/%m}/{slug}-{number}.html"

    def section_path(self, section: int, part: int) -> str:
        path = f"/{self.sections[section].lower()}/"
        return path if part == 0 else f"{path}page/{part + 1}/"

    def linked(self, dice: Random, paragraph: str) -> tuple[str | Span, ...]:
        """Return the paragraph, sometimes with a link in it."""
        cut = dice.randrange(len(paragraph))
        there = paragraph.find(" ", cut) if dice.random() < 0.15 else -1
        end = paragraph.find(" ", there + 12) if there > 0 else -1
        if end < 0:
            return (paragraph,)
        return paragraph[: there + 1], link("/tag/background", paragraph[there + 1 : end]), paragraph[end:]
