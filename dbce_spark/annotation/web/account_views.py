"""Log people in and out, and let them change passwords; let admins see progress, and add and shut accounts."""

import re
import secrets

from flask import Flask, abort, flash, g, redirect, render_template, request, session, url_for

from dbce_spark.annotation import annotator_accounts, corpora, drafts
from dbce_spark.annotation.annotator_accounts import TooManyTries, UserAccount
from dbce_spark.annotation.web.workbench_request import Answer, Workbench, admin_only, logged_in
from dbce_spark.errors import InputError

_OWN_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A place of this server. Browsers read over tabs and line ends, and take a backslash for a slash."""


def add_entrance(app: Flask, workbench: Workbench) -> None:
    """Add the login and the logout."""

    @app.get("/login")
    def login() -> Answer:
        return render_template("login.html", then=request.args.get("then", "/"))

    @app.post("/login")
    def log_in() -> Answer:
        name, password = request.form.get("name", ""), request.form.get("password", "")
        try:
            found = annotator_accounts.login(
                workbench.store, name, password, workbench.settings, request.remote_addr or ""
            )
        except TooManyTries:
            flash(f"Too many tries with this name; wait {workbench.settings.login_minutes} minutes.")
            found = None
        else:
            if found is None:
                flash("This name and password do not belong together.")
        then = request.form.get("then", "/")
        if found is None:
            return render_template("login.html", then=then), 403  # type: ignore[return-value]
        session.clear()
        session.permanent = True
        session.update(account=found.number, stamp=found.stamp, csrf=secrets.token_urlsafe(16))
        return redirect(then if _OWN_PATH.fullmatch(then) else "/")

    @app.post("/logout")
    def log_out() -> Answer:
        if g.account is not None:
            annotator_accounts.end_sessions(workbench.store, g.account.number)
        session.clear()
        return redirect(url_for("login"))


def add_password(app: Flask, workbench: Workbench) -> None:
    """Add the change of one's own password."""

    @app.get("/password")
    @logged_in
    def password() -> Answer:
        return render_template("password.html", least=workbench.settings.min_password)

    @app.post("/password")
    @logged_in
    def change_password() -> Answer:
        account, settings = workbench.account, workbench.settings
        try:
            old, client = request.form.get("old", ""), request.remote_addr or ""
            if annotator_accounts.login(workbench.store, account.name, old, settings, client) is None:
                raise InputError("the old password is wrong")
            annotator_accounts.set_password(
                workbench.store, account.number, settings, request.form.get("new", "") or " "
            )
        except (InputError, TooManyTries) as error:
            flash(f"Not changed: {str(error) or 'too many tries'}.")
            return redirect(url_for("password"))
        changed = annotator_accounts.get(workbench.store, account.number)
        session["stamp"] = changed.stamp if changed else ""
        flash("Your password is changed.")
        return redirect("/")


def add_admin(app: Flask, workbench: Workbench) -> None:
    """Add the pages of admins: progress, accounts, and what somebody has submitted."""

    def shown(made: tuple[str, str] | None = None) -> Answer:
        """Render accounts and progress; a generated password is shown this once."""
        people, progress = annotator_accounts.list_accounts(workbench.store), drafts.progress(workbench.store)
        return render_template(
            "admin.html",
            people=people,
            progress=progress,
            corpora=corpora.list_corpora(workbench.store),
            made=made,
        )

    def person(number: int) -> UserAccount:
        found = annotator_accounts.get(workbench.store, number)
        if found is None:
            abort(404)
        return found

    @app.get("/admin")
    @admin_only
    def admin() -> Answer:
        return shown()

    @app.post("/admin/accounts")
    @admin_only
    def add_account() -> Answer:
        name, is_admin = request.form.get("name", ""), request.form.get("is_admin") == "yes"
        try:
            return shown((name, annotator_accounts.add(workbench.store, name, workbench.settings, is_admin=is_admin)))
        except InputError as error:
            flash(f"Not made: {error}.")
            return redirect(url_for("admin"))

    @app.post("/admin/accounts/<int:number>")
    @admin_only
    def change_account(number: int) -> Answer:
        found = person(number)
        change = request.form.get("change", "")
        if change == "password":
            return shown((found.name, annotator_accounts.set_password(workbench.store, number, workbench.settings)))
        if change in ("shut", "open") and number != workbench.account.number:
            annotator_accounts.set_active(workbench.store, number, change == "open")
        return redirect(url_for("admin"))

    @app.get("/admin/accounts/<int:number>")
    @admin_only
    def submitted(number: int) -> Answer:
        found = person(number)
        done = [one for one in drafts.list_pages(workbench.store, number) if one.submitted is not None]
        return render_template("submitted.html", who=found, done=done)

    @app.post("/admin/accounts/<int:number>/withdrawal")
    @admin_only
    def withdraw_for(number: int) -> Answer:
        if drafts.withdraw(workbench.store, number, request.form.get("page", ""), workbench.account.number):
            flash("Withdrawn. It is kept, and counts no more.")
        return redirect(url_for("submitted", number=number))
