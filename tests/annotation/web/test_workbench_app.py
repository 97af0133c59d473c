"""Check the rights of accounts, and the answers of the workbench, without a browser."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from dbce_spark.annotation.store import (
    labelling_progress,
    page_choice,
    stored_pages,
    stored_submissions,
    tutorial,
    workbench_store,
)
from dbce_spark.annotation.web import replay
from dbce_spark.annotation.web import workbench_app as people
from dbce_spark.model import Label
from tests.support.annotation_stores import PASSWORD, SETTINGS, with_people
from tests.support.builders import CONFIG
from tests.support.full_disks import full_disk

GUARDS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; frame-src http://localhost:8421; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Make a store of four pages; ada is an admin, bob labels."""
    return with_people(tmp_path, "ada", "bob")


@pytest.fixture
def app(path: str) -> Flask:
    return people.create(path, SETTINGS)


@pytest.fixture
def opened(path: str) -> Iterator[workbench_store.Connection]:
    found = workbench_store.open_store(path)
    yield found
    found.close()


def token(client: FlaskClient, path: str = "/login") -> str:
    """Return the token in the forms of this browser."""
    found = re.search(r'(?:name="csrf" value|data-csrf)="([^"]+)"', client.get(path, follow_redirects=True).text)
    assert found is not None
    return found[1]


def logged_in(app: Flask, name: str) -> tuple[FlaskClient, dict[str, str]]:
    """Log somebody in; return the browser, and the headers that its scripts send."""
    client = app.test_client()
    form = {"name": name, "password": PASSWORD, "csrf": token(client)}
    assert client.post("/login", data=form).status_code == 302
    return client, {"X-CSRF-Token": token(client, "/password")}


def draft(marks: dict[str, str], revision: int = 1) -> dict[str, object]:
    return {"marks": marks, "hidden": [], "revision": revision, "seconds": 1.0}


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/next",
        "/tutorial",
        "/admin",
        "/guidelines",
        "/password",
        "/admin/accounts/1",
        "/pages/1",
        "/api/pages/1",
        "/api/tutorial/1",
    ],
)
def test_nobody_sees_anything_without_logging_in(app: Flask, address: str) -> None:
    """People are sent to the login, scripts get an error."""
    answer = app.test_client().get(address)
    is_script = address.startswith("/api/")

    assert answer.status_code == (403 if is_script else 302)
    assert (answer.json, answer.headers.get("Location")) == (
        ({"error": "You are logged out."}, None) if is_script else (None, f"/login?then={address}")
    )
    assert b"goose" not in answer.data


def test_only_the_login_is_open_to_nobody_and_only_admins_come_further(app: Flask) -> None:
    """Whatever addresses the workbench has: they let in nobody without an account, and those of admins no other."""
    nobody, bob = app.test_client(), logged_in(app, "bob")
    guarded = [
        rule for rule in app.url_map.iter_rules() if rule.endpoint not in ("static", "show_login", "log_in", "log_out")
    ]
    answers: dict[str, set[int]] = {"script": set(), "admin": set(), "page": set()}
    for rule in guarded:
        kind = {"/api": "script", "/adm": "admin"}.get(rule.rule[:4], "page")
        address = re.sub("<.*>", "2", rule.rule)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            csrf = {"X-CSRF-Token": token(nobody)}
            answers[kind].add(nobody.open(address, method=method, headers=csrf).status_code)
            if kind == "admin":
                assert 404 == bob[0].open(address, method=method, headers=bob[1]).status_code

    assert {"script": {403}, "admin": {302}, "page": {302}} == answers


def test_what_is_not_sent_by_a_page_of_ours_changes_nothing(app: Flask, opened: workbench_store.Connection) -> None:
    """A form without this browser's token, a script's request, and a login from another site are refused."""
    client, right = logged_in(app, "bob")
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]
    forged = [
        client.put(f"/api/pages/{number}/draft", json=draft({"0": "content"})),
        client.put(f"/api/pages/{number}/draft", json=draft({"0": "content"}), headers={"X-CSRF-Token": "guessed"}),
        client.post("/logout"),
        app.test_client().post("/login", data={"name": "bob", "password": PASSWORD}),
    ]

    assert [400] * 4 == [answer.status_code for answer in forged]
    assert 200 == client.put(f"/api/pages/{number}/draft", json=draft({"0": "content"}), headers=right).status_code


def test_annotators_do_not_see_each_others_work(app: Flask, opened: workbench_store.Connection) -> None:
    """An annotator sees neither tags nor statistics nor names of others."""
    ada, adas = logged_in(app, "ada")
    bob, _ = logged_in(app, "bob")
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]
    ada.post(f"/api/pages/{number}/submission", json=draft({"0": "undecided"}), headers=adas)
    seen = bob.get(f"/api/pages/{number}").json

    assert seen is not None
    assert {} == seen["draft"]["marks"]
    assert "labels" not in seen
    assert [404] * 2 == [bob.get("/admin").status_code, bob.get("/tutorial/x").status_code]
    assert "undecided" not in bob.get("/").text


def test_a_page_goes_from_draft_to_submission(app: Flask, opened: workbench_store.Connection) -> None:
    """A draft is shown again, and the submission has the tags that it resolves to."""
    client, headers = logged_in(app, "bob")
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]
    client.put(f"/api/pages/{number}/draft", json=draft({"0": "boilerplate"}), headers=headers)
    kept = client.get(f"/api/pages/{number}").json
    answer = client.post(f"/api/pages/{number}/submission", json=draft({"0": "content"}, 2), headers=headers)

    assert kept is not None
    assert {**draft({"0": "boilerplate"}), "prelabelled": ""} == kept["draft"]
    assert {"page", "kind", "texts", "places", "idle", "draft"} <= {*kept}
    assert {"then": "/next"} == answer.json
    assert {Label.CONTENT} == {tag for one in stored_submissions.read_submissions(opened) for tag in one.tags}
    assert "content" in client.get("/").text


def test_a_readers_comment_goes_from_draft_to_submission(app: Flask, opened: workbench_store.Connection) -> None:
    """The mark is shown again as it was given; the submission has content, all of which readers wrote."""
    client, headers = logged_in(app, "bob")
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]
    client.put(f"/api/pages/{number}/draft", json=draft({"0": "comment"}), headers=headers)
    kept = client.get(f"/api/pages/{number}").json
    client.post(f"/api/pages/{number}/submission", json=draft({"0": "comment"}, 2), headers=headers)
    (one,) = stored_submissions.read_submissions(opened)

    assert kept is not None
    assert {"0": "comment"} == kept["draft"]["marks"]
    assert (tuple(range(len(one.tags))), {Label.CONTENT}) == (one.comments, {*one.tags})
    assert f'<span class="chip comment">{len(one.tags)} comment</span>' in client.get("/").text


def test_a_page_that_is_skipped_is_left_to_others(app: Flask, opened: workbench_store.Connection) -> None:
    """Also one that was begun; its annotator finds it at the start, and submits it after all."""
    (bob, bobs), (ada, _) = logged_in(app, "bob"), logged_in(app, "ada")
    number = page_choice.next_page(opened, 2, page_choice.Order.CHANCE)
    bob.put(f"/api/pages/{number}/draft", json=draft({"0": "content"}), headers=bobs)
    assert f'action="/pages/{number}/skip"' in bob.get(f"/pages/{number}").text
    answer = bob.post(f"/pages/{number}/skip", headers=bobs)

    assert "/next" == answer.location
    assert page_choice.next_page(opened, 2, page_choice.Order.CHANCE) not in (number, None)
    assert [number] == [one.page for one in page_choice.list_skipped(opened, 2)]
    assert [] == page_choice.list_skipped(opened, 1)
    assert 1 == labelling_progress.measure(opened).skips
    assert "<b>1</b> skipped" in ada.get("/admin").text
    assert re.search(rf'<h2>Skipped</h2>\s*<ul>\s*<li><a href="/pages/{number}">', bob.get("/").text)

    bob.post(f"/api/pages/{number}/submission", json=draft({"0": "content"}, 2), headers=bobs)
    assert ([], 0) == (page_choice.list_skipped(opened, 2), labelling_progress.measure(opened).skips)


def test_a_page_that_is_submitted_is_not_skipped(app: Flask, opened: workbench_store.Connection) -> None:
    """It would be under both, and counted as skipped."""
    bob, bobs = logged_in(app, "bob")
    number = page_choice.next_page(opened, 2, page_choice.Order.CHANCE)
    bob.post(f"/api/pages/{number}/submission", json=draft({"0": "content"}), headers=bobs)
    answer = bob.post(f"/pages/{number}/skip", headers=bobs, follow_redirects=True).text

    assert "Not skipped, since you have submitted this page" in answer
    assert ([], 0) == (page_choice.list_skipped(opened, 2), labelling_progress.measure(opened).skips)


def test_a_skipped_page_is_not_gone_on_with(app: Flask, opened: workbench_store.Connection) -> None:
    """A draft of a page that was skipped then is not where the annotator was."""
    bob, bobs = logged_in(app, "bob")
    number = bob.get("/next").location.rpartition("/")[2]
    bob.put(f"/api/pages/{number}/draft", json=draft({"0": "content"}), headers=bobs)
    begun = bob.get("/").text
    bob.post(f"/pages/{number}/skip", headers=bobs)
    skipped = bob.get("/").text

    assert "Go on where you were" in begun
    assert "Label the next page" in skipped
    assert [] == labelling_progress.list_pages(opened, 2)


def test_who_has_skipped_all_is_told_so(app: Flask, opened: workbench_store.Connection) -> None:
    """The pages of the tutorial are no such."""
    bob, bobs = logged_in(app, "bob")
    for number in stored_pages.ids(opened, stored_pages.CORPUS):
        bob.post(f"/pages/{number}/skip", headers=bobs)
    lesson = stored_pages.ids(opened, stored_pages.TUTORIAL)[0]

    assert page_choice.next_page(opened, 2, page_choice.Order.CHANCE) is None
    assert "All other pages are done" in bob.get("/").text
    assert 400 == bob.post(f"/pages/{lesson}/skip", headers=bobs).status_code


@pytest.mark.parametrize(
    "body",
    [
        [], {}, {"marks": {"0": "good"}}, draft({"9999": "content"}), draft({"-1": "content"}), draft({"x": "content"}),
        {**draft({}), "hidden": [9999]}, {**draft({}), "revision": None}, {**draft({}), "seconds": "long"},
        {**draft({}), "marks": []},
    ],
)  # fmt: skip
def test_what_is_no_draft_is_refused(app: Flask, opened: workbench_store.Connection, body: object) -> None:
    """Whatever is sent, the store holds only drafts of its pages."""
    client, headers = logged_in(app, "bob")
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]

    assert 400 == client.put(f"/api/pages/{number}/draft", json=body, headers=headers).status_code
    assert 0 == opened.execute("SELECT count(*) FROM drafts").fetchone()[0]


def test_a_draft_of_another_window_is_told_so(app: Flask, opened: workbench_store.Connection) -> None:
    """The later draft is kept, and the earlier window gets an error."""
    client, headers = logged_in(app, "bob")
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]
    answers = [client.put(f"/api/pages/{number}/draft", json=draft({}, at), headers=headers) for at in (1, 1, 2)]

    assert [200, 409, 200] == [answer.status_code for answer in answers]
    assert [{"revision": 1}, {"revision": 2}] == [answers[at].json for at in (0, 2)]
    assert "changed in another window" in (answers[1].json or {})["error"]


def test_the_models_labels_come_when_they_are_asked_for(app: Flask, opened: workbench_store.Connection) -> None:
    """Once requested, the model's labels come with the page."""
    client, headers = logged_in(app, "bob")
    found = next(stored_pages.read_kind(opened, stored_pages.CORPUS))
    before = client.get(f"/api/pages/{found.page}").json
    answer = client.post(f"/api/pages/{found.page}/prelabel", headers=headers).json
    after = client.get(f"/api/pages/{found.page}").json

    assert before is not None
    assert after is not None
    assert answer is not None
    assert [label.word for label in found.labels] == answer["labels"] == after["labels"]
    assert (False, found.model) == ("labels" in before, after["draft"]["prelabelled"])


def test_an_admin_makes_and_shuts_accounts(app: Flask) -> None:
    """A password is shown once; a shut account is out at once."""
    ada, adas = logged_in(app, "ada")
    bob, _ = logged_in(app, "bob")
    made = ada.post("/admin/accounts", data={"name": "eve"}, headers=adas)
    ada.post("/admin/accounts/2", data={"change": "shut"}, headers=adas)

    assert re.search(r"password of <b>eve</b> is <code>[\w-]{15,}</code>", made.text)
    assert 302 == bob.get("/pages/x").status_code
    assert "of <b>eve</b>" not in ada.get("/admin").text


def test_an_admin_makes_passwords_and_shuts_everybody_but_himself(app: Flask) -> None:
    """A new password ends the sessions of its account; a change that there is none of, or of no account, does
    nothing."""
    ada, adas = logged_in(app, "ada")
    bob, _ = logged_in(app, "bob")
    for number, change in ((1, "shut"), (2, "rename"), (2, ""), (3, "shut")):
        ada.post(f"/admin/accounts/{number}", data={"change": change}, headers=adas)
    before = ada.get("/").status_code, bob.get("/").status_code
    made = ada.post("/admin/accounts/2", data={"change": "password"}, headers=adas)

    assert ((200, 200), 302) == (before, bob.get("/").status_code)
    assert 404 == ada.get("/admin/accounts/3").status_code
    assert re.search(r"password of <b>bob</b> is <code>[\w-]{15,}</code>", made.text)


@pytest.mark.parametrize(("given", "is_admin"), [("yes", True), ("no", False), ("", False)])
def test_an_account_is_an_admins_only_where_that_is_said(app: Flask, given: str, is_admin: bool) -> None:
    """By the box in the form, and by nothing else in its place."""
    ada, headers = logged_in(app, "ada")
    ada.post("/admin/accounts", data={"name": "eve", "is_admin": given}, headers=headers)
    row = re.search(r"<td>eve(.*?)</td>", ada.get("/admin").text)

    assert row is not None
    assert is_admin == ("admin" in row[1])


@pytest.mark.parametrize("who", ["bob", "ada"])
def test_a_submission_is_withdrawn_by_its_annotator_or_an_admin(
    app: Flask, opened: workbench_store.Connection, who: str
) -> None:
    """It is kept with the account that withdrew it, counts no more, and can be made again; nobody else can withdraw
    it."""
    (bob, bobs), (other, others) = logged_in(app, "bob"), logged_in(app, who)
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]
    bob.post(f"/api/pages/{number}/submission", json=draft({"0": "content"}), headers=bobs)
    address = f"/pages/{number}/withdrawal" if who == "bob" else "/admin/accounts/2/withdrawal"
    assert 404 == bob.post("/admin/accounts/2/withdrawal", data={"page": number}, headers=bobs).status_code
    assert 1 == len([*stored_submissions.read_submissions(opened)])
    assert who == "bob" or f'action="{address}"' in other.get("/admin/accounts/2").text
    other.post(address, data={"page": number}, headers=others)
    (kept,) = stored_submissions.read_withdrawn(opened)

    assert ([], 0) == ([*stored_submissions.read_submissions(opened)], labelling_progress.measure(opened).submissions)
    assert (number, "annotator-2", f"annotator-{1 + (who == 'bob')}") == (
        kept.submission.page,
        kept.submission.annotator,
        kept.by,
    )
    assert number == page_choice.next_page(opened, 2, page_choice.Order.CHANCE)
    bob.post(f"/api/pages/{number}/submission", json=draft({"0": "boilerplate"}, 2), headers=bobs)
    assert [{Label.BOILERPLATE}] == [{*one.tags} for one in stored_submissions.read_submissions(opened)]
    assert [kept] == [*stored_submissions.read_withdrawn(opened)]


def test_a_new_password_logs_out_everywhere_else(app: Flask) -> None:
    """A change of the password needs the old one: without it nothing changes."""
    here, headers = logged_in(app, "bob")
    elsewhere, _ = logged_in(app, "bob")
    seen = []
    for old, new in (("wrong", "another long password"), (PASSWORD, "short"), (PASSWORD, "another long password")):
        answer = here.post("/password", data={"old": old, "new": new}, headers=headers)
        seen.append((answer.location, here.get("/").status_code, elsewhere.get("/").status_code))

    assert [("/password", 200, 200), ("/password", 200, 200), ("/", 200, 302)] == seen


def test_guesses_are_counted_by_address_at_the_login_and_at_the_change_of_a_password(path: str) -> None:
    """After too many the right password is refused, with the time to wait; from another address it is not."""
    app = people.create(path, replace(SETTINGS, login_tries=2))
    bob, headers = logged_in(app, "bob")
    client = app.test_client()
    answers = []
    for given, place in (("guessed", 1), ("guessed", 1), (PASSWORD, 1), (PASSWORD, 2)):
        form = {"name": "bob", "password": given, "csrf": token(client), "then": "/guidelines"}
        answers.append(client.post("/login", data=form, environ_base={"REMOTE_ADDR": f"192.0.2.{place}"}))
    for old in ("guessed", "guessed", PASSWORD):
        bob.post("/password", data={"old": old, "new": "another long password"}, headers=headers)
    refusals = re.findall(r'role="status">(Not changed: [^<]+)<', bob.get("/password").text)

    assert ["Not changed: the old password is wrong."] * 2 + ["Not changed: too many tries."] == refusals
    assert [403, 403, 403, 302] == [one.status_code for one in answers]
    assert [True] * 3 == ['name="then" value="/guidelines"' in one.text for one in answers[:3]]
    wrong, wait = "This name and password do not belong together.", "Too many tries with this name; wait 15 minutes."
    assert [(True, False)] * 2 + [(False, True)] == [(wrong in one.text, wait in one.text) for one in answers[:3]]
    here = {"name": "bob", "password": PASSWORD, "csrf": token(client, "/password")}
    assert 302 == client.post("/login", data=here, environ_base={"REMOTE_ADDR": "192.0.2.2"}).status_code


def test_logging_in_leads_nowhere_else(app: Flask) -> None:
    """A link to the login that names another site ends at the start page."""
    client = app.test_client()
    form = {"name": "bob", "password": PASSWORD, "csrf": token(client)}
    ends = []
    for then in ("//evil.example/", "http://evil.example/", "/\\evil.example", "/guidelines"):
        form["csrf"] = token(client)
        ends.append(client.post("/login", data={**form, "then": then}).location)

    assert ["/", "/", "/", "/guidelines"] == ends


@pytest.mark.parametrize(
    ("guidelines", "rule"),
    [("whole", "Tables with their header rows"), ("krdwrd", "Text in telegraphic style")],
)
def test_guidelines_are_a_setting(path: str, guidelines: str, rule: str) -> None:
    """People read those that the store is served with."""
    client, _ = logged_in(people.create(path, replace(SETTINGS, guidelines=guidelines)), "bob")
    shown = client.get("/guidelines").text

    assert rule in shown
    assert "How to be quick" in shown


def test_the_tutorial_shows_its_answer_after_the_page(app: Flask, opened: workbench_store.Connection) -> None:
    """The answer is shown only after the submission, with the submitted tags beside it."""
    tutorial.add(opened, CONFIG, SETTINGS.guidelines)
    client, headers = logged_in(app, "bob")
    first = next(stored_pages.read_kind(opened, stored_pages.TUTORIAL))
    before = client.get(f"/api/tutorial/{first.page}").status_code
    then = client.post(f"/api/pages/{first.page}/submission", json=draft({"0": "content"}), headers=headers).json
    answer = client.get(f"/api/tutorial/{first.page}").json

    assert (404, {"then": f"/tutorial/{first.page}"}) == (before, then)
    assert answer is not None
    assert [tag.word for tag in first.reference if tag is not None] == answer["reference"]
    assert ["content"] * len(first.units) == answer["given"]
    assert 'data-mode="answer"' in client.get(f"/tutorial/{first.page}").text


def test_the_start_page_says_which_lesson_is_next(app: Flask, opened: workbench_store.Connection) -> None:
    """From the first to the last, and then that all are done."""
    client, headers = logged_in(app, "bob")
    seen = []
    for _ in range(tutorial.PAGES + 1):
        seen.append(client.get("/").text)
        then = client.get("/tutorial").location
        client.post(f"/api{then}/submission", json=draft({"0": "content"}), headers=headers)

    assert [*range(tutorial.PAGES + 1)] == [
        int(found[1]) for one in seen if (found := re.search(r'"(\d+) of \d+ done', one))
    ]
    assert [at == tutorial.PAGES for at in range(tutorial.PAGES + 1)] == ["You have done all" in one for one in seen]


def test_every_page_of_ours_may_run_and_load_only_what_is_ours(app: Flask) -> None:
    """The content policy allows only our own files, and no page has a script or a style in its text."""
    client, _ = logged_in(app, "ada")
    for path in ("/", "/guidelines", "/admin", "/password"):
        answer = client.get(path)

        assert GUARDS == {name: answer.headers.get(name) for name in GUARDS}
        assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|<style", answer.text)
        assert not re.search(r'(?:src|href)="(?:https?:)?//', answer.text)
    assert "no-store" not in client.get("/static/annotate.css", buffered=True).headers["Cache-Control"]


@pytest.mark.parametrize(
    ("replayed", "here", "expected"),
    [
        ("", "http://localhost", "http://localhost:8421"),
        ("", "https://labels.example:8420", "https://labels.example:8421"),
        ("", "http://[::1]:8420", "http://[::1]:8421"),
        ("", "http://[::1]", "http://[::1]:8421"),
        ("https://pages.example/", "https://labels.example", "https://pages.example"),
    ],
)
def test_archived_pages_come_from_an_origin_of_their_own(
    path: str, opened: workbench_store.Connection, replayed: str, here: str, expected: str
) -> None:
    """The one that is set, or the same host at another port; a ticket lets the page be framed by this workbench
    alone."""
    app = people.create(path, SETTINGS, replayed)
    client = app.test_client()
    form = {"name": "bob", "password": PASSWORD}
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/login", base_url=here).text)
    assert found is not None
    client.post("/login", data=form | {"csrf": found[1]}, base_url=here)
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]
    answer = client.get(f"/pages/{number}", base_url=here)
    frame = re.search(r'<iframe id="page" src="([^"]+)(/[^/"]+/page)" sandbox="allow-scripts"', answer.text)
    assert frame is not None
    shown = replay.create(path, SETTINGS).test_client().get(frame[2])

    assert (expected, True) == (frame[1], f" frame-src {expected};" in answer.headers["Content-Security-Policy"])
    assert f"; frame-ancestors {here};" in shown.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("/pages/p1", "/pages/p1"),
        ("/next?order=doubt", "/next?order=doubt"),
        *((evil, "/") for evil in ("//evil.example", "/\\evil.example", "/\t/evil.example", "/\n//evil.example")),
        *((evil, "/") for evil in ("https://evil.example", "/ /evil.example", "\x01//evil.example", "")),
    ],
)
def test_a_login_leads_to_this_server_only(app: Flask, then: str, expected: str) -> None:
    """A link to the login must not end on a page that asks for the password again."""
    client = app.test_client()
    form = {"name": "bob", "password": PASSWORD, "csrf": token(client), "then": then}

    assert expected == client.post("/login", data=form).headers["Location"]


def test_the_login_keeps_in_its_form_where_it_leads(app: Flask) -> None:
    """As text: it ends no attribute, and begins no element."""
    shown = [app.test_client().get("/login", query_string={"then": then}).text for then in ("/next", '"><b>')]

    assert 'name="then" value="/next"' in shown[0]
    assert 'name="then" value="&#34;&gt;&lt;b&gt;"' in shown[1]


def test_a_cookie_that_was_kept_is_void_after_the_logout(app: Flask) -> None:
    """Of this browser and of any other with the same account."""
    client, headers = logged_in(app, "bob")
    kept = client.get_cookie(app.config["SESSION_COOKIE_NAME"])
    assert kept is not None
    client.post("/logout", headers=headers)
    thief = app.test_client()
    thief.set_cookie(kept.key, kept.value)

    assert 302 == thief.get("/guidelines").status_code


def test_an_account_that_was_shut_and_opened_has_to_log_in_again(app: Flask) -> None:
    """Its old sessions stay ended, and their tokens with them."""
    bob, bobs = logged_in(app, "bob")
    ada, headers = logged_in(app, "ada")
    for change in ("shut", "open"):
        ada.post("/admin/accounts/2", data={"change": change}, headers=headers)

    assert 302 == bob.get("/guidelines").status_code
    assert 400 == bob.post("/logout", headers=bobs).status_code


def test_who_does_nothing_for_hours_has_to_log_in_again(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """After `login_hours` since the last request, and no earlier."""
    client, _ = logged_in(app, "bob")
    began, seen = time.time(), []
    for hours in (SETTINGS.login_hours - 1, 2 * SETTINGS.login_hours - 2, 3 * SETTINGS.login_hours - 1):
        monkeypatch.setattr("itsdangerous.timed.time.time", lambda hours=hours: began + hours * 3600)
        seen.append(client.get("/guidelines").status_code)

    assert [200, 200, 302] == seen


def test_a_login_takes_another_token(app: Flask) -> None:
    """The token of the form before it opens nothing after it."""
    client = app.test_client()
    before = token(client)
    client.post("/login", data={"name": "bob", "password": PASSWORD, "csrf": before})

    assert 400 == client.post("/logout", data={"csrf": before}).status_code
    assert 302 == client.post("/logout", data={"csrf": token(client, "/password")}).status_code


def test_time_is_shown_in_minutes_and_seconds() -> None:
    """Seconds have two digits, and no fraction."""
    assert ["0:00", "0:59", "1:05", "61:00"] == [people._minutes(one) for one in (0.0, 59.9, 65.0, 3660.0)]


def test_a_request_that_is_too_large_is_refused(app: Flask, opened: workbench_store.Connection) -> None:
    """A draft of up to 4 MiB is read, and no larger one."""
    client, headers = logged_in(app, "bob")
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]
    sent = [json.dumps(draft({})).ljust((4 << 20) + more) for more in (0, 1)]
    answers = [
        client.put(f"/api/pages/{number}/draft", data=one, headers=headers | {"Content-Type": "application/json"})
        for one in sent
    ]

    assert [200, 413] == [one.status_code for one in answers]


@pytest.mark.parametrize("is_secure", [True, False])
def test_the_cookie_goes_nowhere_else(path: str, is_secure: bool) -> None:
    """Not to scripts, not with requests of other sites, and with HTTPS over nothing else."""
    client = people.create(path, SETTINGS, is_secure=is_secure).test_client()
    cookie = client.get("/login").headers["Set-Cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert is_secure == ("Secure;" in cookie)


@pytest.mark.parametrize(
    "fields",
    [
        {"seconds": 1e999},
        {"seconds": "nan"},
        {"revision": 1e999},
        {"revision": 1 << 70},
        {"marks": {"1e9": "content"}},
        {"hidden": [1e999]},
    ],
    ids=str,
)
def test_nonsense_is_refused(app: Flask, fields: dict[str, object]) -> None:
    """Numbers that nothing can hold are the sender's fault."""
    client, headers = logged_in(app, "bob")
    number = next(iter(re.findall(r"/pages/(\w+)", client.get("/next").headers["Location"])))
    answer = client.put(f"/api/pages/{number}/draft", json=draft({}) | fields, headers=headers)

    assert 400 == answer.status_code


def test_lists_within_lists_without_end_are_no_draft(app: Flask, opened: workbench_store.Connection) -> None:
    """They are refused before Python runs out of room for them."""
    client, headers = logged_in(app, "bob")
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]
    sent = headers | {"Content-Type": "application/json"}

    assert 400 == client.put(f"/api/pages/{number}/draft", data="[" * 200_000, headers=sent).status_code


def test_names_and_numbers_that_no_store_can_hold_are_refused(app: Flask) -> None:
    """An account of 30 digits, and a token beyond ASCII."""
    ada, headers = logged_in(app, "ada")
    answers = [
        ada.get(f"/admin/accounts/{10**30}", headers=headers),
        ada.post("/login", data={"name": "ada", "csrf": "\xe9"}),
    ]

    assert [400, 400] == [one.status_code for one in answers]


def test_a_store_of_several_corpora_lists_them(app: Flask, opened: workbench_store.Connection) -> None:
    """With their progress at the start; what follows a page is of its corpus, and an end is said of the corpus."""
    bob, bobs = logged_in(app, "bob")
    assert "Corpora" not in bob.get("/").text
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]
    opened.execute("UPDATE pages SET corpus = 'old & rare' WHERE id = ?", (number,))
    start = bob.get("/").text
    given = bob.get("/next?corpus=old+%26+rare").location
    skipped = bob.post(f"/pages/{number}/skip", headers=bobs).location
    answer = bob.get(skipped, follow_redirects=True).text

    assert re.search(r"<td>old &amp; rare</td><td class=\"number\">1</td>", start)
    assert 'href="/next?corpus=old+%26+rare"' in start
    assert (f"/pages/{number}", "/next?corpus=old+%26+rare") == (given, skipped)
    assert "There is no page of old &amp; rare left" in answer
    assert "<td>old &amp; rare</td>" in logged_in(app, "ada")[0].get("/admin").text


def test_on_a_full_disk_people_learn_that_nothing_was_saved(
    app: Flask, opened: workbench_store.Connection, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A page and a script get an answer in words, and the log names the store, in one line."""
    client, headers = logged_in(app, "bob")
    number = stored_pages.ids(opened, stored_pages.CORPUS)[0]
    with full_disk(100):
        of_script = client.put(f"/api/pages/{number}/draft", json=draft({"0": "content"}), headers=headers)
        of_page = client.post(f"/pages/{number}/skip", headers=headers)

    assert (503, 503) == (of_script.status_code, of_page.status_code)
    assert of_script.json is not None
    assert "cannot save anything now" in of_script.json["error"]
    assert "cannot save anything now" in of_page.text
    assert [True, True] == [one.getMessage().startswith(f"{path}: ") for one in caplog.records]
    assert [None, None] == [one.exc_info for one in caplog.records]
