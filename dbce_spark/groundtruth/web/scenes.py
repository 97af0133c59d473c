"""The pages of a store as a browser is to be shown them for their looks: by the replay, with what was archived."""

from collections.abc import Iterator
from contextlib import closing

from dbce_spark.groundtruth import pages, store
from dbce_spark.groundtruth.markup import NODE, SEGMENT
from dbce_spark.groundtruth.rendering import PLACE, Answer, Pieces, Scene
from dbce_spark.groundtruth.settings import Settings
from dbce_spark.groundtruth.web import replay, tickets
from dbce_spark.groundtruth.web.tickets import Ticket

_PIECES = Pieces(SEGMENT, NODE)


def of_store(path: str, settings: Settings) -> Iterator[Scene]:
    """All pages of the corpus of a store. The replay answers within this process: nothing listens.

    Raises:
        InputError: there is no such store.
    """
    client = replay.create(path, settings).test_client()

    def answer(url: str) -> Answer | None:
        if not url.startswith(f"{PLACE}/"):
            return None
        found = client.get(url)
        return Answer(found.data, found.content_type, found.status_code)

    with closing(store.opened(path)) as opened:
        secret = store.secret(opened)
        for page in pages.of_kind(opened, pages.CORPUS):
            ticket = tickets.written(Ticket(page.page, PLACE), secret)
            yield Scene(
                page=page.page,
                address=f"{PLACE}/{ticket}/page",
                answer=answer,
                pieces=_PIECES,
                numbers=page.outline.leaves,
            )
