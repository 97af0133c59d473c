"""Show hostile archived pages in their frames, where they can do nothing, as a browser sees it."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.annotation_stores import page, wanted, with_pages_of
from tests.support.builders import archive, http, record
from tests.support.workbench_browser import archived, next_page
from tests.support.workbenches import served

pytestmark = pytest.mark.browser


def hostile(port: int) -> str:
    """Return a page that tries all it can to reach a port, to run, and to get out of its frame."""
    live = f"http://127.0.0.1:{port}"
    ran = "document.documentElement.setAttribute('data-ran', '1')"
    head = (
        f'<meta http-equiv="refresh" content="0; url={live}/refresh"><link rel="preconnect" href="{live}">'
        f'<link rel="dns-prefetch" href="{live}"><link rel="prefetch" href="{live}/prefetch"><base href="{live}/">'
        f'<link rel="stylesheet" href="{live}/a.css"><link rel="icon" href="{live}/icon">'
        f'<script src="{live}/a.js"></script>'
        f"<style>@import '{live}/b.css'; @font-face {{ font-family: f; src: url({live}/f.woff) }}"
        f" body {{ background: url({live}/bg.png); font-family: f }}</style>"
        f"<script>{ran}; fetch('{live}/fetch'); top.location = '{live}/top'; new WebSocket('ws://127.0.0.1:{port}')</script>"
    )
    extra = (
        f'<img src="/img.png" onerror="{ran}" srcset="{live}/set.png 2x"><iframe src="{live}/frame"></iframe>'
        f'<iframe srcdoc="<script>parent.{ran}</script>"></iframe><object data="{live}/object"></object>'
        f'<embed src="{live}/embed"><video src="{live}/video" poster="{live}/poster" autoplay></video>'
        f'<form id="f" action="{live}/form"><input autofocus onfocus="{ran}"></form>'
        f'<a id="link" href="{live}/link">out</a>'
        f'<a id="script" href="javascript:{ran}">run</a><svg onload="{ran}"><script>{ran}</script></svg>'
        f'<details open ontoggle="{ran}">x</details><p style="background: url({live}/p.png)">y</p>'
        f'<a id="top" target="_top" href="{live}/top" ping="{live}/ping">top</a><body onload="{ran}">'
    )
    return page("A page of malice", head=head, extra=extra)


def made(folder: Path, html: str) -> str:
    """Make a store of one page, and ada."""
    source = archive(folder / "a.warc", record(http(html), url="http://malice.example/"))
    return with_pages_of(folder, [source], wanted(), "ada")


def test_an_archived_page_reaches_nothing_and_runs_nothing(
    tmp_path: Path, context: Any, listener: tuple[int, list[bytes]]
) -> None:
    """No request leaves the two ports of the workbench, no script of the page runs, and its links lead nowhere."""
    port, came = listener
    with served(made(tmp_path, hostile(port))) as one:
        requested: set[str] = set()
        context.on("request", lambda request: requested.add(urlsplit(request.url).netloc))
        window = next_page(context, one, "ada")
        for name in ("link", "script", "top"):
            archived(window).evaluate(f"document.getElementById('{name}').click()")
        window.wait_for_timeout(1000)

        assert archived(window).evaluate("document.documentElement.getAttribute('data-ran')") is None
        assert window.url.startswith(f"{one.address}/pages/")
        assert {f"127.0.0.1:{one.port}", f"127.0.0.1:{one.replay_port}"} == requested
    assert [] == came


def test_what_would_get_past_the_first_wall_stands_before_the_next(
    tmp_path: Path, context: Any, listener: tuple[int, list[bytes]]
) -> None:
    """A script, picture, form or frame that is put into the page all the same neither runs nor loads nor sends."""
    port, came = listener
    with served(made(tmp_path, page("A page of malice"))) as one:
        window = next_page(context, one, "ada")
        frame = archived(window)
        frame.evaluate(
            f"""() => {{
              const live = "http://127.0.0.1:{port}";
              document.body.insertAdjacentHTML("beforeend", `<img src="${{live}}/a.png"
                onerror="document.documentElement.setAttribute('data-ran', 1)"><iframe src="${{live}}/b"></iframe>
                <form id="f" action="${{live}}/c"></form><link rel="stylesheet" href="${{live}}/d.css">`);
              const script = document.createElement("script");
              script.textContent = "document.documentElement.setAttribute('data-ran', 1)";
              document.body.append(script);
              document.getElementById("f").submit();
            }}"""
        )
        window.wait_for_timeout(1000)
        reached = frame.evaluate(
            """async () => {
              const tries = { parent: () => parent.document.title, store: () => localStorage.length,
                cookie: () => document.cookie, top: () => { top.location = "about:blank"; },
                fetch: () => fetch("/") };
              const found = [];
              for (const [name, act] of Object.entries(tries)) {
                try { await act(); found.push(name); } catch { /* as it should be */ }
              }
              return [...found, self.origin, document.documentElement.getAttribute("data-ran")];
            }"""
        )

        assert ["null", None] == reached
        assert window.url.startswith(f"{one.address}/pages/")
    # Chromium opens a connection for a frame before it asks the policy, and then says nothing on it.
    assert [] == [text for text in came if text]


def test_an_archived_page_that_is_opened_by_itself_can_do_no_more(tmp_path: Path, context: Any) -> None:
    """Its sandbox comes with it, not from the frame."""
    with served(made(tmp_path, page("A page of malice"))) as one:
        window = next_page(context, one, "ada")
        own_tab = context.new_page()
        own_tab.goto(window.get_attribute("#page", "src"))

        assert "null" == own_tab.evaluate("self.origin")
