"""The documentation of a ledger server: headings, code in <pre>, tables of options, a navigation tree at the side."""

from dataclasses import dataclass
from random import Random

from benchmarks.samples.prose import length
from benchmarks.samples.sample_languages import ENGLISH, MANUAL
from benchmarks.samples.sample_site import Moment, Site
from benchmarks.samples.style_sheet import Sheet, Span, code, link, part

CHAPTER = 12
"""Pages in a chapter: the navigation tree shows one chapter."""

CALLS = "open close append verify rotate replay compact export merge audit seal branch".split()
FIELDS = "ledger.path queue.size cache.bytes retry.limit schema.strict export.format worker.count lock.timeout log.level".split()


@dataclass(frozen=True, eq=False)
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
    stylesheet = "manual.css"

    def item_path(self, number: int) -> str:
        title = "-".join(self.item(number).title.lower().split())
        return f"/docs/{self.sections[number % len(self.sections)].lower()}/{title}-{number}"

    def section_path(self, section: int, part: int) -> str:
        return f"/docs/{self.sections[section].lower()}/" + (f"contents-{part + 1}" if part else "")

    def write_item(self, sheet: Sheet, number: int, moment: Moment) -> None:
        item = self.item(number)
        self._tree(sheet, number, moment)
        sheet.markup('<main class="doc">\n')
        sheet.chrome("p", link("/", "Docs"), " / ", link(f"/docs/{item.section.lower()}/", item.section))
        sheet.main("h1", item.title)
        dice = self.dice("text", number)
        for place, paragraph in enumerate(self.story(number, length(dice, 2, 24), moment.edits)):
            if place and place % 3 == 0:
                sheet.main("h2", self.register.headline(dice), Span('<a href="#here">', "", "</a>"))
            sheet.main("p", *_with_code(dice, paragraph))
            self._figure(sheet, dice)
        sheet.markup('<div class="turn">')
        for other in (number - 1, number + 1):
            if 0 <= other < self.alive(moment.crawl):
                sheet.chrome("div", link(self.item_path(other), self.item(other).title))
        sheet.markup("</div>\n")
        sheet.chrome("p", link("/edit", "Edit this page"))
        sheet.markup("</main>\n")

    def write_list(self, sheet: Sheet, number: int, title: str, moment: Moment) -> None:
        self._tree(sheet, 0, moment)
        sheet.markup('<main class="doc">\n')
        sheet.main("h1", title)
        sheet.markup("<ul>\n")
        for item in self.listed(number, moment.crawl):
            sheet.main(
                "li",
                link(self.item_path(item.number), item.title),
                f": {self.register.sentence(self.dice('teaser', item.number))}",
            )
        sheet.markup("</ul>\n</main>\n")

    def _figure(self, sheet: Sheet, dice: Random) -> None:
        """Write, sometimes, code, a table or a note below a paragraph."""
        chance = dice.random()
        if chance < 0.22:
            lines = [
                f"{dice.choice(CALLS)}_{dice.choice(CALLS)}({dice.choice(FIELDS)!r}, limit={dice.randrange(900)})"
                for _ in range(dice.randrange(1, 9))
            ]
            sheet.main(
                "pre",
                Span(
                    "<code>",
                    "with ledger.session() as session:\n" + "\n".join(f"    session.{line}" for line in lines),
                    "</code>",
                ),
            )
        elif chance < 0.32:
            sheet.markup("<table>\n<tr>")
            for heading in ("Option", "Default", "Meaning"):
                sheet.main("th", heading)
            sheet.markup("</tr>\n")
            for _ in range(dice.randrange(2, 9)):
                sheet.markup("<tr>")
                sheet.main("td", code(dice.choice(FIELDS)))
                sheet.main("td", str(dice.randrange(1, 4096)))
                sheet.main("td", self.register.sentence(dice))
                sheet.markup("</tr>\n")
            sheet.markup("</table>\n")
        elif chance < 0.4:
            sheet.main('div class="note"', self.register.sentence(dice))

    def _tree(self, sheet: Sheet, number: int, moment: Moment) -> None:
        sheet.add(_chapter(self, number // CHAPTER, moment.crawl))

    def open(self, sheet: Sheet, title: str, moment: Moment) -> None:
        sheet.markup(
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title} | {self.name}</title>\n<style>\n{self.css}</style>\n</head>\n<body>\n'
        )
        sheet.add(_top(self))

    def close(self, sheet: Sheet, moment: Moment) -> None:
        sheet.markup('</div>\n<footer class="foot">')
        sheet.chrome("p", f"Copyright © {self.year(moment.crawl)} the {self.name} authors. Version 4.{moment.crawl}.")
        sheet.markup("</footer>\n<script>document.documentElement.dataset.theme='light';</script>\n</body>\n</html>\n")


def _with_code(dice: Random, paragraph: str) -> tuple[str | Span, ...]:
    """Return the paragraph, sometimes with an option's name in code after its first sentence."""
    end = paragraph.find(". ")
    if end < 0 or dice.random() < 0.5:
        return (paragraph,)
    return paragraph[: end + 2], "See ", code(dice.choice(FIELDS)), ". ", paragraph[end + 2 :]


@part
def _top(sheet: Sheet, site: Manual) -> None:
    sheet.markup('<header class="topbar">')
    sheet.chrome("b", site.name)
    for text in (*site.sections, "Blog", "Source"):
        sheet.chrome("div", link(f"/docs/{text.lower()}/", text))
    sheet.markup(
        '<form role="search"><input type="hidden" name="v" value="4"><input name="q" placeholder="Search"></form>\n</header>\n'
    )
    sheet.markup('<div class="layout">\n')


@part
def _chapter(sheet: Sheet, site: Manual, chapter: int, crawl: int) -> None:
    sheet.markup('<nav class="tree">\n')
    sheet.chrome("p", f"Chapter {chapter + 1}")
    sheet.markup("<ul>\n")
    for number in range(chapter * CHAPTER, min((chapter + 1) * CHAPTER, site.alive(crawl))):
        sheet.chrome("li", link(site.item_path(number), site.item(number).title))
    sheet.markup("</ul>\n</nav>\n")
