"""Serve the workbench to people: an application with all addresses, their views, and the checks of every request."""

import hmac
import logging
import secrets
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import timedelta
from functools import partial
from typing import Any

from flask import Flask, Response, abort, g, render_template, request, session
from werkzeug.exceptions import BadRequest, Conflict, ServiceUnavailable

from dbce_spark.annotation.store import annotator_accounts, workbench_store
from dbce_spark.annotation.store.drafts import StaleDraft
from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings
from dbce_spark.annotation.web import account_views, admin_views, labelling_views, tutorial_views
from dbce_spark.annotation.web.workbench_request import Answer, View, Workbench, admin_only, anybody, logged_in
from dbce_spark.errors import OutputError
from dbce_spark.files import timestamps

_LOGGER = logging.getLogger("dbce_spark.annotation")
_MAX_REQUEST_BYTES = 4 << 20
_SAFE = ("GET", "HEAD", "OPTIONS")
_ROUTES: Mapping[Callable[[View], View], Mapping[str, View]] = {
    anybody: {
        "GET /login": account_views.show_login,
        "POST /login": account_views.log_in,
        "POST /logout": account_views.log_out,
    },
    logged_in: {
        "GET /": labelling_views.show_home,
        "GET /guidelines": labelling_views.show_guidelines,
        "GET /password": account_views.show_password,
        "POST /password": account_views.change_password,
        "GET /next": labelling_views.next_page,
        "GET /pages/<number>": labelling_views.show_page,
        "POST /pages/<number>/skip": labelling_views.skip_page,
        "POST /pages/<number>/withdrawal": labelling_views.withdraw_page,
        "GET /api/pages/<number>": labelling_views.send_page,
        "PUT /api/pages/<number>/draft": labelling_views.keep_draft,
        "POST /api/pages/<number>/prelabel": labelling_views.prelabel_page,
        "POST /api/pages/<number>/submission": labelling_views.submit_page,
        "GET /tutorial": tutorial_views.next_lesson,
        "POST /tutorial/restart": tutorial_views.restart_tutorial,
        "GET /tutorial/<number>": tutorial_views.show_answer,
        "GET /api/tutorial/<number>": tutorial_views.send_answer,
    },
    admin_only: {
        "GET /admin": admin_views.show_admin,
        "POST /admin/accounts": admin_views.add_account,
        "POST /admin/accounts/<int:number>": admin_views.change_account,
        "GET /admin/accounts/<int:number>": admin_views.show_submitted,
        "POST /admin/accounts/<int:number>/withdrawal": admin_views.withdraw_for,
    },
}
"""Addresses with their views, by who is let in."""


def create(path: str, settings: WorkbenchSettings, replay: str = "", *, is_secure: bool = False) -> Flask:
    """Create the application for people, for any WSGI server.

    `replay` is the origin of the application that shows archived pages ("https://pages.example.org"); "": the same host
    at `replay_port`. `is_secure`: the workbench is reached by HTTPS, and its cookie goes no other way.

    Raises:
        InputError: there is no such store.
    """
    with closing(workbench_store.open_store(path)) as opened:
        secret, identity = workbench_store.secret(opened), workbench_store.identity(opened)
    app = Flask(__name__)
    app.config.update(
        SECRET_KEY=secret,
        MAX_CONTENT_LENGTH=_MAX_REQUEST_BYTES,
        PERMANENT_SESSION_LIFETIME=timedelta(hours=settings.login_hours),
        SESSION_COOKIE_NAME=f"dbce_annotate_{identity}",  # a cookie is of a host, whatever its port
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        SESSION_COOKIE_SECURE=is_secure,
    )
    app.jinja_env.filters["moment"] = timestamps.minute
    app.jinja_env.filters["day"] = timestamps.day
    app.jinja_env.filters["minutes"] = _minutes
    workbench = Workbench(path, settings, replay, secret, identity)
    _guard(app, workbench)
    _complete_answers(app, workbench)
    _add_errors(app)
    _add_routes(app, workbench)
    return app


def _add_routes(app: Flask, workbench: Workbench) -> None:
    for let_in, routes in _ROUTES.items():
        for route, view in routes.items():
            method, address = route.split()
            app.add_url_rule(address, view.__name__, let_in(partial(view, workbench)), methods=[method])


def _guard(app: Flask, workbench: Workbench) -> None:
    """Add the checks of all requests: the account, and the token against forged ones."""

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


def _complete_answers(app: Flask, workbench: Workbench) -> None:
    """Add what all answers have: the token of their forms, the policies of their heads, and the end of the store."""

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


def _add_errors(app: Flask) -> None:
    """Add the answers to what is wrong."""

    @app.errorhandler(OverflowError)
    @app.errorhandler(UnicodeError)
    def refuse_nonsense(_: Exception) -> Answer:
        """Answer numbers and text that no store can hold."""
        return show_error(BadRequest("This is nothing that the workbench could have sent."))

    @app.errorhandler(StaleDraft)
    def refuse_stale(_: Exception) -> Answer:
        return show_error(Conflict("This page was changed in another window; load it again to go on from there."))

    @app.errorhandler(OutputError)
    @app.errorhandler(sqlite3.OperationalError)
    def refuse_for_now(error: Exception) -> Answer:
        """Answer where the store cannot be read or written, as on a full disk; its keeper finds why in the log."""
        _LOGGER.error("%s", error)
        return show_error(
            ServiceUnavailable(
                "The workbench cannot save anything now, so this was not done. Tell who runs it, and try again later."
            )
        )

    @app.errorhandler(400)
    @app.errorhandler(403)
    @app.errorhandler(404)
    @app.errorhandler(409)
    def show_error(error: Any) -> Answer:
        if request.path.startswith("/api/"):
            return {"error": error.description}, error.code
        return render_template("error.html", error=error), error.code


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
