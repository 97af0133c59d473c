"""Make scenes of a store's pages, to render their looks: by the replay, with what was archived."""

from collections.abc import Iterator
from contextlib import closing

from dbce_spark.annotation.markup.numbered_markup import NODE, SEGMENT
from dbce_spark.annotation.markup.rendering import PLACE, Answer, Pieces, Scene
from dbce_spark.annotation.store import stored_pages, workbench_store
from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings
from dbce_spark.annotation.web import replay, replay_tickets
from dbce_spark.annotation.web.replay_tickets import Ticket

_PIECES = Pieces(SEGMENT, NODE)


def make_scenes(path: str, settings: WorkbenchSettings) -> Iterator[Scene]:
    """Yield scenes of all pages of the corpus of a store. The replay answers within this process: nothing listens.

    Raises:
        InputError: there is no such store.
    """
    client = replay.create(path, settings).test_client()

    def answer(url: str) -> Answer | None:
        if not url.startswith(f"{PLACE}/"):
            return None
        found = client.get(url)
        return Answer(found.data, found.content_type, found.status_code)

    with closing(workbench_store.open_store(path)) as opened:
        secret = workbench_store.secret(opened)
        for page in stored_pages.read_kind(opened, stored_pages.CORPUS):
            ticket = replay_tickets.sign(Ticket(page.page, PLACE), secret)
            yield Scene(
                page=page.page,
                address=f"{PLACE}/{ticket}/page",
                answer=answer,
                pieces=_PIECES,
                numbers=page.outline.leaves,
            )
