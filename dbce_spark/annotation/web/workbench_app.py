"""Serve the workbench to people: login, labelling, one's own statistics, the tutorial, and the view of an admin."""

import hmac
import math
import re
import secrets
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from flask import Flask, Response, abort, flash, g, redirect, render_template, request, session, url_for
from werkzeug.exceptions import BadRequest
from werkzeug.wrappers import Response as AnyResponse

from dbce_spark.annotation import (
    annotator_accounts,
    corpora,
    drafts,
    neighbours,
    page_choice,
    stored_pages,
    tutorial,
    workbench_store,
)
from dbce_spark.annotation.annotator_accounts import TooManyTries, UserAccount
from dbce_spark.annotation.drafts import Draft, StaleDraft
from dbce_spark.annotation.page_choice import Order
from dbce_spark.annotation.stored_pages import StoredPage
from dbce_spark.annotation.web import replay_tickets
from dbce_spark.annotation.web.replay_tickets import Ticket
from dbce_spark.annotation.workbench_settings import WorkbenchSettings
from dbce_spark.errors import InputError
from dbce_spark.files import timestamps
from dbce_spark.model import Label

Answer = str | Response | AnyResponse
View = Callable[..., Answer]

_MAX_REQUEST_BYTES = 4 << 20
_LABELS = {label.word: label for label in Label}
_OWN_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A place of this server. Browsers read over tabs and line ends, and take a backslash for a slash."""
_SAFE = ("GET", "HEAD", "OPTIONS")


def create(path: str, settings: WorkbenchSettings, replay: str = "", *, is_secure: bool = False) -> Flask:
    """Create the application for people, for any WSGI server.

    `replay` is the origin of the application that shows archived pages ("https://pages.example.org"); "": the same host
    at `replay_port`. `is_secure`: the workbench is reached by HTTPS, and its cookie goes no other way.

    Raises:
        InputError: there is no such store.
    """
    opened = workbench_store.open_store(path)
    try:
        secret = workbench_store.secret(opened)
    finally:
        opened.close()
    app = Flask(__name__)
    app.config.update(
        SECRET_KEY=secret,
        MAX_CONTENT_LENGTH=_MAX_REQUEST_BYTES,
        PERMANENT_SESSION_LIFETIME=timedelta(hours=settings.login_hours),
        SESSION_COOKIE_NAME="dbce_annotate",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        SESSION_COOKIE_SECURE=is_secure,
    )
    app.jinja_env.filters["moment"] = timestamps.minute
    app.jinja_env.filters["day"] = timestamps.day
    app.jinja_env.filters["minutes"] = _minutes
    workbench = _Workbench(path, settings, replay, secret)
    _guard(app, workbench)
    _add_entrance(app, workbench)
    _add_desk(app, workbench)
    _add_labelling(app, workbench)
    _add_tutorial(app, workbench)
    _add_admin(app, workbench)
    return app


class _Workbench:
    """The store, the account and the settings that the views of one request share."""

    def __init__(self, path: str, settings: WorkbenchSettings, replay: str, secret: str):
        self.path, self.settings, self.secret = path, settings, secret
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


def _guard(app: Flask, workbench: _Workbench) -> None:
    """Add the checks of all requests: the account, the token against forged requests, and the policies of the
    answer."""

    @app.before_request
    def load_account() -> None:
        g.account = None
        number, stamp = session.get("account"), session.get("stamp")
        if number is not None:
            found = annotator_accounts.get(workbench.store, number)
            if found is not None and found.is_active and hmac.compare_digest(found.stamp, str(stamp)):
                g.account = found
            else:
                session.clear()

    @app.before_request
    def refuse_forged() -> None:
        if request.method in _SAFE:
            return
        given = request.headers.get("X-CSRF-Token") or request.form.get("csrf", "")
        own = session.get("csrf", "") or secrets.token_urlsafe()
        if not hmac.compare_digest(given.encode("utf-8", "replace"), own.encode()):
            abort(400, "This form was not made by this workbench, or you have logged out since; load the page again.")

    @app.context_processor
    def common() -> dict[str, Any]:
        session.setdefault("csrf", secrets.token_urlsafe(16))
        return {"csrf": session["csrf"], "account": g.get("account")}

    @app.after_request
    def headers(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
            f" frame-src {workbench.replay()}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        if request.endpoint != "static":
            response.headers["Cache-Control"] = "no-store"
        return response

    @app.teardown_appcontext
    def close(_: BaseException | None) -> None:
        if (opened := g.pop("store", None)) is not None:
            opened.close()

    @app.errorhandler(OverflowError)
    @app.errorhandler(UnicodeError)
    def refuse_nonsense(_: Exception) -> Answer:
        """Answer numbers and text that no store can hold."""
        return show_error(BadRequest("This is nothing that the workbench could have sent."))

    @app.errorhandler(400)
    @app.errorhandler(403)
    @app.errorhandler(404)
    @app.errorhandler(409)
    def show_error(error: Any) -> Answer:
        if request.path.startswith("/api/"):
            return {"error": error.description}, error.code  # type: ignore[return-value]  # Flask makes JSON of it
        return render_template("error.html", error=error), error.code  # type: ignore[return-value]


def _logged_in(view: View) -> View:
    """Let in requests of a logged-in account; send others to the login."""

    @wraps(view)
    def guarded(*args: Any, **values: Any) -> Answer:
        if g.account is None:
            if request.path.startswith("/api/"):
                abort(403, "You are logged out.")
            return redirect(url_for("login", then=request.path))
        return view(*args, **values)

    return guarded


def _admin(view: View) -> View:
    """Let in admins; others get the answer of a missing page."""

    @wraps(view)
    def guarded(*args: Any, **values: Any) -> Answer:
        if not g.account.is_admin:
            abort(404)
        return view(*args, **values)

    return _logged_in(guarded)


def _add_entrance(app: Flask, workbench: _Workbench) -> None:
    @app.get("/login")
    def login() -> Answer:
        return render_template("login.html", then=request.args.get("then", "/"))

    @app.post("/login")
    def log_in() -> Answer:
        name, password = request.form.get("name", ""), request.form.get("password", "")
        try:
            found = annotator_accounts.login(
                workbench.store, name, password, workbench.settings, request.remote_addr or ""
            )
        except TooManyTries:
            flash(f"Too many tries with this name; wait {workbench.settings.login_minutes} minutes.")
            found = None
        else:
            if found is None:
                flash("This name and password do not belong together.")
        then = request.form.get("then", "/")
        if found is None:
            return render_template("login.html", then=then), 403  # type: ignore[return-value]
        session.clear()
        session.permanent = True
        session.update(account=found.number, stamp=found.stamp, csrf=secrets.token_urlsafe(16))
        return redirect(then if _OWN_PATH.fullmatch(then) else "/")

    @app.post("/logout")
    def log_out() -> Answer:
        if g.account is not None:
            annotator_accounts.end_sessions(workbench.store, g.account.number)
        session.clear()
        return redirect(url_for("login"))

    @app.get("/password")
    @_logged_in
    def password() -> Answer:
        return render_template("password.html", least=workbench.settings.min_password)

    @app.post("/password")
    @_logged_in
    def change_password() -> Answer:
        account, settings = workbench.account, workbench.settings
        try:
            old, client = request.form.get("old", ""), request.remote_addr or ""
            if annotator_accounts.login(workbench.store, account.name, old, settings, client) is None:
                raise InputError("the old password is wrong")
            annotator_accounts.set_password(
                workbench.store, account.number, settings, request.form.get("new", "") or " "
            )
        except (InputError, TooManyTries) as error:
            flash(f"Not changed: {str(error) or 'too many tries'}.")
            return redirect(url_for("password"))
        changed = annotator_accounts.get(workbench.store, account.number)
        session["stamp"] = changed.stamp if changed else ""
        flash("Your password is changed.")
        return redirect("/")


def _add_desk(app: Flask, workbench: _Workbench) -> None:
    @app.get("/")
    @_logged_in
    def home() -> Answer:
        number = workbench.account.number
        return render_template(
            "home.html",
            done=drafts.list_pages(workbench.store, number),
            skipped=page_choice.list_skipped(workbench.store, number),
            next_page=page_choice.next_page(workbench.store, number, Order.CHANCE),
            progress=drafts.progress(workbench.store),
            corpora=corpora.list_corpora(workbench.store, number),
            lesson=_lesson(workbench),
            lessons=tutorial.PAGES,
        )

    @app.get("/guidelines")
    @_logged_in
    def guidelines() -> Answer:
        return render_template("guidelines.html")

    @app.get("/next")
    @_logged_in
    def next_page() -> Answer:
        order = Order.DOUBT if request.args.get("order") == Order.DOUBT else Order.CHANCE
        corpus = request.args.get("corpus", "")
        found = page_choice.next_page(workbench.store, workbench.account.number, order, corpus)
        if found is None:
            of_corpus = f" of {corpus}" if corpus else ""
            flash(f"There is no page{of_corpus} left that you have not labelled or skipped. Thank you!")
            return redirect("/")
        return redirect(url_for("page", number=found))

    @app.get("/pages/<number>")
    @_logged_in
    def page(number: str) -> Answer:
        return _bench(workbench, workbench.page(number), "label")

    @app.post("/pages/<number>/skip")
    @_logged_in
    def skip(number: str) -> Answer:
        found = workbench.page_of_corpus(number)
        page_choice.skip(workbench.store, workbench.account.number, found.page)
        flash("Skipped. It is listed at the start, if you change your mind.")
        return redirect(_next_of(workbench, found))

    @app.post("/pages/<number>/withdrawal")
    @_logged_in
    def withdraw(number: str) -> Answer:
        own = workbench.account.number
        if drafts.withdraw(workbench.store, own, workbench.page(number).page, own):
            flash("Withdrawn. What you tagged is kept; open the page to submit it again.")
        return redirect("/")


def _add_labelling(app: Flask, workbench: _Workbench) -> None:
    """Add the views that the page of the workbench requests while somebody labels."""

    @app.get("/api/pages/<number>")
    @_logged_in
    def page_data(number: str) -> Answer:
        found = workbench.page(number)
        kept = drafts.read_draft(workbench.store, workbench.account.number, number)
        answer: dict[str, Any] = {
            "page": number,
            "kind": found.kind,
            **found.outline.as_fields(),
            "texts": [found.text[unit.start : unit.end] for unit in found.units],
            "places": neighbours.same_places(found),
            "idle": workbench.settings.idle_seconds,
            "draft": _fields(kept),
        }
        if kept.prelabelled:
            answer |= _model(found)
        return answer  # type: ignore[return-value]

    @app.put("/api/pages/<number>/draft")
    @_logged_in
    def keep(number: str) -> Answer:
        found = workbench.page(number)
        kept = _unless_stale(
            lambda: drafts.keep(workbench.store, workbench.account.number, number, _posted_draft(found))
        )
        return {"revision": kept.revision}  # type: ignore[return-value]

    @app.post("/api/pages/<number>/prelabel")
    @_logged_in
    def prelabel(number: str) -> Answer:
        found = workbench.page_of_corpus(number)
        drafts.prelabel(workbench.store, workbench.account.number, found)
        return _model(found)  # type: ignore[return-value]

    @app.post("/api/pages/<number>/submission")
    @_logged_in
    def submit(number: str) -> Answer:
        found = workbench.page(number)
        _unless_stale(lambda: drafts.submit(workbench.store, workbench.account.number, found, _posted_draft(found)))
        is_lesson = found.kind == stored_pages.TUTORIAL
        then = url_for("answer", number=number) if is_lesson else _next_of(workbench, found)
        return {"then": then}  # type: ignore[return-value]


def _add_tutorial(app: Flask, workbench: _Workbench) -> None:
    @app.get("/tutorial")
    @_logged_in
    def lessons() -> Answer:
        number = page_choice.next_of_tutorial(workbench.store, workbench.account.number)
        if number is None:
            flash("You have done the tutorial. Start it over whenever you like.")
            return redirect("/")
        return redirect(url_for("page", number=number))

    @app.post("/tutorial/restart")
    @_logged_in
    def restart() -> Answer:
        drafts.restart_tutorial(workbench.store, workbench.account.number)
        return redirect(url_for("lessons"))

    @app.get("/tutorial/<number>")
    @_logged_in
    def answer(number: str) -> Answer:
        found = workbench.page(number)
        if (
            found.kind != stored_pages.TUTORIAL
            or drafts.last_tags(workbench.store, workbench.account.number, number) is None
        ):
            return redirect(url_for("lessons"))
        return _bench(workbench, found, "answer")

    @app.get("/api/tutorial/<number>")
    @_logged_in
    def answer_data(number: str) -> Answer:
        found = workbench.page(number)
        given = drafts.last_tags(workbench.store, workbench.account.number, number)
        if found.kind != stored_pages.TUTORIAL or given is None:
            abort(404)
        return {  # type: ignore[return-value]
            **found.outline.as_fields(),
            "texts": [found.text[unit.start : unit.end] for unit in found.units],
            "given": [_word(tag) for tag in given],
            "reference": [_word(tag) for tag in found.reference],
        }


def _add_admin(app: Flask, workbench: _Workbench) -> None:
    def shown(made: tuple[str, str] | None = None) -> Answer:
        """Render accounts and progress; a generated password is shown this once."""
        people, progress = annotator_accounts.list_accounts(workbench.store), drafts.progress(workbench.store)
        return render_template(
            "admin.html",
            people=people,
            progress=progress,
            corpora=corpora.list_corpora(workbench.store),
            made=made,
        )

    def person(number: int) -> UserAccount:
        found = annotator_accounts.get(workbench.store, number)
        if found is None:
            abort(404)
        return found

    @app.get("/admin")
    @_admin
    def admin() -> Answer:
        return shown()

    @app.post("/admin/accounts")
    @_admin
    def add_account() -> Answer:
        name, is_admin = request.form.get("name", ""), request.form.get("is_admin") == "yes"
        try:
            return shown((name, annotator_accounts.add(workbench.store, name, workbench.settings, is_admin=is_admin)))
        except InputError as error:
            flash(f"Not made: {error}.")
            return redirect(url_for("admin"))

    @app.post("/admin/accounts/<int:number>")
    @_admin
    def change_account(number: int) -> Answer:
        found = person(number)
        change = request.form.get("change", "")
        if change == "password":
            return shown((found.name, annotator_accounts.set_password(workbench.store, number, workbench.settings)))
        if change in ("shut", "open") and number != workbench.account.number:
            annotator_accounts.set_active(workbench.store, number, change == "open")
        return redirect(url_for("admin"))

    @app.get("/admin/accounts/<int:number>")
    @_admin
    def submitted(number: int) -> Answer:
        found = person(number)
        done = [one for one in drafts.list_pages(workbench.store, number) if one.submitted is not None]
        return render_template("submitted.html", who=found, done=done)

    @app.post("/admin/accounts/<int:number>/withdrawal")
    @_admin
    def withdraw_for(number: int) -> Answer:
        if drafts.withdraw(workbench.store, number, request.form.get("page", ""), workbench.account.number):
            flash("Withdrawn. It is kept, and counts no more.")
        return redirect(url_for("submitted", number=number))


def _bench(workbench: _Workbench, page: StoredPage, mode: str) -> Answer:
    """Render the workbench with an archived page in its frame."""
    ticket = replay_tickets.sign(Ticket(page.page, request.host_url.rstrip("/")), workbench.secret)
    return render_template(
        "bench.html",
        page=page,
        mode=mode,
        replay=f"{workbench.replay()}/{ticket}",
        neighbours=neighbours.get(workbench.store, page.page),
        lessons=tutorial.PAGES,
    )


def _next_of(workbench: _Workbench, page: StoredPage) -> str:
    """Return the address of the page that follows a page: of its corpus, where there are several."""
    has_several = len(corpora.list_corpora(workbench.store)) > 1
    return url_for("next_page", corpus=page.corpus if has_several else None)


def _lesson(workbench: _Workbench) -> int:
    """Return the position of the next lesson, from 1; one more than there are if all are done."""
    number = page_choice.next_of_tutorial(workbench.store, workbench.account.number)
    found = None if number is None else stored_pages.get(workbench.store, number)
    return found.position if found else tutorial.PAGES + 1


def _posted_draft(page: StoredPage) -> Draft:
    """Return the draft that a request holds."""
    fields: Any = request.get_json(silent=True)
    try:
        return Draft(
            marks={_number(node, len(page.outline.parents)): _LABELS[word] for node, word in fields["marks"].items()},
            hidden=frozenset(_number(at, len(page.units)) for at in fields["hidden"]),
            revision=int(fields["revision"]),
            seconds=_seconds(fields["seconds"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        abort(400, "This is no draft of this page.")


def _seconds(given: Any) -> float:
    seconds = float(given)
    if not math.isfinite(seconds):
        raise ValueError(given)
    return max(0.0, seconds)


def _number(text: Any, end: int) -> int:
    found = int(text)
    if not 0 <= found < end:
        raise ValueError(found)
    return found


def _unless_stale(act: Callable[[], Draft | Any]) -> Any:
    try:
        return act()
    except StaleDraft:
        abort(409, "This page was changed in another window; load it again to go on from there.")


def _fields(draft: Draft) -> dict[str, Any]:
    return {
        "marks": {str(node): label.word for node, label in draft.marks.items()},
        "hidden": sorted(draft.hidden),
        "revision": draft.revision,
        "seconds": draft.seconds,
        "prelabelled": draft.prelabelled,
    }


def _model(page: StoredPage) -> dict[str, Any]:
    return {
        "model": page.model,
        "labels": [unit.label.word for unit in page.units],
        "scores": [unit.score for unit in page.units],
    }


def _word(tag: Label | None) -> str:
    return "" if tag is None else tag.word


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
