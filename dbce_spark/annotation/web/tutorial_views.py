"""Teach by the tutorial: hand out its pages, and show where the tags of one differ from its reference."""

from flask import abort, flash, redirect, url_for

from dbce_spark.annotation.markup.submission import Tags
from dbce_spark.annotation.store import page_choice, stored_pages, stored_submissions
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.annotation.web import labelling_views
from dbce_spark.annotation.web.workbench_request import Answer, Workbench
from dbce_spark.model import Label


def next_lesson(workbench: Workbench) -> Answer:
    number = page_choice.next_of_tutorial(workbench.store, workbench.account.number)
    if number is None:
        flash("You have done the tutorial. Start it over whenever you like.")
        return redirect("/")
    return redirect(url_for("show_page", number=number))


def restart_tutorial(workbench: Workbench) -> Answer:
    stored_submissions.restart_tutorial(workbench.store, workbench.account.number)
    return redirect(url_for("next_lesson"))


def show_answer(workbench: Workbench, number: str) -> Answer:
    page = workbench.page(number)
    if _submitted(workbench, page) is None:
        return redirect(url_for("next_lesson"))
    return labelling_views.render_bench(workbench, page, "answer")


def send_answer(workbench: Workbench, number: str) -> Answer:
    page = workbench.page(number)
    given = _submitted(workbench, page)
    if given is None:
        abort(404)
    return {
        **labelling_views.outline_fields(page),
        "given": [_word(tag) for tag in given],
        "reference": [_word(tag) for tag in page.reference],
    }


def _submitted(workbench: Workbench, page: StoredPage) -> Tags | None:
    """Return the submitted tags of a page of the tutorial; None before it is submitted, and of any other page."""
    if page.kind != stored_pages.TUTORIAL:
        return None
    return stored_submissions.last_tags(workbench.store, workbench.account.number, page.page)


def _word(tag: Label | None) -> str:
    return "" if tag is None else tag.word
