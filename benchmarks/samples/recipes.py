"""A recipe site whose pages change between two visits: adverts between the steps, counters, comments, suggestions."""

from dataclasses import dataclass

from benchmarks.samples.prose import length
from benchmarks.samples.sample_languages import COOKING, ENGLISH, STEPS
from benchmarks.samples.sample_site import Moment, Site, long_date
from benchmarks.samples.style_sheet import Sheet, Span, link, part, strong


@dataclass(frozen=True, eq=False)
class Recipes(Site):
    """An English recipe site."""

    kind = "recipe"
    language = "en"
    charset = "utf-8"
    content_type = "text/html"
    server = "nginx"
    chunked = True
    register = COOKING
    authors = ENGLISH.names
    sections = ("Soups", "Baking", "Vegetables", "Sweets", "Quick")
    front = "What shall we cook today?"
    stylesheet = "recipes.css"

    def item_path(self, number: int) -> str:
        title = self.item(number).title.lower().replace(",", "").replace(" ", "-")
        return f"/recipes/{number + 200}/{title}"

    def section_path(self, section: int, part: int) -> str:
        return f"/{self.sections[section].lower()}/s{part}/"

    def write_item(self, sheet: Sheet, number: int, moment: Moment) -> None:
        item = self.item(number)
        dice = self.dice("recipe", number)
        sheet.markup('<div class="recipe">\n')
        sheet.main("h1", item.title)
        sheet.main("p", "by ", strong(item.author), f", {long_date(item.day)}")
        sheet.markup('<div class="dish"></div>\n')
        self._counters(sheet, number, moment)
        for paragraph in self.story(number, length(dice, 1, 4), moment.edits):
            sheet.main("p", paragraph)
        sheet.markup('<div class="facts">')
        sheet.main("div", f"{dice.randrange(5, 120)} min")
        sheet.main("div", dice.choice(("easy", "medium", "for the patient")))
        sheet.main("div", f"{dice.randrange(90, 900)} kcal")
        sheet.markup("</div>\n")
        self._ingredients(sheet, number)
        self._steps(sheet, number, moment)
        sheet.markup('<div class="facts">')
        for text in ("Save", "Print", "Share", "Cook mode"):
            sheet.chrome("div", link("#save", text))
        sheet.markup("</div>\n")
        self._comments(sheet, number, moment)
        sheet.markup("</div>\n")
        self._side(sheet, number, moment)

    def write_list(self, sheet: Sheet, number: int, title: str, moment: Moment) -> None:
        sheet.markup('<div class="recipe">\n')
        sheet.main("h1", title)
        for place, item in enumerate(self.listed(number, moment.crawl)):
            if place % 4 == 3:
                self._advert(sheet, number, 100 + place, moment)
            sheet.main("h3", link(self.item_path(item.number), item.title))
            sheet.main("p", self.register.sentence(self.dice("teaser", item.number)))
        sheet.markup("</div>\n")
        self._side(sheet, number, moment)

    def _counters(self, sheet: Sheet, number: int, moment: Moment) -> None:
        dice = self.dice("counters", number, moment.crawl)
        sheet.markup('<div class="facts">')
        sheet.chrome("div", f"★ {dice.randrange(20, 50) / 10} ({dice.randrange(400)} votes)")
        sheet.chrome("div", f"seen {dice.randrange(100, 90000)} times")
        sheet.markup("</div>\n")

    def _ingredients(self, sheet: Sheet, number: int) -> None:
        dice = self.dice("ingredients", number)
        sheet.main("h2", f"Ingredients for {dice.randrange(1, 9)} portions")
        sheet.markup('<table class="ingredients">\n')
        for food in dice.sample(ENGLISH.words["food"], length(dice, 4, 18)):
            sheet.markup("<tr>")
            sheet.main("td", f"{dice.randrange(1, 90) * 5} {dice.choice(ENGLISH.words['measure'])}")
            sheet.main("td", food)
            sheet.markup("</tr>\n")
        sheet.markup("</table>\n")

    def _steps(self, sheet: Sheet, number: int, moment: Moment) -> None:
        dice = self.dice("steps", number)
        sheet.chrome("h2", "Preparation")
        sheet.markup('<ol class="steps">\n')
        for place in range(length(dice, 3, 12)):
            sheet.main("li", STEPS.paragraph(dice, dice.randrange(1, 4)))
            if place % 3 == 1:
                sheet.markup("</ol>\n")
                self._advert(sheet, number, place, moment)
                sheet.markup(f'<ol class="steps" start="{place + 2}">\n')
        sheet.markup("</ol>\n")
        if dice.random() < 0.5:
            sheet.main("p", strong("Tip: "), self.register.sentence(dice))

    def _advert(self, sheet: Sheet, number: int, place: int, moment: Moment) -> None:
        """Draw an advert of one of several kinds, each with markup of its own, so that the page's tags change with the
        crawl."""
        dice = self.dice("advert", number, place, moment.crawl)
        sheet.markup('<div class="ad">')
        sheet.chrome("small", "Advert")
        if dice.random() < 0.5:
            sheet.chrome("h5", f"{dice.choice(ENGLISH.names)}'s knives, {dice.randrange(5, 60)} % off")
            sheet.markup("<ul>")
            for _ in range(dice.randrange(1, 5)):
                sheet.chrome(
                    "li",
                    link("#ad", f"{dice.choice(ENGLISH.words['food']).capitalize()} for {dice.randrange(1, 9)}.49"),
                )
            sheet.markup("</ul>\n")
        else:
            sheet.chrome("p", f"Try our {dice.choice(ENGLISH.words['food'])} box today!")
        sheet.markup("</div>\n")

    def _comments(self, sheet: Sheet, number: int, moment: Moment) -> None:
        dice = self.dice("comments", number)
        count = min(int(14 * dice.random() ** 2), 4 * (moment.crawl - self.born(number) + 1))
        sheet.chrome("h3", f"{count} comments")
        for _ in range(count):
            sheet.markup('<div class="comment">')
            sheet.comment("p", strong(dice.choice(ENGLISH.names)))
            sheet.comment("p", self.register.sentence(dice))
            if dice.random() < 0.3:
                sheet.markup('<div class="comment">')
                sheet.comment("p", strong(f"{dice.choice(ENGLISH.names)} replies"))
                sheet.comment("p", self.register.sentence(dice))
                sheet.markup("</div>\n")
            sheet.markup("</div>\n")

    def _side(self, sheet: Sheet, number: int, moment: Moment) -> None:
        dice = self.dice("side", number, moment.crawl)
        sheet.markup('<div class="right">\n<div class="box">')
        sheet.chrome("h4", "You may also like")
        for other in self.some(dice, dice.randrange(3, 8), moment.crawl):
            sheet.chrome("p", link(self.item_path(other.number), other.title))
        sheet.markup("</div>\n")
        self._advert(sheet, number, -1, moment)
        sheet.markup("</div>\n")

    def open(self, sheet: Sheet, title: str, moment: Moment) -> None:
        sheet.markup(
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title} - {self.name}</title>\n<style>\n{self.css}</style>\n'
            "<script>var ads=[];function ad(i){ads.push(i)}</script>\n</head>\n<body>\n"
        )
        sheet.add(_top(self))

    def close(self, sheet: Sheet, moment: Moment) -> None:
        sheet.markup('</div>\n<div class="foot">')
        sheet.chrome(
            "p", f"© {self.year(moment.crawl)} {self.name}", " ", Span("<a href='/imprint'>", "Imprint", "</a>")
        )
        sheet.markup("</div>\n<noscript><p></p></noscript>\n</body>\n</html>\n")


@part
def _top(sheet: Sheet, site: Recipes) -> None:
    sheet.markup('<div class="top">')
    sheet.chrome('div class="logo"', link("/", site.name))
    sheet.markup('<div class="menu">')
    for section in site.sections:
        sheet.chrome("div", link(f"/{section.lower()}/s0/", section))
    sheet.markup('</div>\n<form action="/find"><input type="hidden" name="o" value="3"><input name="s">')
    sheet.chrome("button", "Find recipes")
    sheet.markup('</form>\n</div>\n<div class="grid">\n')
