"""Hand out pages, take what is tagged, and teach by the tutorial."""

import math
from collections.abc import Callable
from typing import Any

from flask import Flask, abort, flash, redirect, render_template, request, url_for

from dbce_spark.annotation import corpora, drafts, neighbours, page_choice, stored_pages, tutorial
from dbce_spark.annotation.drafts import Draft, StaleDraft
from dbce_spark.annotation.page_choice import Order
from dbce_spark.annotation.stored_pages import StoredPage
from dbce_spark.annotation.web import replay_tickets
from dbce_spark.annotation.web.replay_tickets import Ticket
from dbce_spark.annotation.web.workbench_request import Answer, Workbench, logged_in
from dbce_spark.model import Label


def add_desk(app: Flask, workbench: Workbench) -> None:
    """Add the start, with one's own statistics, and the pages to label."""

    @app.get("/")
    @logged_in
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
    @logged_in
    def guidelines() -> Answer:
        return render_template("guidelines.html")

    @app.get("/next")
    @logged_in
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
    @logged_in
    def page(number: str) -> Answer:
        return _bench(workbench, workbench.page(number), "label")

    @app.post("/pages/<number>/skip")
    @logged_in
    def skip(number: str) -> Answer:
        found = workbench.page_of_corpus(number)
        page_choice.skip(workbench.store, workbench.account.number, found.page)
        flash("Skipped. It is listed at the start, if you change your mind.")
        return redirect(_next_of(workbench, found))

    @app.post("/pages/<number>/withdrawal")
    @logged_in
    def withdraw(number: str) -> Answer:
        own = workbench.account.number
        if drafts.withdraw(workbench.store, own, workbench.page(number).page, own):
            flash("Withdrawn. What you tagged is kept; open the page to submit it again.")
        return redirect("/")


def add_labelling(app: Flask, workbench: Workbench) -> None:
    """Add the views that the page of the workbench requests while somebody labels."""

    @app.get("/api/pages/<number>")
    @logged_in
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
    @logged_in
    def keep(number: str) -> Answer:
        found = workbench.page(number)
        kept = _unless_stale(
            lambda: drafts.keep(workbench.store, workbench.account.number, number, _posted_draft(found))
        )
        return {"revision": kept.revision}  # type: ignore[return-value]

    @app.post("/api/pages/<number>/prelabel")
    @logged_in
    def prelabel(number: str) -> Answer:
        found = workbench.page_of_corpus(number)
        drafts.prelabel(workbench.store, workbench.account.number, found)
        return _model(found)  # type: ignore[return-value]

    @app.post("/api/pages/<number>/submission")
    @logged_in
    def submit(number: str) -> Answer:
        found = workbench.page(number)
        _unless_stale(lambda: drafts.submit(workbench.store, workbench.account.number, found, _posted_draft(found)))
        is_lesson = found.kind == stored_pages.TUTORIAL
        then = url_for("answer", number=number) if is_lesson else _next_of(workbench, found)
        return {"then": then}  # type: ignore[return-value]


def add_tutorial(app: Flask, workbench: Workbench) -> None:
    """Add the pages of the tutorial, and where one differs from their reference."""

    @app.get("/tutorial")
    @logged_in
    def lessons() -> Answer:
        number = page_choice.next_of_tutorial(workbench.store, workbench.account.number)
        if number is None:
            flash("You have done the tutorial. Start it over whenever you like.")
            return redirect("/")
        return redirect(url_for("page", number=number))

    @app.post("/tutorial/restart")
    @logged_in
    def restart() -> Answer:
        drafts.restart_tutorial(workbench.store, workbench.account.number)
        return redirect(url_for("lessons"))

    @app.get("/tutorial/<number>")
    @logged_in
    def answer(number: str) -> Answer:
        found = workbench.page(number)
        if (
            found.kind != stored_pages.TUTORIAL
            or drafts.last_tags(workbench.store, workbench.account.number, number) is None
        ):
            return redirect(url_for("lessons"))
        return _bench(workbench, found, "answer")

    @app.get("/api/tutorial/<number>")
    @logged_in
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


def _bench(workbench: Workbench, page: StoredPage, mode: str) -> Answer:
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


def _next_of(workbench: Workbench, page: StoredPage) -> str:
    """Return the address of the page that follows a page: of its corpus, where there are several."""
    has_several = len(corpora.names(workbench.store)) > 1
    return url_for("next_page", corpus=page.corpus if has_several else None)


def _lesson(workbench: Workbench) -> int:
    """Return the position of the next lesson, from 1; one more than there are if all are done."""
    number = page_choice.next_of_tutorial(workbench.store, workbench.account.number)
    found = None if number is None else stored_pages.get(workbench.store, number)
    return found.position if found else tutorial.PAGES + 1


def _posted_draft(page: StoredPage) -> Draft:
    """Return the draft that a request holds."""
    fields: Any = request.get_json(silent=True)
    try:
        nodes = len(page.outline.parents)
        marks, comments = drafts.parse_marks({_number(node, nodes): word for node, word in fields["marks"].items()})
        return Draft(
            marks=marks,
            comments=comments,
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
        "marks": {str(node): word for node, word in drafts.mark_words(draft).items()},
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
