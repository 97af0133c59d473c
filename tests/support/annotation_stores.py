"""One line makes an archive with pages worth labelling, and a store of them."""

from base64 import b64decode
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from dbce_spark.annotation.store import annotator_accounts, page_import, stored_pages, tutorial, workbench_store
from dbce_spark.annotation.store.page_import import AddedPages
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.annotation.store.wanted_pages import WantedPages
from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings, settings
from dbce_spark.annotation.store.workbench_store import Connection
from tests.support.builders import CONFIG, archive, http, record

SETTINGS = settings({})
ADA, BOB, EVE = 1, 2, 3
"""Numbers of the accounts of three people, in the order in which they are added."""

PASSWORD = "a long enough password"
DOT = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")
SENTENCE = "The miller of the upper valley keeps nine geese, and each of them knows the way to the pond by heart. "


def page(title: str, sentences: int = 30, head: str = "", extra: str = "") -> str:
    """A page of an article with a menu and a footer; 21 words a sentence."""
    paragraphs = "".join(f"<p>{title} {at}. {SENTENCE * 3}</p>" for at in range(sentences // 3))
    return (
        f"<!DOCTYPE html><html lang=en><head><title>{title}</title>{head}</head><body>"
        "<ul class=menu><li><a href=/>Home</a></li><li><a href=/about>About us</a></li></ul>"
        f"<main><h1>{title}</h1>{paragraphs}</main>{extra}<footer><p>All rights reserved</p></footer></body></html>"
    )


def crawl(path: Path) -> str:
    """An archive of two sites: three pages of one, two snapshots of a page of the other, and what they load."""
    head = '<link rel=stylesheet href="/style.css"><link rel=preconnect href="//elsewhere.example">'
    extra = '<img src="/dot.png"><iframe src="/frame.html"></iframe><script>document.title = "ran"</script>'
    style = '@import "more.css"; main { background: url(dot.png) }'
    answers = [
        ("http://geese.example/one", "2020-01-01T00:00:00Z", http(page("First goose", head=head, extra=extra))),
        ("http://geese.example/two", "2020-01-01T00:01:00Z", http(page("Second goose", head=head))),
        ("http://geese.example/short", "2020-01-01T00:02:00Z", http(page("Gosling", sentences=3))),
        ("http://pond.example/", "2020-01-01T00:00:00Z", http(page("The pond in winter"))),
        ("http://pond.example/", "2020-07-01T00:00:00Z", http(page("The pond in summer"))),
        ("http://geese.example/style.css", "2020-01-01T00:00:05Z", http(style, content_type="text/css")),
        (
            "http://geese.example/more.css",
            "2020-01-01T00:00:06Z",
            http("h1 { color: #123456 }", content_type="text/css"),
        ),
        ("http://geese.example/dot.png", "2020-01-01T00:00:07Z", http(DOT, content_type="image/png")),
        (
            "http://geese.example/frame.html",
            "2020-01-01T00:00:08Z",
            http("<base href=/pictures/><p>Framed<img src=moved.png>"),
        ),
        (
            "http://geese.example/pictures/moved.png",
            "2020-01-01T00:00:09Z",
            http("", status="302 Found", headers={"Location": "/dot.png"}),
        ),
        ("http://geese.example/nobody-loads.png", "2020-01-01T00:00:10Z", http(DOT, content_type="image/png")),
    ]
    return archive(path, *(record(block, url=url, date=date) for url, date, block in answers))


def wanted(**fields: object) -> WantedPages:
    """Pages of 500 to 6,000 words, as the configuration has it, and what else is asked for."""
    known = {"min_words": SETTINGS.min_words, "max_words": SETTINGS.max_words, "seed": SETTINGS.seed}
    return WantedPages(**(known | fields))  # type: ignore[arg-type]


def filled(folder: Path, **fields: object) -> tuple[str, AddedPages]:
    """A store of what is wanted of that archive."""
    path = str(folder / "labels.db")
    return path, page_import.add(
        path, page_import.read([crawl(folder / "crawl.warc")], CONFIG), wanted(**fields), CONFIG, SETTINGS
    )


@cache
def _filled() -> bytes:
    """A store of all that is wanted of that archive, and of the tutorial. Made once: a copy of its file is another."""
    with TemporaryDirectory() as folder:
        path, _ = filled(Path(folder))
        opened = workbench_store.open_store(path)
        tutorial.add(opened, CONFIG, SETTINGS.guidelines)
        opened.close()
        return Path(path).read_bytes()


def with_people(folder: Path, *names: str, settings: WorkbenchSettings = SETTINGS) -> str:
    """A store of that archive, and accounts that all have PASSWORD; the first is an admin's."""
    path = str(folder / "labels.db")
    Path(path).write_bytes(_filled())
    opened = workbench_store.open_store(path)
    for at, name in enumerate(names):
        annotator_accounts.add(opened, name, settings, password=PASSWORD, is_admin=at == 0)
    opened.close()
    return path


def with_pages_of(folder: Path, archives: Sequence[str], pages: WantedPages, *names: str) -> str:
    """A store of pages of archives, and accounts that all have PASSWORD, none of them an admin's."""
    path = str(folder / "labels.db")
    page_import.add(path, page_import.read(archives, CONFIG), pages, CONFIG, SETTINGS)
    opened = workbench_store.open_store(path)
    for name in names:
        annotator_accounts.add(opened, name, SETTINGS, password=PASSWORD)
    opened.close()
    return path


def first_page(opened: Connection) -> StoredPage:
    """The first page of a store."""
    return next(stored_pages.read_kind(opened, stored_pages.CORPUS))
