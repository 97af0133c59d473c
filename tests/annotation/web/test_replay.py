"""Replay an archived page whole and harmless, as far as a server can ensure it."""

import re
import time
from importlib.resources import files
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from dbce_spark.annotation.markup import url_rewriting
from dbce_spark.annotation.store import stored_pages, workbench_store
from dbce_spark.annotation.store.page_resources import Resource
from dbce_spark.annotation.web import replay, replay_tickets, scenes
from dbce_spark.annotation.web.replay_tickets import Ticket
from tests.support.annotation_stores import DOT, SETTINGS, filled

ORIGIN = "http://127.0.0.1:8420"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[FlaskClient, str]:
    """Return the application, and the address of the page that loads things."""
    path, _ = filled(tmp_path_factory.mktemp("replay"))
    opened = workbench_store.open_store(path)
    (number,) = [one.page for one in stored_pages.read_kind(opened, stored_pages.CORPUS) if one.url.endswith("/one")]
    ticket = replay_tickets.sign(Ticket(number, ORIGIN), workbench_store.secret(opened))
    opened.close()
    return replay.create(path, SETTINGS).test_client(), f"/{ticket}"


def policy(answer: TestResponse) -> dict[str, str]:
    """Return the content policy of an answer, by directive."""
    parts = (part.partition(" ") for part in answer.headers["Content-Security-Policy"].split("; "))
    return {name: value for name, _, value in parts}


def loaded(shown: tuple[FlaskClient, str], url: str, kind: str = "image") -> tuple[int, str | None, bytes]:
    client, ticket = shown
    answer = client.get(f"{ticket}/loaded", query_string={"url": url, "kind": kind})
    return answer.status_code, answer.mimetype, answer.data


def test_all_that_a_page_loads_comes_from_the_store(shown: tuple[FlaskClient, str]) -> None:
    """Each address in the page, and in its style sheets and frames, leads to the store."""
    client, ticket = shown
    waiting, seen = [f"{ticket}/page"], set[str]()
    while waiting:
        text = client.get(waiting.pop()).text
        found = {url.replace("&amp;", "&") for url in re.findall(rf'http://localhost{ticket}/loaded\?[^"]+', text)}
        waiting += [url for url in sorted(found - seen) if "kind=image" not in url]
        seen |= found

    assert ["dot.png", "frame.html", "more.css", "moved.png", "style.css"] == sorted(
        one.rpartition("%2F")[2] for one in seen
    )
    assert [200] * 5 == [client.get(url).status_code for url in sorted(seen)]


def test_what_was_archived_is_sent_as_what_it_was_loaded_for(shown: tuple[FlaskClient, str]) -> None:
    """A picture is sent as a picture; a page that is loaded as a picture in a form that no browser would show."""
    site = "http://geese.example"

    assert (200, "image/png", DOT) == loaded(shown, f"{site}/dot.png")
    assert "application/octet-stream" == loaded(shown, f"{site}/frame.html")[1]
    assert "text/css" == loaded(shown, f"{site}/style.css", "style")[1]
    assert [(404, b"")] * 2 == [loaded(shown, url)[::2] for url in (f"{site}/none.png", "file:///etc/passwd")]


@pytest.mark.parametrize(("status", "expected"), [(200, (200, DOT)), (399, (200, DOT)), (400, (404, b""))])
def test_an_answer_that_was_an_error_is_none(status: int, expected: tuple[int, bytes]) -> None:
    """A page that said that there is no picture is not sent for one."""
    found = Resource("http://a.example/", 0, status, "image/png", "", "", DOT)
    answer = replay._answer(found, url_rewriting.IMAGE, "http://localhost/ticket")

    assert expected == (answer.status_code, answer.get_data())


def test_a_frame_of_no_origin_may_use_what_was_archived(shown: tuple[FlaskClient, str]) -> None:
    """Web fonts are loaded in the mode of CORS, and the frame is sandboxed; but no type is guessed, and nobody learns
    of the address."""
    client, ticket = shown
    font = client.get(f"{ticket}/loaded", query_string={"url": "http://geese.example/dot.png", "kind": "other"})
    guards = (
        "Access-Control-Allow-Origin",
        "Cross-Origin-Resource-Policy",
        "X-Content-Type-Options",
        "Referrer-Policy",
        "X-DNS-Prefetch-Control",
    )
    may_not = {"camera=()", "microphone=()", "geolocation=()", "autoplay=()", "fullscreen=()"}

    assert ["*", "cross-origin", "nosniff", "no-referrer", "off"] == [font.headers[name] for name in guards]
    assert may_not == {*font.headers["Permissions-Policy"].split(", ")}
    assert "default-src 'none'; sandbox" == font.headers["Content-Security-Policy"]
    assert "private, max-age=3600" == font.headers["Cache-Control"]
    assert "no-store" == client.get(f"{ticket}/page").headers["Cache-Control"]


def test_a_page_runs_one_script_and_that_is_ours(shown: tuple[FlaskClient, str]) -> None:
    """Our script has a nonce that is new each time; a frame in the page runs none."""
    client, ticket = shown
    answers = [client.get(f"{ticket}/page") for _ in range(2)]
    nonces = [re.search(r"script-src 'nonce-([^']+)'", one.headers["Content-Security-Policy"]) for one in answers]
    frame = client.get(f"{ticket}/loaded", query_string={"url": "http://geese.example/frame.html", "kind": "frame"})

    assert nonces[0] is not None
    assert nonces[1] is not None
    assert nonces[0][1] != nonces[1][1]
    assert 1 == answers[0].text.count("<script")
    assert f'nonce="{nonces[0][1]}"' in answers[0].text
    assert "script-src" not in policy(frame)


def test_a_page_loads_from_here_alone_and_sends_nothing(shown: tuple[FlaskClient, str]) -> None:
    """So its policy says, which holds for a frame in it too; only the workbench of the ticket may frame it."""
    client, ticket = shown
    page = client.get(f"{ticket}/page")
    frame = client.get(f"{ticket}/loaded", query_string={"url": "http://geese.example/frame.html", "kind": "frame"})
    nothing = ("default-src", "connect-src", "form-action", "base-uri", "object-src")
    here = "http://localhost"
    loads = {
        "style-src": f"'unsafe-inline' {here}",
        "img-src": f"{here} data:",
        "font-src": f"{here} data:",
        "media-src": here,
        "frame-src": here,
    }
    found = policy(page)
    found.pop("script-src")

    assert dict.fromkeys(nothing, "'none'") | loads | {"sandbox": ""} == policy(frame)
    assert policy(frame) | {"frame-ancestors": ORIGIN, "sandbox": "allow-scripts"} == found
    assert ["text/html"] * 2 == [page.mimetype, frame.mimetype]


def test_our_style_and_our_script_come_with_a_page(shown: tuple[FlaskClient, str]) -> None:
    """The script is from this application, tells it which workbench may speak to it, and may be loaded by a frame of
    no origin."""
    client, ticket = shown
    text = client.get(f"{ticket}/page").text
    script = client.get("/frame.js")
    static = files("dbce_spark.annotation.web") / "static"

    assert f"<style>{(static / 'frame.css').read_text('utf-8')}</style>" in text
    assert re.search(
        rf'<script nonce="[^"]+" src="http://localhost/frame.js" defer[^>]* data-workbench="{ORIGIN}"', text
    )
    assert ((static / "frame.js").read_text("utf-8"), "text/javascript") == (script.text, script.mimetype)
    assert "*" == script.headers["Access-Control-Allow-Origin"]


def test_a_forged_or_an_old_ticket_opens_nothing(
    shown: tuple[FlaskClient, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody reaches archived pages by guessing."""
    client, ticket = shown
    content, dot, signature = ticket.rpartition(".")
    forged = [
        # Not its last letter, which has bits that stand for nothing.
        f"{content}{dot}{'B' if signature.startswith('A') else 'A'}{signature[1:]}",
        "/x",
        f"/{replay_tickets.sign(Ticket('a', ORIGIN), 'other')}",
    ]

    assert [403] * 3 == [client.get(f"{one}/page").status_code for one in forged]
    clock = [time.time()]
    monkeypatch.setattr("itsdangerous.timed.time.time", lambda: clock[-1])
    ticket, opens = replay_tickets.sign(Ticket("a", ORIGIN), "secret"), []
    for seconds in (2 * 3600, 2 * 3600 + 1):
        clock.append(clock[0] + seconds)
        opens.append(replay_tickets.read(ticket, "secret", 2))
    assert [Ticket("a", ORIGIN), None] == opens


def test_the_scenes_of_a_store_are_answered_from_it_alone(tmp_path: Path) -> None:
    """Each page of the corpus is a scene; an address elsewhere has no answer."""
    path, _ = filled(tmp_path)
    made = [*scenes.make_scenes(path, SETTINGS)]
    answers = [one.answer(one.address) for one in made]
    opened = workbench_store.open_store(path)
    pages = {one.page: one.outline.leaves for one in stored_pages.read_kind(opened, stored_pages.CORPUS)}
    opened.close()

    assert pages == {one.page: one.numbers for one in made}
    assert [(200, "text/html; charset=utf-8")] * len(made) == [(one.status, one.content_type) for one in answers if one]
    assert all(one and b"keeps nine geese" in one.body for one in answers)
    assert [None] * len(made) == [one.answer("http://geese.example/one") for one in made]
