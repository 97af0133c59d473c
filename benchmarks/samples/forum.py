"""A workshop forum: threads over one to three pages, posts with quotes and signatures, user panels beside them."""

from datetime import date, timedelta

from benchmarks.samples.drawn_page import Span
from benchmarks.samples.prose import length
from benchmarks.samples.sample_languages import ENGLISH, WORKSHOP
from benchmarks.samples.sample_site import Site

THREADS = ((0, 0), (1, 0), (2, 0), (2, 1), (3, 0), (4, 0), (4, 1), (4, 2))
"""Eight pages in a row are five threads: which thread and which of its pages each is."""
THREADS_PER_ROW = 5
THREAD_PAGES = (1, 1, 2, 1, 3)
POSTS_PER_PAGE = 10


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
    design = "forum"

    def item_path(self, number: int) -> str:
        thread, page = _thread(number)
        start = f"&start={page * POSTS_PER_PAGE}" if page else ""
        return f"/viewtopic.php?f={thread % len(self.sections) + 1}&t={thread + 100}{start}"

    def section_path(self, section: int, part: int) -> str:
        return f"/viewforum.php?f={section + 1}&start={part * self.per_list}"

    def item_title(self, number: int) -> str:
        return self.register.headline(self.dice("thread", _thread(number)[0]))

    def section_of(self, number: int) -> str:
        return self.sections[_thread(number)[0] % len(self.sections)]

    def posts(self, number: int) -> int:
        """Count the posts of a page: all but the last page of a thread are full."""
        thread, page = _thread(number)
        is_full = page < THREAD_PAGES[thread % THREADS_PER_ROW] - 1
        return POSTS_PER_PAGE if is_full else length(self.dice("posts", number), 1, POSTS_PER_PAGE - 2)

    def written(self, number: int, place: int) -> date:
        return self.day(number) + timedelta(days=place // 3)

    def said(self, number: int, place: int) -> list[str]:
        """Write the paragraphs of a post."""
        dice = self.dice("said", number, place)
        return self.register.paragraphs(dice, length(dice, 1, 5))

    def pager(self, number: int) -> list[str | Span]:
        """Write the line of links to the pages of a thread."""
        thread, page = _thread(number)
        pages = THREAD_PAGES[thread % THREADS_PER_ROW]
        spans = [Span(f'<a href="#p{number}">', f" {number + 1}", "</a>") for number in range(pages)]
        return [f"Page {page + 1} of {pages} -", *spans]


def _thread(number: int) -> tuple[int, int]:
    row, place = divmod(number, len(THREADS))
    thread, page = THREADS[place]
    return row * THREADS_PER_ROW + thread, page
