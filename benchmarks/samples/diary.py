"""A Russian travel blog in windows-1251 (declared in a meta tag only), redesigned before the third crawl."""

from dataclasses import dataclass

from benchmarks.samples.prose import length
from benchmarks.samples.sample_languages import DIARY, RUSSIAN
from benchmarks.samples.sample_site import Item, Moment, Site
from benchmarks.samples.style_sheet import Sheet, Span, link, part

MONTHS = ("января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря").split("|")


@dataclass(frozen=True, eq=False)
class Diary(Site):
    """A Russian travel blog."""

    kind = "article"
    language = "ru"
    charset = "windows-1251"
    content_type = "text/html"
    server = "Apache/2.4.6 (CentOS)"
    register = DIARY
    authors = RUSSIAN.names
    sections = ("Север", "Горы", "Море", "Города")
    is_redesigned = True
    front = "Новые записи"
    stylesheet = "diary.css"

    def item_path(self, number: int) -> str:
        return f"/{self.day(number):%Y/%m/%d}/zapis-{number}/"

    def section_path(self, section: int, part: int) -> str:
        return f"/rubrika/{section + 1}/{part + 1}/"

    def write_item(self, sheet: Sheet, number: int, moment: Moment) -> None:
        item = self.item(number)
        sheet.markup("<article>\n" if self._new(moment) else '<div class="post">\n')
        self._text(sheet, item, moment)
        sheet.markup("</article>\n" if self._new(moment) else "</div>\n")
        self._comments(sheet, item, moment)

    def write_list(self, sheet: Sheet, number: int, title: str, moment: Moment) -> None:
        sheet.main("h1" if self._new(moment) else "h2", title)
        for item in self.listed(number, moment.crawl):
            sheet.markup('<div class="post">')
            sheet.main("h3", link(self.item_path(item.number), item.title))
            sheet.main("p", self.register.paragraph(self.dice("teaser", item.number), 2))
            sheet.chrome('p class="meta"', link(self.item_path(item.number), "Читать дальше"))
            sheet.markup("</div>\n")

    def _new(self, moment: Moment) -> bool:
        return moment.crawl >= self.redesigned

    def _text(self, sheet: Sheet, item: Item, moment: Moment) -> None:
        dice = self.dice("article", item.number)
        written = f"{item.day.day} {MONTHS[item.day.month - 1]} {item.day.year}"
        if self._new(moment):
            sheet.markup("<header>")
            sheet.main("h1", item.title)
            sheet.main("p", Span("<time>", written, "</time>"), f", {item.author}")
            sheet.markup("</header>\n<section>\n")
        else:
            sheet.main("h2", item.title)
            sheet.main('div class="meta"', f"{written}, автор: {item.author}")
        for place, paragraph in enumerate(self.story(item.number, length(dice, 2, 28), moment.edits)):
            if place == 1 and dice.random() < 0.6:
                sheet.markup('<div class="pic"></div>')
                sheet.main('p class="meta"', self.register.sentence(dice))
            sheet.main("p", paragraph)
        if self._new(moment):
            sheet.markup("</section>\n")
        sheet.chrome(
            'p class="chips"', Span("<span>", item.section, "</span>"), " ", Span("<span>", "путешествия", "</span>")
        )
        sheet.markup('<div class="pager">')
        for text, other in (("« Раньше: ", item.number - 1), ("Позже: ", item.number + 1)):
            if 0 <= other < self.alive(moment.crawl):
                sheet.chrome("div", text, link(self.item_path(other), self.item(other).title))
        sheet.markup("</div>\n")

    def _comments(self, sheet: Sheet, item: Item, moment: Moment) -> None:
        dice = self.dice("comments", item.number)
        count = min(int(9 * dice.random() ** 2), 3 * (moment.crawl - self.born(item.number) + 1))
        sheet.chrome("h4", f"Комментарии: {count}")
        for _ in range(count):
            sheet.markup('<div class="reply">')
            sheet.comment("b", dice.choice(RUSSIAN.names))
            sheet.comment("p", self.register.paragraph(dice, dice.randrange(1, 3)))
            sheet.markup("</div>\n")
        sheet.markup('<form method="post"><input type="hidden" name="post" value="1"><textarea name="text"></textarea>')
        sheet.chrome("button", "Отправить")
        sheet.markup("</form>\n")

    def open(self, sheet: Sheet, title: str, moment: Moment) -> None:
        doctype = "html" if self._new(moment) else 'html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"'
        sheet.markup(
            f'<!DOCTYPE {doctype}>\n<html>\n<head>\n<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">\n'
            f"<title>{title} - {self.name}</title>\n<style>\n{self.css}</style>\n</head>\n<body>\n"
        )
        sheet.add(_new_top(self) if self._new(moment) else _old_top(self, moment.crawl))

    def close(self, sheet: Sheet, moment: Moment) -> None:
        sheet.add(_new_bottom(self, moment.crawl) if self._new(moment) else _old_bottom(self, moment.crawl))
        sheet.markup("<script>(function(){var c=new Image();c.alt='counter'})();</script>\n</body>\n</html>\n")


@part
def _old_top(sheet: Sheet, site: Diary, crawl: int) -> None:
    """Write header and menu of the old design: the menu floats, so it stands before the text."""
    sheet.markup('<div id="head">')
    sheet.chrome("div", link("/", site.name))
    sheet.chrome('div class="motto"', "Заметки о дорогах и людях")
    sheet.markup('</div>\n<div id="wrap">\n<div id="menu">')
    sheet.add(_lists(site, crawl))
    sheet.markup('</div>\n<div id="main">\n')


@part
def _old_bottom(sheet: Sheet, site: Diary, crawl: int) -> None:
    sheet.markup('</div>\n<div id="foot">')
    sheet.chrome("p", f"© 2009-{site.year(crawl)} {site.name}. При копировании ссылка обязательна.")
    sheet.markup("</div>\n</div>\n")


@part
def _new_top(sheet: Sheet, site: Diary) -> None:
    sheet.markup('<header class="hero">')
    sheet.chrome("div", link("/", site.name))
    sheet.chrome("p", "Заметки о дорогах и людях")
    sheet.markup('</header>\n<main class="shell">\n')


@part
def _new_bottom(sheet: Sheet, site: Diary, crawl: int) -> None:
    sheet.markup('<div class="cards">')
    sheet.add(_lists(site, crawl))
    sheet.markup("</div>\n</main>\n<footer>")
    sheet.chrome("small", f"© 2009-{site.year(crawl)} {site.name}")
    sheet.markup("</footer>\n")


@part
def _lists(sheet: Sheet, site: Diary, crawl: int) -> None:
    sheet.markup("<section>")
    sheet.chrome("h4", "Рубрики")
    sheet.markup("<ul>")
    for number, section in enumerate(site.sections, 1):
        sheet.chrome("li", link(f"/rubrika/{number}/1/", section))
    sheet.markup("</ul></section>\n<section>")
    sheet.chrome("h4", "Случайные записи")
    sheet.markup("<ul>")
    for item in site.some(site.dice("random", crawl), 5, crawl):
        sheet.chrome("li", link(site.item_path(item.number), item.title))
    sheet.markup("</ul></section>\n")
