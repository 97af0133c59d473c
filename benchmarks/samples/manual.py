"""The documentation of a ledger server: headings, code in <pre>, tables of options, a navigation tree at the side."""

from random import Random

from benchmarks.samples.drawn_page import Span, code
from benchmarks.samples.sample_languages import ENGLISH, MANUAL
from benchmarks.samples.sample_site import Item, Site

CALLS = "open close append verify rotate replay compact export merge audit seal branch".split()
FIELDS = "ledger.path queue.size cache.bytes retry.limit schema.strict export.format worker.count lock.timeout log.level".split()


class Manual(Site):
    """English software documentation."""

    kind = "documentation"
    language = "en"
    charset = "utf-8"
    content_type = "text/html; charset=utf-8"
    server = "GitPages"
    register = MANUAL
    authors = ENGLISH.names
    sections = ("Guide", "Reference", "Operations")
    front = "{name} documentation"
    design = "manual"
    fields = FIELDS
    per_chapter = 12
    """Pages in a chapter: the navigation tree shows one chapter."""

    def item_path(self, number: int) -> str:
        title = "-".join(self.item(number).title.lower().split())
        return f"/docs/{self.sections[number % len(self.sections)].lower()}/{title}-{number}"

    def section_path(self, section: int, part: int) -> str:
        return f"/docs/{self.sections[section].lower()}/" + (f"contents-{part + 1}" if part else "")

    def chapter(self, chapter: int, crawl: int) -> list[Item]:
        """List the published pages of a chapter."""
        first = chapter * self.per_chapter
        return [self.item(number) for number in range(first, min(first + self.per_chapter, self.alive(crawl)))]

    def with_code(self, dice: Random, paragraph: str) -> tuple[str | Span, ...]:
        """Return the paragraph, sometimes with an option's name in code after its first sentence."""
        end = paragraph.find(". ")
        if end < 0 or dice.random() < 0.5:
            return (paragraph,)
        return paragraph[: end + 2], "See ", code(dice.choice(FIELDS)), ". ", paragraph[end + 2 :]

    def session(self, dice: Random) -> str:
        """Write a few lines of code."""
        lines = [
            f"    session.{dice.choice(CALLS)}_{dice.choice(CALLS)}({dice.choice(FIELDS)!r}, limit={dice.randrange(900)})"
            for _ in range(dice.randrange(1, 9))
        ]
        return "\n".join(["with ledger.session() as session:", *lines])
