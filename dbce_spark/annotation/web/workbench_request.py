"""The store, the account and the settings that the views of one request share, and who is let in."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import abort, g, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dbce_spark.annotation.store import stored_pages, workbench_store
from dbce_spark.annotation.store.annotator_accounts import UserAccount
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings

Answer = ResponseReturnValue
View = Callable[..., Answer]
"""Answers a request, given what is variable in its address."""


class Workbench:
    """The store, the account and the settings that the views of one request share."""

    def __init__(self, path: str, settings: WorkbenchSettings, replay: str, secret: str, identity: str):
        self.path, self.settings, self.secret, self.identity = path, settings, secret, identity
        self._replay = replay.rstrip("/")

    @property
    def store(self) -> workbench_store.Connection:
        if "store" not in g:
            g.store = workbench_store.open_store(self.path)
        return g.store  # type: ignore[no-any-return]  # flask.g holds anything

    @property
    def account(self) -> UserAccount:
        return g.account  # type: ignore[no-any-return]

    def replay(self) -> str:
        """Return the origin of archived pages, as this browser reaches it."""
        if self._replay:
            return self._replay
        host = request.host.rpartition(":")[0] if ":" in request.host.rpartition("]")[2] else request.host
        return f"{request.scheme}://{host}:{self.settings.replay_port}"

    def page(self, number: str) -> StoredPage:
        found = stored_pages.get(self.store, number)
        if found is None:
            abort(404, "There is no such page in this store.")
        return found

    def page_of_corpus(self, number: str) -> StoredPage:
        found = self.page(number)
        if found.kind != stored_pages.CORPUS:
            abort(400, "The tutorial is yours to tag.")
        return found


def anybody(view: View) -> View:
    """Let in every request."""
    return view


def logged_in(view: View) -> View:
    """Let in requests of a logged-in account; send others to the login."""

    @wraps(view)
    def guarded(**values: Any) -> Answer:
        if g.account is None:
            if request.path.startswith("/api/"):
                abort(403, "You are logged out.")
            return redirect(url_for("show_login", then=request.path))
        return view(**values)

    return guarded


def admin_only(view: View) -> View:
    """Let in admins; others get the answer of a missing page."""

    @wraps(view)
    def guarded(**values: Any) -> Answer:
        if not g.account.is_admin:
            abort(404)
        return view(**values)

    return logged_in(guarded)
