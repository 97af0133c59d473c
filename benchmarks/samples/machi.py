"""A Japanese town magazine in Shift_JIS, which only the HTTP header declares."""

from dataclasses import dataclass

from benchmarks.samples.prose import length
from benchmarks.samples.sample_languages import JAPANESE, TOWN_MAGAZINE
from benchmarks.samples.sample_site import Item, Moment, Site
from benchmarks.samples.style_sheet import Sheet, Span, link, part


@dataclass(frozen=True, eq=False)
class Machi(Site):
    """A Japanese town magazine."""

    kind = "article"
    language = "ja"
    charset = "shift_jis"
    content_type = "text/html; charset=Shift_JIS"
    server = "Apache"
    register = TOWN_MAGAZINE
    authors = JAPANESE.names
    sections = ("暮らし", "祭り", "食", "港", "学校")
    front = "新着記事"
    titled = "{}の記事"
    stylesheet = "machi.css"

    def item_path(self, number: int) -> str:
        return f"/kiji/{self.day(number):%Y}/{number:05d}.html"

    def section_path(self, section: int, part: int) -> str:
        return f"/bunrui/{section + 1}/index{part or ''}.html"

    def write_item(self, sheet: Sheet, number: int, moment: Moment) -> None:
        item = self.item(number)
        dice = self.dice("article", number)
        sheet.main("h2", item.title)
        sheet.main('p class="date"', f"{item.day.year}年{item.day.month}月{item.day.day}日 {item.author}記者")
        for place, paragraph in enumerate(self.story(number, length(dice, 2, 18), moment.edits)):
            if place == 3:
                self._advert(sheet, item, moment)
            if place and place % 4 == 0:
                sheet.main("h3", self.register.headline(dice))
            sheet.main("p", paragraph)
        if dice.random() < 0.4:
            sheet.markup("<dl>")
            for name, value in (
                ("場所", "北町公民館"),
                ("日時", f"{dice.randrange(1, 29)}日"),
                ("料金", f"{dice.randrange(1, 30)}00円"),
            ):
                sheet.main("dt", name)
                sheet.main("dd", value)
            sheet.markup("</dl>\n")
        sheet.markup("<ul>")
        for other in self.some(self.dice("related", number, moment.crawl), 3, moment.crawl):
            sheet.chrome("li", link(self.item_path(other.number), other.title))
        sheet.markup("</ul>\n")

    def write_list(self, sheet: Sheet, number: int, title: str, moment: Moment) -> None:
        sheet.main("h2", title)
        sheet.markup("<dl>")
        for item in self.listed(number, moment.crawl):
            sheet.main("dt", link(self.item_path(item.number), item.title))
            sheet.main("dd", self.register.sentence(self.dice("teaser", item.number)))
        sheet.markup("</dl>\n")

    def _advert(self, sheet: Sheet, item: Item, moment: Moment) -> None:
        dice = self.dice("advert", item.number, moment.crawl)
        sheet.markup('<div class="pr">')
        sheet.chrome(
            "p",
            f"広告:{dice.choice(('旅館の宿泊券', '新米の予約', '自転車の修理', '眼鏡の割引', '温泉の回数券'))} {dice.randrange(5, 99)}00円から",
        )
        sheet.markup("</div>\n")

    def open(self, sheet: Sheet, title: str, moment: Moment) -> None:
        sheet.markup(
            f'<!DOCTYPE html>\n<html lang="ja">\n<head>\n<title>{title}|{self.name}</title>\n<style>\n{self.css}</style>\n</head>\n<body>\n'
        )
        sheet.add(_top(self))

    def close(self, sheet: Sheet, moment: Moment) -> None:
        sheet.markup("</div>\n")
        sheet.add(_side(self, moment.crawl))
        sheet.markup("</body>\n</html>\n")


@part
def _top(sheet: Sheet, site: Machi) -> None:
    sheet.markup('<div id="page">\n<div id="top">')
    sheet.chrome('div class="logo"', link("/", site.name))
    sheet.markup('<form action="/kensaku"><input type="hidden" name="ie" value="sjis"><input name="q">')
    sheet.chrome("button", "検索")
    sheet.markup('</form></div>\n<ul id="gnav">')
    for number, section in enumerate(site.sections, 1):
        sheet.chrome("li", link(f"/bunrui/{number}/index.html", section))
    sheet.markup('</ul>\n<div id="body">\n<div id="text">\n')


@part
def _side(sheet: Sheet, site: Machi, crawl: int) -> None:
    dice = site.dice("side", crawl)
    sheet.markup('<dl id="side">')
    sheet.chrome("dt", "よく読まれている記事")
    for item in site.some(dice, 5, crawl):
        sheet.chrome("dd", link(site.item_path(item.number), item.title))
    sheet.chrome("dt", "お知らせ")
    sheet.chrome("dd", f"次号は{dice.randrange(1, 28)}日に発行します。")
    sheet.markup('</dl>\n</div>\n<div id="bottom">')
    sheet.chrome("p", Span("<small>", f"Copyright {site.year(crawl)} {site.name} 無断転載を禁じます", "</small>"))
    sheet.markup("</div>\n</div>\n<script>var p=location.pathname;</script>\n")
