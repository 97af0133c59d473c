"""Show archived pages as a person saw them, from the store alone.

An archived page is hostile. Four walls stand around it, of which each would do: what acts is taken out of it; a content
policy lets nothing run but the one script of ours, and nothing load but from here; the frame is sandboxed, and so of no
origin; and this application is on a port, or under a name, of its own, where there is nothing but archived pages.
"""

import secrets
from contextlib import closing
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlsplit

from flask import Flask, Response, abort, request
from lxml import etree
from lxml import html as lxml_html

from dbce_spark.annotation import links, page_resources, workbench_store
from dbce_spark.annotation.page_resources import Resource
from dbce_spark.annotation.web import replay_tickets
from dbce_spark.annotation.web.replay_tickets import Ticket
from dbce_spark.annotation.workbench_settings import WorkbenchSettings

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


def create(path: str, settings: WorkbenchSettings) -> Flask:
    """Create the application that shows the archived pages of a store, for any WSGI server.

    Raises:
        InputError: there is no such store.
    """
    with closing(workbench_store.open_store(path)) as opened:
        secret = workbench_store.secret(opened)
    app = Flask(__name__, static_folder=None)

    def ticket_of(text: str) -> Ticket:
        found = replay_tickets.read(text, secret, settings.ticket_hours)
        if found is None:
            abort(403, "This address has run out; open the page again.")
        return found

    @app.after_request
    def guard(response: Response) -> Response:
        for name, value in _HEADERS.items():
            response.headers[name] = value
        response.headers.setdefault("Content-Security-Policy", _NOTHING)
        return response

    @app.get("/frame.js")
    def frame_script() -> Response:
        return Response(_static("frame.js"), mimetype="text/javascript", headers={"Access-Control-Allow-Origin": "*"})

    @app.get("/<ticket>/page")
    @app.get("/<ticket>/<arm>/page")
    def page(ticket: str, arm: str = "") -> Response:
        leave = ticket_of(ticket)
        with closing(workbench_store.open_store(path)) as opened:
            found = _row(opened, leave.page, arm, "html, url")
        if found is None:
            abort(404)
        nonce, here = secrets.token_urlsafe(16), request.host_url.rstrip("/")
        shown = _page(found["html"], found["url"], _prefix(here, ticket, arm), leave.workbench, nonce)
        policy = (
            f"{_policy(here)}; script-src 'nonce-{nonce}'; frame-ancestors {leave.workbench}; sandbox allow-scripts"
        )
        return Response(
            shown, mimetype="text/html", headers={"Content-Security-Policy": policy, "Cache-Control": "no-store"}
        )

    @app.get("/<ticket>/loaded")
    @app.get("/<ticket>/<arm>/loaded")
    def loaded(ticket: str, arm: str = "") -> Response:
        leave = ticket_of(ticket)
        url, kind = request.args.get("url", ""), request.args.get("kind", links.OTHER)
        with closing(workbench_store.open_store(path)) as opened:
            row = _row(opened, leave.page, arm, "timestamp")
            found = page_resources.nearest(opened, url, row["timestamp"]) if row else None
        if found is None:
            abort(404)
        return _answer(found, kind, _prefix(request.host_url.rstrip("/"), ticket, arm))

    return app


def _row(opened: workbench_store.Connection, page: str, arm: str, columns: str) -> Any:
    """Return these columns of a page to label, or of the neighbour in one of its arms; None if there is none."""
    if arm:
        return opened.execute(f"SELECT {columns} FROM neighbours WHERE page = ? AND arm = ?", (page, arm)).fetchone()
    return opened.execute(f"SELECT {columns} FROM pages WHERE id = ?", (page,)).fetchone()


def _prefix(here: str, ticket: str, arm: str) -> str:
    """Return the prefix of all addresses that a scene loads."""
    return f"{here}/{ticket}/{arm}" if arm else f"{here}/{ticket}"


def _page(html: str, url: str, prefix: str, workbench: str, nonce: str) -> str:
    """Return the page with all that it loads led to the store, and with our style sheet and script."""
    root = _led(html, url, prefix)
    head = root.find("head")
    if head is None:
        head = etree.Element("head")
        root.insert(0, head)
    style = etree.SubElement(head, "style")
    style.text = _static("frame.css")
    script = {"nonce": nonce, "src": f"{_origin(prefix)}/frame.js", "defer": "defer", "data-workbench": workbench}
    etree.SubElement(head, "script", script)
    return links.to_html(root, links.doctype(html))


def _answer(found: Resource, kind: str, prefix: str) -> Response:
    """Return a resource as the type it was loaded for: a body that is no style sheet by its place is never served as
    one."""
    headers = {"Cache-Control": "private, max-age=3600", "Access-Control-Allow-Origin": "*"}
    if kind == links.FRAME:
        if found.mime.startswith("image/"):
            return Response(found.body, mimetype=found.mime, headers=headers)
        text = page_resources.decode_text(found)
        shown = links.to_html(_led(text, found.url, prefix), links.doctype(text))
        policy = f"{_policy(_origin(prefix))}; sandbox"
        return Response(shown, mimetype="text/html", headers={**headers, "Content-Security-Policy": policy})
    if found.status >= 400:
        return Response("", status=404, headers=headers)
    if kind == links.STYLE:
        css = links.lead_css(page_resources.decode_text(found), found.url, _lead(prefix))
        return Response(css, mimetype="text/css", headers=headers)
    shown_as = found.mime if found.mime.startswith(_SHOWN) else "application/octet-stream"
    return Response(found.body, mimetype=shown_as, headers=headers)


def _origin(url: str) -> str:
    return f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"


def _led(text: str, url: str, prefix: str) -> lxml_html.HtmlElement:
    root = links.parse_html(text)
    base = links.base_url(root, url)
    links.disarm(root)
    links.lead_html(root, base, _lead(prefix))
    return root


def _lead(prefix: str) -> links.Lead:
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
