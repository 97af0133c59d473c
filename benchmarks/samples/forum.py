"""A workshop forum: threads over one to three pages, posts with quotes and signatures, user panels beside them."""

from dataclasses import dataclass
from datetime import timedelta
from random import Random

from benchmarks.samples.prose import length
from benchmarks.samples.sample_languages import ENGLISH, WORKSHOP
from benchmarks.samples.sample_site import Item, Moment, Site, long_date
from benchmarks.samples.style_sheet import Sheet, Span, link, part

THREADS = ((0, 0), (1, 0), (2, 0), (2, 1), (3, 0), (4, 0), (4, 1), (4, 2))
"""Eight pages in a row are five threads: which thread and which of its pages each is."""
THREADS_PER_ROW = 5
THREAD_PAGES = (1, 1, 2, 1, 3)
POSTS_PER_PAGE = 10


@dataclass(frozen=True, eq=False)
class Forum(Site):
    """An English forum; an item is one page of a thread."""

    kind = "forum"
    language = "en"
    charset = "utf-8"
    content_type = "text/html; charset=UTF-8"
    server = "Apache/2.4.41 (Ubuntu)"
    register = WORKSHOP
    authors = ENGLISH.names
    sections = ("Machines", "Hand tools", "Timber", "Electrics", "Show and tell")
    per_list = 20
    front = "Active topics"
    stylesheet = "forum.css"

    def item_path(self, number: int) -> str:
        thread, page = _thread(number)
        start = f"&start={page * POSTS_PER_PAGE}" if page else ""
        return f"/viewtopic.php?f={thread % len(self.sections) + 1}&t={thread + 100}{start}"

    def section_path(self, section: int, part: int) -> str:
        return f"/viewforum.php?f={section + 1}&start={part * self.per_list}"

    def write_item(self, sheet: Sheet, number: int, moment: Moment) -> None:
        thread, page = _thread(number)
        _crumbs(sheet, self.sections[thread % len(self.sections)])
        sheet.main("h2", self._title(thread))
        self._pager(sheet, thread, page)
        dice = self.dice("posts", number)
        posts = (
            POSTS_PER_PAGE if page < THREAD_PAGES[thread % THREADS_PER_ROW] - 1 else length(dice, 1, POSTS_PER_PAGE - 2)
        )
        for place in range(posts + moment.edits):
            self._post(sheet, number, place, moment)
        self._pager(sheet, thread, page)
        sheet.markup('<form action="posting.php" method="post"><input type="hidden" name="mode" value="reply">')
        sheet.chrome("button", "Post reply")
        sheet.markup("</form>\n")

    def write_list(self, sheet: Sheet, number: int, title: str, moment: Moment) -> None:
        sheet.main("h2", title)
        sheet.markup("<table>\n<tr>")
        for heading in ("Topic", "Author", "Replies", "Views"):
            sheet.chrome("th", heading)
        sheet.markup("</tr>\n")
        for item in self.listed(number, moment.crawl):
            dice = self.dice("row", item.number, moment.crawl)
            sheet.markup("<tr>")
            sheet.main("td", link(self.item_path(item.number), self._title(_thread(item.number)[0])))
            sheet.main("td", item.author)
            sheet.main("td", str(dice.randrange(30)))
            sheet.main("td", str(dice.randrange(30, 5000)))
            sheet.markup("</tr>\n")
        sheet.markup("</table>\n")

    def item_title(self, number: int) -> str:
        return self._title(_thread(number)[0])

    def _title(self, thread: int) -> str:
        return self.register.headline(self.dice("thread", thread))

    def _post(self, sheet: Sheet, number: int, place: int, moment: Moment) -> None:
        dice = self.dice("post", number, place)
        user = dice.choice(ENGLISH.names)
        sheet.markup(f'<div class="post{" odd" if place % 2 else ""}">\n<div class="user">')
        _user(sheet, user, self.dice("user", user), moment)
        sheet.markup('</div>\n<div class="said">')
        written = self.day(number) + timedelta(days=place // 3)
        sheet.main(
            'p class="when"', f"by {user}, {long_date(written)}, {dice.randrange(24):02d}:{dice.randrange(60):02d}"
        )
        if place and dice.random() < 0.35:
            sheet.markup("<blockquote>")
            sheet.main("cite", f"{dice.choice(ENGLISH.names)} wrote:")
            sheet.main("div", self._said(number, place - 1)[0])
            sheet.markup("</blockquote>\n")
        for paragraph in self._said(number, place):
            sheet.main("p", paragraph)
        if len(user) % 3 == 0:
            sheet.chrome('div class="signature"', f"{user}, {self.register.headline(self.dice('signature', user))}")
        sheet.markup('<ul class="bar">')
        sheet.chrome("li", link("#quote", "Quote"))
        sheet.chrome("li", link("#report", "Report"))
        sheet.markup("</ul>\n</div>\n</div>\n")

    def _said(self, number: int, place: int) -> list[str]:
        dice = self.dice("said", number, place)
        return self.register.paragraphs(dice, length(dice, 1, 5))

    def _pager(self, sheet: Sheet, thread: int, page: int) -> None:
        pages = THREAD_PAGES[thread % THREADS_PER_ROW]
        spans = [Span(f'<a href="#p{number}">', f" {number + 1}", "</a>") for number in range(pages)]
        sheet.chrome('div class="bar"', f"Page {page + 1} of {pages} -", *spans)

    def open(self, sheet: Sheet, title: str, moment: Moment) -> None:
        sheet.markup(
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{self.name} - {title}</title>\n<style>\n{self.css}</style>\n'
            "</head>\n<body>\n"
        )
        sheet.add(_top(self, moment.crawl))

    def close(self, sheet: Sheet, moment: Moment) -> None:
        sheet.add(_bottom(self, moment.crawl))
        sheet.markup("</body>\n</html>\n")


def _thread(number: int) -> tuple[int, int]:
    row, place = divmod(number, len(THREADS))
    thread, page = THREADS[place]
    return row * THREADS_PER_ROW + thread, page


def _user(sheet: Sheet, user: str, dice: Random, moment: Moment) -> None:
    """Write the panel beside a post; the number of posts grows from crawl to crawl."""
    sheet.chrome("b", user)
    sheet.chrome("div", dice.choice(("Apprentice", "Journeyman", "Master", "Moderator")))
    sheet.chrome("div", f"Posts: {dice.randrange(3, 2000) + moment.crawl * dice.randrange(90)}")
    sheet.chrome("div", f"Joined: {dice.randrange(2004, 2021)}")


def _crumbs(sheet: Sheet, section: str) -> None:
    sheet.markup('<ul class="bar">')
    sheet.chrome("li", link("/", "Board index"))
    sheet.chrome("li", link("/viewforum.php", section))
    sheet.markup("</ul>\n")


@part
def _top(sheet: Sheet, site: Forum, crawl: int) -> None:
    dice = site.dice("top", crawl)
    sheet.markup('<div class="wrap">\n<div class="head">')
    sheet.chrome("div", link("/", site.name))
    sheet.chrome("p", "Questions, answers and sawdust")
    sheet.markup('</div>\n<ul class="bar">')
    for text in ("FAQ", "Search", "Members", "Register"):
        sheet.chrome("li", link(f"/{text.lower()}.php", text))
    sheet.markup(
        '</ul>\n<form action="/ucp.php" method="post"><input type="hidden" name="sid" value="c0ffee77"><input name="username">'
        '<input type="password" name="password">'
    )
    sheet.chrome("label", "Log me on automatically")
    sheet.markup("</form>\n")
    sheet.chrome(
        'div class="ad"',
        f"Sponsor: {dice.choice(('Clampers Ltd', 'Old Iron Tools', 'Planewell', 'Sawmill Seven'))}, ",
        "this month only",
    )


@part
def _bottom(sheet: Sheet, site: Forum, crawl: int) -> None:
    dice = site.dice("bottom", crawl)
    online: list[Item] = site.some(dice, 5, crawl)
    sheet.markup('<div class="bar">')
    sheet.chrome("h4", "Who is online")
    sheet.chrome(
        "p",
        f"{dice.randrange(5, 90)} users: {', '.join(item.author for item in online)} and {dice.randrange(20)} guests",
    )
    sheet.markup("</div>\n")
    sheet.chrome("p", f"Powered by boardware © 2003-{site.year(crawl)}. All times are UTC.")
    sheet.markup("</div>\n<script>setTimeout(function(){},60000)</script>\n")
