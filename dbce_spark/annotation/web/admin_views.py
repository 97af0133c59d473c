"""Let admins see progress, add, open and shut accounts, and withdraw what somebody has submitted."""

from flask import abort, flash, redirect, render_template, request, url_for

from dbce_spark.annotation.store import annotator_accounts, corpora, labelling_progress, stored_submissions
from dbce_spark.annotation.store.annotator_accounts import UserAccount
from dbce_spark.annotation.web.workbench_request import Answer, Workbench
from dbce_spark.errors import InputError


def show_admin(workbench: Workbench, made: tuple[str, str] | None = None) -> Answer:
    """Render accounts and progress; `made`, a name and its generated password, is shown this once."""
    return render_template(
        "admin.html",
        people=annotator_accounts.list_accounts(workbench.store),
        progress=labelling_progress.measure(workbench.store),
        corpora=corpora.list_corpora(workbench.store),
        made=made,
    )


def add_account(workbench: Workbench) -> Answer:
    name, is_admin = request.form.get("name", ""), request.form.get("is_admin") == "yes"
    try:
        password = annotator_accounts.add(workbench.store, name, workbench.settings, is_admin=is_admin)
    except InputError as error:
        flash(f"Not made: {error}.")
        return redirect(url_for("show_admin"))
    return show_admin(workbench, (name, password))


def change_account(workbench: Workbench, number: int) -> Answer:
    found = _account(workbench, number)
    change = request.form.get("change", "")
    if change == "password":
        password = annotator_accounts.set_password(workbench.store, number, workbench.settings)
        return show_admin(workbench, (found.name, password))
    if change in ("shut", "open") and number != workbench.account.number:
        annotator_accounts.set_active(workbench.store, number, change == "open")
    return redirect(url_for("show_admin"))


def show_submitted(workbench: Workbench, number: int) -> Answer:
    found = _account(workbench, number)
    done = [one for one in labelling_progress.list_pages(workbench.store, number) if one.submitted is not None]
    return render_template("submitted.html", who=found, done=done)


def withdraw_for(workbench: Workbench, number: int) -> Answer:
    """Withdraw a page that somebody else has submitted."""
    if stored_submissions.withdraw(workbench.store, number, request.form.get("page", ""), workbench.account.number):
        flash("Withdrawn. It is kept, and counts no more.")
    return redirect(url_for("show_submitted", number=number))


def _account(workbench: Workbench, number: int) -> UserAccount:
    found = annotator_accounts.get(workbench.store, number)
    if found is None:
        abort(404)
    return found
