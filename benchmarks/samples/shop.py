"""A lamp shop: description, table of specifications, price, reviews, and "also bought" lists that change. Bodies are sent
gzipped."""

from dataclasses import dataclass

from benchmarks.samples.prose import length
from benchmarks.samples.sample_languages import ENGLISH, GOODS, REVIEWS
from benchmarks.samples.sample_site import Moment, Site
from benchmarks.samples.style_sheet import Sheet, Span, link, part


@dataclass(frozen=True, eq=False)
class Shop(Site):
    """An English shop; an item is a product."""

    kind = "product"
    language = "en"
    charset = "utf-8"
    content_type = "text/html;charset=utf-8"
    server = "cloudfront"
    gzipped = True
    register = GOODS
    authors = ENGLISH.names
    sections = ("Desk", "Wall", "Garden", "Travel")
    front = "New in the shop"
    titled = "{} lamps"
    stylesheet = "shop.css"

    def item_path(self, number: int) -> str:
        return f"/p/{number + 40000}"

    def section_path(self, section: int, part: int) -> str:
        return f"/c/{self.sections[section].lower()}?page={part + 1}"

    def write_item(self, sheet: Sheet, number: int, moment: Moment) -> None:
        item = self.item(number)
        sheet.chrome("div", link("/", "Home"), " › ", link(f"/c/{item.section.lower()}", item.section))
        sheet.markup('<div class="product">\n<div class="picture"></div>\n<div>')
        dice = self.dice("product", number)
        sheet.main("h1", item.title)
        sheet.main(
            'p class="price"', f"€ {dice.randrange(12, 300) + moment.edits}.{dice.choice(('00', '50', '90', '99'))}"
        )
        sheet.chrome("p", dice.choice(("In stock, leaves our house tomorrow", "Only 3 left", "Back in two weeks")))
        sheet.markup(
            '<form action="/cart" method="post"><input type="hidden" name="sku" value="1"><input type="hidden" name="token" value="x9">'
        )
        sheet.markup('<select name="amount">')
        for amount in ("1", "2", "3"):
            sheet.chrome("option", amount)
        sheet.markup("</select>")
        sheet.chrome('button class="buy"', "Add to basket")
        sheet.markup("</form>\n<ul>")
        for _ in range(dice.randrange(2, 6)):
            sheet.main("li", self.register.sentence(dice))
        sheet.markup("</ul>\n</div>\n</div>\n")
        sheet.chrome("h2", "Description")
        for paragraph in self.story(number, length(dice, 1, 8), moment.edits):
            sheet.main("p", paragraph)
        self._specifications(sheet, number)
        self._also(sheet, number, moment)
        self._reviews(sheet, number, moment)

    def write_list(self, sheet: Sheet, number: int, title: str, moment: Moment) -> None:
        sheet.main("h1", title)
        listed = self.listed(number, moment.crawl)
        for start in range(0, len(listed), 4):
            sheet.markup('<div class="row">\n')
            for item in listed[start : start + 4]:
                sheet.markup('<div class="card"><i></i>')
                sheet.main("h3", link(self.item_path(item.number), item.title))
                sheet.main("p", self.register.sentence(self.dice("teaser", item.number)))
                sheet.markup("</div>\n")
            sheet.markup("</div>\n")

    def _specifications(self, sheet: Sheet, number: int) -> None:
        dice = self.dice("specifications", number)
        sheet.chrome("h2", "Specifications")
        sheet.markup("<table>\n")
        rows = (
            ("Height", f"{dice.randrange(12, 190)} cm"),
            ("Weight", f"{dice.randrange(150, 9000)} g"),
            ("Power", f"{dice.randrange(2, 60)} W"),
            ("Light colour", f"{dice.randrange(22, 60)}00 K"),
            ("Material", dice.choice(("brass", "steel", "oak", "linen", "opal glass"))),
            ("Cable", f"{dice.randrange(10, 40) / 10} m"),
            ("Protection", f"IP{dice.randrange(20, 68)}"),
        )
        for name, value in rows[: dice.randrange(3, len(rows) + 1)]:
            sheet.markup("<tr>")
            sheet.main("th", name)
            sheet.main("td", value)
            sheet.markup("</tr>\n")
        sheet.markup("</table>\n")

    def _also(self, sheet: Sheet, number: int, moment: Moment) -> None:
        dice = self.dice("also", number, moment.crawl)
        sheet.chrome("h2", "Customers also bought")
        sheet.markup('<div class="row">\n')
        for other in self.some(dice, 5, moment.crawl):
            sheet.markup('<div class="card"><i></i>')
            sheet.chrome("div", link(self.item_path(other.number), other.title))
            sheet.chrome("p", f"€ {dice.randrange(12, 300)}.90")
            sheet.markup("</div>\n")
        sheet.markup("</div>\n")

    def _reviews(self, sheet: Sheet, number: int, moment: Moment) -> None:
        dice = self.dice("reviews", number)
        count = min(int(8 * dice.random() ** 2), 2 * (moment.crawl - self.born(number) + 1))
        sheet.chrome("h2", f"Reviews ({count})")
        for _ in range(count):
            sheet.markup('<div class="review">')
            sheet.comment("h4", f"{'★' * dice.randrange(1, 6)} {REVIEWS.headline(dice)}")
            sheet.comment("p", REVIEWS.paragraph(dice, dice.randrange(1, 4)))
            sheet.comment("small", dice.choice(ENGLISH.names))
            sheet.markup("</div>\n")

    def open(self, sheet: Sheet, title: str, moment: Moment) -> None:
        sheet.markup(
            f'<!doctype html>\n<html lang="en">\n<head>\n<title>{title} – {self.name}</title>\n<meta charset="utf-8">\n<style>\n{self.css}</style>\n'
            '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Store"}</script>\n</head>\n<body>\n'
        )
        sheet.add(_top(self))

    def close(self, sheet: Sheet, moment: Moment) -> None:
        sheet.markup("</div>\n")
        sheet.add(_bottom(self, moment.crawl))
        sheet.markup("</body>\n</html>\n")


@part
def _top(sheet: Sheet, site: Shop) -> None:
    sheet.markup('<div class="bar">')
    sheet.chrome('div class="logo"', link("/", site.name))
    sheet.markup(
        '<form action="/search"><input name="q" placeholder="Search"><input type="hidden" name="ref" value="top"></form>'
    )
    for text in ("Sign in", "Orders", "Basket (0)"):
        sheet.chrome("div", link("/account", text))
    sheet.markup('</div>\n<div class="cats">')
    for section in site.sections:
        sheet.chrome("div", link(f"/c/{section.lower()}?page=1", f"{section} lamps"))
    sheet.chrome("div", Span("<b>", "Free delivery from € 50", "</b>"))
    sheet.markup('</div>\n<div class="shop">\n')


@part
def _bottom(sheet: Sheet, site: Shop, crawl: int) -> None:
    dice = site.dice("bottom", crawl)
    sheet.markup('<div class="shop">')
    sheet.chrome("h3", f"Offer of the week: {dice.randrange(5, 40)} % off {dice.choice(site.sections).lower()} lamps")
    sheet.markup('</div>\n<div class="end">')
    for texts in (("Help", "Returns", "Delivery"), ("About us", "Press", "Jobs"), ("Imprint", "Privacy", "Terms")):
        sheet.markup("<div>")
        for text in texts:
            sheet.chrome("p", text)
        sheet.markup("</div>\n")
    sheet.chrome("p", f"© {site.year(crawl)} {site.name}. All prices include tax.")
    sheet.markup('</div>\n<iframe src="about:blank" width="0" height="0" title="chat"></iframe>\n')
