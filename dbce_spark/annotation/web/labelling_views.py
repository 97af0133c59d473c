"""Hand out pages, and take what is tagged."""

import math
from typing import Any

from flask import abort, flash, redirect, render_template, request, url_for

from dbce_spark.annotation.store import (
    corpora,
    drafts,
    labelling_progress,
    neighbours,
    page_choice,
    stored_pages,
    stored_submissions,
    tutorial,
)
from dbce_spark.annotation.store.drafts import Draft
from dbce_spark.annotation.store.page_choice import Order
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.annotation.web import replay_tickets
from dbce_spark.annotation.web.replay_tickets import Ticket
from dbce_spark.annotation.web.workbench_request import Answer, Workbench


def show_home(workbench: Workbench) -> Answer:
    """Render the start, with one's own statistics."""
    number = workbench.account.number
    return render_template(
        "home.html",
        done=labelling_progress.list_pages(workbench.store, number),
        skipped=page_choice.list_skipped(workbench.store, number),
        next_page=page_choice.next_page(workbench.store, number, Order.CHANCE),
        progress=labelling_progress.measure(workbench.store),
        corpora=corpora.list_corpora(workbench.store, number),
        lesson=_lesson(workbench),
        lessons=tutorial.PAGES,
    )


def show_guidelines(workbench: Workbench) -> Answer:
    return render_template(f"guidelines_{workbench.settings.guidelines}.html")


def next_page(workbench: Workbench) -> Answer:
    order = Order.DOUBT if request.args.get("order") == Order.DOUBT else Order.CHANCE
    corpus = request.args.get("corpus", "")
    found = page_choice.next_page(workbench.store, workbench.account.number, order, corpus)
    if found is None:
        of_corpus = f" of {corpus}" if corpus else ""
        flash(f"There is no page{of_corpus} left that you have not labelled or skipped. Thank you!")
        return redirect("/")
    return redirect(url_for("show_page", number=found))


def show_page(workbench: Workbench, number: str) -> Answer:
    return render_bench(workbench, workbench.page(number), "label")


def skip_page(workbench: Workbench, number: str) -> Answer:
    page = workbench.page_of_corpus(number)
    if not page_choice.skip(workbench.store, workbench.account.number, page.page):
        flash("Not skipped, since you have submitted this page; under My statistics you can withdraw it.")
        return redirect("/")
    flash("Skipped. It is listed at the start, if you change your mind.")
    return redirect(_next_of(workbench, page))


def withdraw_page(workbench: Workbench, number: str) -> Answer:
    own = workbench.account.number
    if stored_submissions.withdraw(workbench.store, own, workbench.page(number).page, own):
        flash("Withdrawn. What you tagged is kept; open the page to submit it again.")
    return redirect("/")


def send_page(workbench: Workbench, number: str) -> Answer:
    """Send all that the script of the workbench needs of a page, its draft among it."""
    page = workbench.page(number)
    draft = drafts.read_draft(workbench.store, workbench.account.number, number)
    return {
        "page": number,
        "kind": page.kind,
        **outline_fields(page),
        "places": neighbours.same_places(page),
        "idle": workbench.settings.idle_seconds,
        "draft": _draft_fields(draft),
        **(_model_fields(page) if draft.prelabelled else {}),
    }


def keep_draft(workbench: Workbench, number: str) -> Answer:
    page = workbench.page(number)
    kept = drafts.keep(workbench.store, workbench.account.number, number, _posted_draft(page))
    return {"revision": kept.revision}


def prelabel_page(workbench: Workbench, number: str) -> Answer:
    page = workbench.page_of_corpus(number)
    drafts.prelabel(workbench.store, workbench.account.number, page)
    return _model_fields(page)


def submit_page(workbench: Workbench, number: str) -> Answer:
    page = workbench.page(number)
    stored_submissions.submit(workbench.store, workbench.account.number, page, _posted_draft(page))
    is_lesson = page.kind == stored_pages.TUTORIAL
    return {"then": url_for("show_answer", number=number) if is_lesson else _next_of(workbench, page)}


def render_bench(workbench: Workbench, page: StoredPage, mode: str) -> Answer:
    """Render the workbench with an archived page in its frame."""
    ticket = replay_tickets.sign(Ticket(page.page, request.host_url.rstrip("/")), workbench.secret)
    return render_template(
        "bench.html",
        page=page,
        mode=mode,
        whose=f"{workbench.identity} {workbench.account.name}",
        replay=f"{workbench.replay()}/{ticket}",
        neighbours=neighbours.get(workbench.store, page.page),
        lessons=tutorial.PAGES,
    )


def outline_fields(page: StoredPage) -> dict[str, Any]:
    """Return the nodes of a page, and the text of each segment."""
    return {**page.outline.as_fields(), "texts": [page.text[unit.start : unit.end] for unit in page.units]}


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
    try:
        fields: Any = request.get_json(silent=True)
        nodes = len(page.outline.parents)
        marks, comments = drafts.parse_marks({_number(node, nodes): word for node, word in fields["marks"].items()})
        return Draft(
            marks=marks,
            comments=comments,
            hidden=frozenset(_number(at, len(page.units)) for at in fields["hidden"]),
            revision=int(fields["revision"]),
            replaces=frozenset(map(int, fields["replaces"])) if "replaces" in fields else None,
            seconds=_seconds(fields["seconds"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
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


def _draft_fields(draft: Draft) -> dict[str, Any]:
    return {
        "marks": {str(node): word for node, word in drafts.mark_words(draft).items()},
        "hidden": sorted(draft.hidden),
        "revision": draft.revision,
        "seconds": draft.seconds,
        "prelabelled": draft.prelabelled,
    }


def _model_fields(page: StoredPage) -> dict[str, Any]:
    return {
        "model": page.model,
        "labels": [unit.label.word for unit in page.units],
        "scores": [unit.score for unit in page.units],
    }
