"""A Russian travel blog in windows-1251 (declared in a meta tag only), redesigned before the third crawl."""

from benchmarks.samples.sample_languages import DIARY, RUSSIAN
from benchmarks.samples.sample_site import Item, Site

MONTHS = ("января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря").split("|")


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
    design = "diary"

    def item_path(self, number: int) -> str:
        return f"/{self.day(number):%Y/%m/%d}/zapis-{number}/"

    def section_path(self, section: int, part: int) -> str:
        return f"/rubrika/{section + 1}/{part + 1}/"

    def written(self, item: Item) -> str:
        return f"{item.day.day} {MONTHS[item.day.month - 1]} {item.day.year}"
