"""Log people in and out, and let them change their passwords."""

import re
import secrets

from flask import flash, g, redirect, render_template, request, session, url_for

from dbce_spark.annotation.store import annotator_accounts
from dbce_spark.annotation.store.annotator_accounts import TooManyTries, UserAccount
from dbce_spark.annotation.web.workbench_request import Answer, Workbench
from dbce_spark.errors import InputError

_OWN_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A place of this server. Browsers read over tabs and line ends, and take a backslash for a slash."""


def show_login(workbench: Workbench) -> Answer:
    return render_template("login.html", then=request.args.get("then", "/"))


def log_in(workbench: Workbench) -> Answer:
    then = request.form.get("then", "/")
    try:
        found = _login(workbench, request.form.get("name", ""), request.form.get("password", ""))
    except TooManyTries:
        flash(f"Too many tries with this name; wait {workbench.settings.login_minutes} minutes.")
        return render_template("login.html", then=then), 403
    if found is None:
        flash("This name and password do not belong together.")
        return render_template("login.html", then=then), 403
    session.clear()
    session.permanent = True
    session.update(account=found.number, stamp=found.stamp, csrf=secrets.token_urlsafe(16))
    return redirect(then if _OWN_PATH.fullmatch(then) else "/")


def log_out(workbench: Workbench) -> Answer:
    if g.account is not None:
        annotator_accounts.end_sessions(workbench.store, g.account.number)
    session.clear()
    return redirect(url_for("show_login"))


def show_password(workbench: Workbench) -> Answer:
    return render_template("password.html", least=workbench.settings.min_password)


def change_password(workbench: Workbench) -> Answer:
    number = workbench.account.number
    try:
        if _login(workbench, workbench.account.name, request.form.get("old", "")) is None:
            raise InputError("the old password is wrong")
        new = request.form.get("new", "") or " "  # one of no letters would ask for a generated one
        annotator_accounts.set_password(workbench.store, number, workbench.settings, new)
    except (InputError, TooManyTries) as error:
        flash(f"Not changed: {str(error) or 'too many tries'}.")
        return redirect(url_for("show_password"))
    changed = annotator_accounts.get(workbench.store, number)
    session["stamp"] = changed.stamp if changed else ""
    flash("Your password is changed.")
    return redirect("/")


def _login(workbench: Workbench, name: str, password: str) -> UserAccount | None:
    client = request.remote_addr or ""
    return annotator_accounts.login(workbench.store, name, password, workbench.settings, client)
