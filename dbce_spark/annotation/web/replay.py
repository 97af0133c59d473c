"""Show archived pages as a person saw them, from the store alone.

An archived page is hostile. Four measures protect from it, and each would be enough: what acts is removed from it; a
content policy lets nothing run but one script of ours, and nothing load but from here; the frame is sandboxed, and so
has no origin; and this application has a port or a name of its own, where there is nothing but archived pages.
"""

import secrets
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlsplit

from flask import Flask, Response, abort, request
from lxml import etree

from dbce_spark.annotation.markup import url_rewriting
from dbce_spark.annotation.store import page_resources, workbench_store
from dbce_spark.annotation.store.page_resources import Resource
from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings
from dbce_spark.annotation.web import replay_tickets
from dbce_spark.annotation.web.replay_tickets import Ticket

_SHOWN = (
    "image/",
    "font/",
    "audio/",
    "video/",
    "application/font",
    "application/x-font",
    "application/vnd.ms-fontobject",
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-DNS-Prefetch-Control": "off",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), autoplay=(), fullscreen=()",
}
_NOTHING = "default-src 'none'; sandbox"


@dataclass(frozen=True, slots=True)
class _Replay:
    """The store whose pages are shown, the key that its tickets are signed with, and the hours that they hold."""

    path: str
    secret: str
    ticket_hours: int

    def leave(self, ticket: str) -> Ticket:
        found = replay_tickets.read(ticket, self.secret, self.ticket_hours)
        if found is None:
            abort(403, "This address has run out; open the page again.")
        return found


def create(path: str, settings: WorkbenchSettings) -> Flask:
    """Create the application that shows the archived pages of a store, for any WSGI server.

    Raises:
        InputError: there is no such store.
    """
    with closing(workbench_store.open_store(path)) as opened:
        replay = _Replay(path, workbench_store.secret(opened), settings.ticket_hours)
    app = Flask(__name__, static_folder=None)
    app.after_request(_guard)
    app.add_url_rule("/frame.js", "script", _send_script)
    for name, view in (("page", partial(_show_page, replay)), ("loaded", partial(_send_loaded, replay))):
        app.add_url_rule(f"/<ticket>/{name}", name, view)
        app.add_url_rule(f"/<ticket>/<arm>/{name}", name, view)
    return app


def _guard(response: Response) -> Response:
    for name, value in _HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Content-Security-Policy", _NOTHING)
    return response


def _send_script() -> Response:
    return Response(_static("frame.js"), mimetype="text/javascript", headers={"Access-Control-Allow-Origin": "*"})


def _show_page(replay: _Replay, ticket: str, arm: str = "") -> Response:
    leave = replay.leave(ticket)
    with closing(workbench_store.open_store(replay.path)) as opened:
        html, url = _columns(opened, leave.page, arm, "html, url")
    nonce, here = secrets.token_urlsafe(16), request.host_url.rstrip("/")
    shown = _with_script(html, url, _prefix(here, ticket, arm), leave.workbench, nonce)
    policy = f"{_policy(here)}; script-src 'nonce-{nonce}'; frame-ancestors {leave.workbench}; sandbox allow-scripts"
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store"}
    return Response(shown, mimetype="text/html", headers=headers)


def _send_loaded(replay: _Replay, ticket: str, arm: str = "") -> Response:
    """Send what a page loads from a URL: the answer that is nearest to the time of the page."""
    leave = replay.leave(ticket)
    with closing(workbench_store.open_store(replay.path)) as opened:
        (timestamp,) = _columns(opened, leave.page, arm, "timestamp")
        found = page_resources.nearest(opened, request.args.get("url", ""), timestamp)
    if found is None:
        return Response("", status=404)  # a message would look like a text of the page, in a frame
    kind = request.args.get("kind", url_rewriting.OTHER)
    return _answer(found, kind, _prefix(request.host_url.rstrip("/"), ticket, arm))


def _columns(opened: workbench_store.Connection, page: str, arm: str, columns: str) -> Any:
    """Return these columns of a page to label, or of the neighbour in one of its arms."""
    source = "neighbours WHERE page = :page AND arm = :arm" if arm else "pages WHERE id = :page"
    found = opened.execute(f"SELECT {columns} FROM {source}", {"page": page, "arm": arm}).fetchone()
    return found or abort(404)


def _prefix(here: str, ticket: str, arm: str) -> str:
    """Return the prefix of all addresses that a scene loads."""
    return f"{here}/{ticket}/{arm}" if arm else f"{here}/{ticket}"


def _with_script(html: str, url: str, prefix: str, workbench: str, nonce: str) -> str:
    """Return the page with all that it loads rewritten to the store, and with our style sheet and script."""
    root = url_rewriting.parse_rewritten(html, url, _rewriting(prefix))
    head = root.find("head")
    if head is None:
        head = etree.Element("head")
        root.insert(0, head)
    style = etree.SubElement(head, "style")
    style.text = _static("frame.css")
    script = {"nonce": nonce, "src": f"{_origin(prefix)}/frame.js", "defer": "defer", "data-workbench": workbench}
    etree.SubElement(head, "script", script)
    return url_rewriting.to_html(root, url_rewriting.doctype(html))


def _answer(found: Resource, kind: str, prefix: str) -> Response:
    """Return a resource as the type it was loaded for: a body that is no style sheet by its place is never served as
    one."""
    headers = {"Cache-Control": "private, max-age=3600", "Access-Control-Allow-Origin": "*"}
    if kind == url_rewriting.FRAME:
        if found.mime.startswith("image/"):
            return Response(found.body, mimetype=found.mime, headers=headers)
        text = page_resources.decode_text(found)
        root = url_rewriting.parse_rewritten(text, found.url, _rewriting(prefix))
        shown = url_rewriting.to_html(root, url_rewriting.doctype(text))
        policy = f"{_policy(_origin(prefix))}; sandbox"
        return Response(shown, mimetype="text/html", headers={**headers, "Content-Security-Policy": policy})
    if found.status >= 400:
        return Response("", status=404, headers=headers)
    if kind == url_rewriting.STYLE:
        css = url_rewriting.rewrite_css(page_resources.decode_text(found), found.url, _rewriting(prefix))
        return Response(css, mimetype="text/css", headers=headers)
    shown_as = found.mime if found.mime.startswith(_SHOWN) else "application/octet-stream"
    return Response(found.body, mimetype=shown_as, headers=headers)


def _origin(url: str) -> str:
    return f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"


def _rewriting(prefix: str) -> url_rewriting.Rewrite:
    return lambda url, kind: f"{prefix}/loaded?kind={kind}&url={quote(url, safe='')}"


def _policy(here: str) -> str:
    """Return the content policy of an archived page: it loads from here and from itself; nothing in it may run or
    send."""
    loads = {"style-src": "'unsafe-inline' {}", "img-src": "{} data:", "font-src": "{} data:", "media-src": "{}"}
    allowed = "; ".join(f"{name} {value.format(here)}" for name, value in loads.items())
    return (
        f"default-src 'none'; {allowed}; frame-src {here}; connect-src 'none'; form-action 'none'; base-uri 'none';"
        " object-src 'none'"
    )


def _static(name: str) -> str:
    return (files("dbce_spark.annotation.web") / "static" / name).read_text(encoding="utf-8")
