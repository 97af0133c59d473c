"""A news site of today: semantic HTML5, a cookie notice, adverts inside the text, related and most-read lists, comments."""

import re
from dataclasses import dataclass

from benchmarks.samples.prose import length
from benchmarks.samples.sample_languages import ENGLISH, GOODS, NEWS
from benchmarks.samples.sample_site import Item, Moment, Site, long_date
from benchmarks.samples.style_sheet import Sheet, Span, link, part, strong

SLUG_WORD = re.compile("[a-z0-9]+")


@dataclass(frozen=True, eq=False)
class Gazette(Site):
    """An English daily."""

    kind = "article"
    language = "en"
    charset = "utf-8"
    content_type = "text/html; charset=utf-8"
    server = "nginx/1.18.0"
    chunked = True
    register = NEWS
    authors = ENGLISH.names
    sections = ("Town", "Politics", "Economy", "Culture", "Science", "Sport", "Weather")
    front = "Today"
    stylesheet = "gazette.css"

    def item_path(self, number: int) -> str:
        item = self.item(number)
        slug = "-".join(SLUG_WORD.findall(item.title.lower())[:6])
        return f"/{item.section.lower()}/{item.day:%Y/%m}/{slug}-{number}.html"

    def section_path(self, section: int, part: int) -> str:
        path = f"/{self.sections[section].lower()}/"
        return path if part == 0 else f"{path}page/{part + 1}/"

    def write_item(self, sheet: Sheet, number: int, moment: Moment) -> None:
        item = self.item(number)
        _crumbs(sheet, item)
        sheet.markup('<article itemscope itemtype="https://schema.org/NewsArticle">\n')
        self._text(sheet, item, moment)
        sheet.markup("</article>\n")
        self._below(sheet, item, moment)

    def write_list(self, sheet: Sheet, number: int, title: str, moment: Moment) -> None:
        sheet.main("h1", title)
        for item in self.listed(number, moment.crawl):
            sheet.markup('<div class="teaser">')
            sheet.main("h2", link(self.item_path(item.number), item.title))
            sheet.main("p", self.register.sentence(self.dice("teaser", item.number)))
            sheet.markup("</div>\n")
        sheet.markup('<ul class="share">')
        for text in ("1", "2", "3", "Older stories"):
            sheet.chrome("li", link("page/2/", text))
        sheet.markup("</ul>\n")

    def _text(self, sheet: Sheet, item: Item, moment: Moment) -> None:
        dice = self.dice("article", item.number)
        paragraphs = self.story(item.number, length(dice, 2, 36), moment.edits)
        sheet.main("h1", item.title)
        sheet.main('p class="lead"', self.register.sentence(dice))
        sheet.main('p class="byline"', "By ", strong(item.author), f", {long_date(item.day)}")
        if dice.random() < 0.7:
            sheet.markup('<figure><span class="photo" role="img"></span>')
            sheet.main(
                "figcaption",
                self.register.sentence(dice),
                " ",
                Span("<small>", f"Photo: {dice.choice(ENGLISH.names)}", "</small>"),
            )
            sheet.markup("</figure>\n")
        for place, paragraph in enumerate(paragraphs):
            self._before(sheet, place, item, moment)
            cut = dice.randrange(len(paragraph))
            linked = dice.random() < 0.15
            there = paragraph.find(" ", cut) if linked else -1
            end = paragraph.find(" ", there + 12) if there > 0 else -1
            if end > 0:
                sheet.main(
                    "p", paragraph[: there + 1], link("/tag/background", paragraph[there + 1 : end]), paragraph[end:]
                )
            else:
                sheet.main("p", paragraph)
        if moment.edits:
            sheet.main('p class="correction"', Span("<em>", f"Correction: {self.register.sentence(dice)}", "</em>"))

    def _before(self, sheet: Sheet, place: int, item: Item, moment: Moment) -> None:
        """Write the parts between paragraphs: subheadings, quotes, lists and, changing with the crawl, adverts."""
        if place and place % 5 == 0:
            dice = self.dice("subheading", item.number, place)
            sheet.main("h2", self.register.headline(dice))
            if dice.random() < 0.3:
                sheet.markup("<ul>")
                for _ in range(dice.randrange(2, 6)):
                    sheet.main("li", self.register.sentence(dice))
                sheet.markup("</ul>\n")
            if dice.random() < 0.3:
                sheet.markup("<blockquote>")
                sheet.main("p", self.register.sentence(dice))
                sheet.markup("</blockquote>\n")
        if place % 6 == 2:
            dice = self.dice("advert", item.number, place, moment.crawl)
            sheet.markup('<div class="advert">')
            sheet.chrome("small", "Advertisement")
            sheet.chrome("div", strong(GOODS.headline(dice)), f" now from {dice.randrange(9, 200)}.90")
            sheet.markup("</div>\n")

    def _below(self, sheet: Sheet, item: Item, moment: Moment) -> None:
        sheet.markup('<ul class="share">')
        for network in ("Share", "Post", "Mail", "Print"):
            sheet.chrome("li", link(f"#{network.lower()}", network))
        sheet.markup('</ul>\n<section class="related">')
        sheet.chrome("h3", "Read next")
        sheet.markup("<ul>")
        for other in self.some(self.dice("related", item.number, moment.crawl), 4, moment.crawl):
            sheet.chrome("li", link(self.item_path(other.number), other.title))
        sheet.markup('</ul></section>\n<section class="comments">')
        dice = self.dice("comments", item.number)
        count = min(int(8 * dice.random() ** 3), 3 * (moment.crawl - self.born(item.number) + 1))
        sheet.chrome("h3", f"Comments ({count})")
        for _ in range(count):
            sheet.markup('<div class="comment">')
            sheet.comment("h4", dice.choice(ENGLISH.names))
            sheet.comment("p", self.register.paragraph(dice, dice.randrange(1, 4)))
            sheet.markup("</div>\n")
        sheet.chrome("p", "Please log in to write a comment.")
        sheet.markup("</section>\n")

    def open(self, sheet: Sheet, title: str, moment: Moment) -> None:
        sheet.markup(
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title} | {self.name}</title>\n'
            f'<meta name="viewport" content="width=device-width">\n<style>\n{self.css}</style>\n'
            '<script>window.dataLayer=window.dataLayer||[];function track(e){dataLayer.push({"event":e,"t":Date.now()})}</script>\n'
            "</head>\n"
        )
        sheet.add(_top(self))

    def close(self, sheet: Sheet, moment: Moment) -> None:
        sheet.markup("</main>\n")
        sheet.add(_side(self, moment.crawl))
        sheet.markup("</body>\n</html>\n")


def _crumbs(sheet: Sheet, item: Item) -> None:
    sheet.markup('<ol class="crumbs">')
    sheet.chrome("li", link("/", "Home"))
    sheet.chrome("li", link(f"/{item.section.lower()}/", item.section))
    sheet.markup("</ol>\n")


@part
def _top(sheet: Sheet, site: Gazette) -> None:
    sheet.markup('<body class="story">\n<div class="cookie">')
    sheet.chrome("p", "We and our 214 partners use cookies. You can change your choice at any time.")
    sheet.chrome("button", "Accept all")
    sheet.chrome("button", "Settings")
    sheet.markup('</div>\n<header class="masthead">')
    sheet.chrome('div class="name"', link("/", site.name))
    sheet.markup(
        '<form action="/login" method="post"><input type="hidden" name="csrf" value="b1946ac92492d234">'
        '<input type="hidden" name="back" value="/"><input name="user" placeholder="E-mail"> '
        '<input type="password" name="secret" placeholder="Password"> '
    )
    sheet.chrome("button", "Log in")
    sheet.markup("</form>\n</header>\n")
    sheet.markup('<nav class="sections"><ul>')
    for section in site.sections:
        sheet.chrome("li", link(f"/{section.lower()}/", section))
    sheet.markup('</ul></nav>\n<!-- edition: web -->\n<div class="page">\n<main>\n')


@part
def _side(sheet: Sheet, site: Gazette, crawl: int) -> None:
    """Write the right column and the footer, the same on all pages of one crawl."""
    dice = site.dice("side", crawl)
    sheet.markup("<aside>\n<section>")
    sheet.chrome("h3", "Most read")
    sheet.markup("<ol>")
    for item in site.some(dice, 6, crawl):
        sheet.chrome("li", link(site.item_path(item.number), item.title))
    sheet.markup('</ol></section>\n<section class="advert">')
    sheet.chrome("h4", GOODS.headline(dice))
    sheet.chrome("p", GOODS.sentence(dice))
    sheet.markup('</section>\n<iframe src="about:blank" width="1" height="1" title="counter"></iframe>\n<section>')
    sheet.chrome("h3", "Newsletter")
    sheet.chrome("p", "The morning in five minutes, free of charge, every working day.")
    sheet.markup('<form><input name="mail">')
    sheet.chrome("button", "Subscribe")
    sheet.markup("</form></section>\n</aside>\n</div>\n<footer>")
    for text in ("Contact", "Imprint", "Privacy", "Terms of use", "Careers"):
        sheet.chrome("div", link(f"/{text.split()[0].lower()}", text))
    sheet.chrome("p", f"© {site.year(crawl)} {site.name}. All rights reserved.")
    sheet.markup(
        '</footer>\n<noscript><img src="data:," alt=""></noscript>\n'
        f'<script>track("view");var build="{dice.getrandbits(32):08x}";</script>\n'
    )
