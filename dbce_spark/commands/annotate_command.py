"""`dbce annotate`: a store of archived pages that people label in their browsers."""

import argparse
import shlex
from collections.abc import Callable
from contextlib import closing
from functools import wraps
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING

from dbce_spark import config as configuration
from dbce_spark.annotation.store.workbench_settings import GUIDELINES
from dbce_spark.commands import adapt_command
from dbce_spark.commands.arguments import (
    INPUT_HELP,
    add_languages,
    add_local_output,
    add_output,
    add_settings,
    add_sites,
    count,
    default_of,
    local_path,
)
from dbce_spark.commands.command_parser import Command, Commands, add_command
from dbce_spark.commands.terminal import standard_input
from dbce_spark.errors import InputError, PlatformError, installs
from dbce_spark.files import sqlite_transaction
from dbce_spark.log import counted

if TYPE_CHECKING:
    from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings

_FILE = "annotate.toml"
_ADDED_TO = f"add the pages to this corpus of the store {default_of('corpus', _FILE)}"


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = commands.add_parser(
        "annotate",
        help="let people label archived pages in their browsers",
        description="Let people label archived pages in their browsers (docs/annotation.md). Needs"
        f" {installs('annotate')}. Defaults are in conf/annotate.toml.",
    )
    steps = command.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_add(steps)
    _add_take(steps)
    _add_account(steps)
    _add_serve(steps)
    _add_step(steps, _status, "show the progress of labelling")
    _add_backup(steps)
    _add_export(steps)
    _add_adapt(steps)


def _add_step(steps: Commands, work: Callable[[argparse.Namespace], None], help: str) -> Command:
    """Add a step that does some work with a store, named as the function is."""

    @wraps(work)
    def run(arguments: argparse.Namespace) -> None:
        with sqlite_transaction.naming(arguments.store):
            work(arguments)

    step = add_command(steps, work.__name__.strip("_"), run, help)
    step.add_argument("store", type=local_path, metavar="STORE", help="use the store in this SQLite file")
    return step


def _add_add(steps: Commands) -> None:
    step = _add_step(steps, _add, "add pages of web archives to a store")
    step.add_argument("--archive", action="extend", nargs="+", required=True, metavar="INPUT", help=INPUT_HELP)
    step.add_argument(
        "--min-words",
        type=count,
        metavar="N",
        help=f"add pages with a text of at least N words {default_of('min_words', _FILE)}",
    )
    step.add_argument(
        "--max-words",
        type=count,
        metavar="N",
        help=f"add pages with a text of at most N words {default_of('max_words', _FILE)}",
    )
    add_sites(step, "add only pages", "sites")
    add_languages(step, "add only pages that declare one of these languages", "languages")
    step.add_argument(
        "--url-pattern",
        action="append",
        default=[],
        metavar="REGEX",
        help="add only pages whose URL this pattern matches somewhere; may be repeated",
    )
    step.take_earlier("--url", "--url-pattern")
    how_many = step.add_mutually_exclusive_group()
    how_many.add_argument("--one-per-site", action="store_true", help="add one page of each site, drawn by the seed")
    how_many.add_argument(
        "--whole-sites",
        action="store_true",
        help="add all pages, with all snapshots, of each site that has a matching page",
    )
    step.add_argument(
        "--sample-size", type=count, metavar="N", help="add N of the matching pages, or N sites with --whole-sites"
    )
    step.take_earlier("--sample", "--sample-size")
    step.add_argument("--seed", type=int, metavar="N", help=f"draw samples from this seed {default_of('seed', _FILE)}")
    step.add_argument("--list", metavar="FILE", help="add only the pages whose URLs are in this file, one on each line")
    _add_corpus(step, _ADDED_TO)
    add_settings(step, "conf/dbce.toml, such as label.classifier=FILE, which labels the pages beforehand")


def _add_take(steps: Commands) -> None:
    step = _add_step(steps, _take, "add pages from JSON lines to a store")
    step.add_argument("pages", nargs="+", metavar="PAGES", help="read JSON lines with id, html, text and segments")
    step.add_argument(
        "--archive",
        action="extend",
        nargs="+",
        default=[],
        metavar="INPUT",
        help=f"copy styles and pictures from archives: {INPUT_HELP}",
    )
    _add_corpus(step, _ADDED_TO)


def _add_account(steps: Commands) -> None:
    step = _add_step(steps, _account, "create an account, or set a new password for one")
    step.add_argument("name", metavar="NAME", help="set the name to log in with; exports do not contain it")
    step.add_argument(
        "--admin", action="store_true", help="let the new account see progress, and create and close accounts"
    )
    step.add_argument("--password-stdin", action="store_true", help="read the password from the first line of stdin")


def _add_serve(steps: Commands) -> None:
    step = _add_step(steps, _serve, "serve a store to browsers")
    step.add_argument(
        "--address",
        dest="host",
        metavar="NAME",
        help=f"listen on this address, by default that of this machine alone {default_of('host', _FILE)}",
    )
    step.take_earlier("--host", "--address")
    step.add_argument(
        "--guidelines",
        choices=GUIDELINES,
        help="show guidelines and a tutorial for whole pages, as the classifier keeps them, or for running text alone,"
        f" as KrdWrd did {default_of('guidelines', _FILE)}",
    )
    step.add_argument(
        "--port",
        type=int,
        metavar="N",
        help=f"serve the workbench on this port {default_of('port', _FILE)}",
    )
    step.add_argument(
        "--replay-port",
        type=int,
        metavar="N",
        help=f"serve archived pages on this port {default_of('replay_port', _FILE)}",
    )


def _add_backup(steps: Commands) -> None:
    step = _add_step(steps, _backup, "copy a store, even while it is served")
    add_local_output(step, "FILE", "write the copy to this file, which must not exist yet")
    step.take_earlier_place("--output")


def _add_export(steps: Commands) -> None:
    step = _add_step(steps, _export, "write pages and submissions as JSON lines")
    add_output(step, "DIR", "write to this folder, in place of earlier files of these names")
    step.take_earlier_place("--output")
    _add_corpus(step, "write only the pages of this corpus")


def _add_adapt(steps: Commands) -> None:
    step = _add_step(steps, _adapt, "learn from labels, extract their sites again, and add the most doubtful pages")
    adapt_command.add_arguments(step)
    _add_corpus(step, f"read the labels of this corpus, and add pages to it {default_of('corpus', _FILE)}")


def _add_corpus(step: argparse.ArgumentParser, help: str) -> None:
    step.add_argument("--corpus", metavar="NAME", help=help)


def _add(arguments: argparse.Namespace) -> None:
    """Add pages of web archives to a store, with the styles and pictures that they load. A store that does not exist is
    created."""
    settings = _settings(arguments, "min_words", "max_words", "seed", "corpus")
    from dbce_spark.annotation.store import page_import, wanted_pages

    wanted = wanted_pages.WantedPages(
        sites=tuple(arguments.sites or ()),
        languages=tuple(arguments.languages or ()),
        urls=tuple(arguments.url_pattern),
        listed=wanted_pages.read_list(arguments.list) if arguments.list else {},
        min_words=settings.min_words,
        max_words=settings.max_words,
        one_per_site=arguments.one_per_site,
        whole_sites=arguments.whole_sites,
        sample=arguments.sample_size,
        seed=settings.seed,
    )
    config = configuration.load(None, arguments.settings)
    archives = page_import.read(arguments.archive, config)
    print(page_import.add(arguments.store, archives, wanted, config, settings))


def _take(arguments: argparse.Namespace) -> None:
    """Add pages from JSON lines, as `dbce annotate export` writes them, to a store, which is created if it does not
    exist. Pages keep their segments; crosses, as `dbce labels crosses` writes them, keep their neighbours. The styles
    and pictures of pages are copied from the given archives."""
    settings = _settings(arguments, "corpus")
    from dbce_spark.annotation.store import sheet_import

    print(
        sheet_import.import_pages(
            arguments.store, arguments.pages, arguments.archive, configuration.default(), settings
        )
    )


def _account(arguments: argparse.Namespace) -> None:
    """Create an account, or set a new password for an existing one. A password that is not given is printed once."""
    settings = _settings(arguments)
    from dbce_spark.annotation.store import annotator_accounts, workbench_store

    given = standard_input().readline().rstrip("\n") if arguments.password_stdin else ""
    if arguments.password_stdin and not given:
        raise InputError("the first line of standard input is empty; write the password there")
    with closing(workbench_store.open_store(arguments.store)) as opened:
        by_name = {one.name.lower(): one for one in annotator_accounts.list_accounts(opened)}
        account = by_name.get(arguments.name.strip().lower())
        if account and arguments.admin and not account.is_admin:
            raise InputError(f"{arguments.name} is an account already, and no admin; --admin is for a new account")
        if account:
            made = annotator_accounts.set_password(opened, account.number, settings, given)
        else:
            made = annotator_accounts.add(opened, arguments.name, settings, password=given, is_admin=arguments.admin)
    shown = "" if given else f"; the password is {made}"
    print(f"{arguments.name}: {'password changed' if account else 'account made'}{shown}")


def _serve(arguments: argparse.Namespace) -> None:
    """Serve a store to browsers, on two ports of one process, until it is stopped. However it is stopped, no label is
    lost."""
    settings = _settings(arguments, "guidelines", "host", "port", "replay_port")
    from dbce_spark.annotation.store import annotator_accounts, workbench_store
    from dbce_spark.annotation.web import workbench_server

    def ready(address: str) -> None:
        print(f"{address}  (archived pages on port {settings.replay_port}; stop with Ctrl-C)", flush=True)
        with closing(workbench_store.open_store(arguments.store)) as opened:
            accounts = annotator_accounts.list_accounts(opened)
        if not any(one.is_active for one in accounts):
            why = "all accounts are shut" if accounts else "the store has no account yet"
            one = f"dbce annotate account {shlex.quote(arguments.store)} NAME --admin"
            print(f"nobody can log in, as {why}; add one: {one}", flush=True)

    workbench_server.serve(arguments.store, settings, configuration.default(), ready)


def _status(arguments: argparse.Namespace) -> None:
    """Show how many pages of a store are labelled, and by how many people."""
    _settings(arguments)
    from dbce_spark.annotation.store import annotator_accounts, corpora, labelling_progress, workbench_store

    with closing(workbench_store.open_store(arguments.store)) as opened:
        parts = corpora.list_corpora(opened)
        progress, people = labelling_progress.measure(opened), annotator_accounts.list_accounts(opened)
    all_of_it = (progress.pages, "page"), (len(people), "account"), (progress.submissions, "submission")
    print(", ".join(starmap(counted, all_of_it)))
    for part in parts if len(parts) > 1 else ():
        print(f"{part.name:>16}  {counted(part.pages, 'page')}, {counted(part.submissions, 'submission')}")
    for submissions, pages in progress.pages_by_submissions.items():
        print(f"{counted(pages, 'page'):>14} with {counted(submissions, 'submission')}")
    for one in people:
        pages, seconds = progress.by_account.get(one.number, (0, 0.0))
        each = f", {seconds / pages:.0f} s each" if pages else ""
        print(f"{one.annotator:>16}  {one.name}: {counted(pages, 'page')}{each}")


def _backup(arguments: argparse.Namespace) -> None:
    """Copy a store as it is at this moment, even while it is served. Nobody has to wait."""
    _settings(arguments)
    from dbce_spark.annotation.store import workbench_store

    workbench_store.backup(arguments.store, arguments.output)
    print(f"{arguments.output}: {Path(arguments.output).stat().st_size:,} bytes")


def _export(arguments: argparse.Namespace) -> None:
    """Write pages and submissions as JSON lines: pages.jsonl and submissions.jsonl, which `dbce labels merge` and `dbce
    labels agreement` read."""
    _settings(arguments)
    from dbce_spark.annotation.store import store_export

    corpus = arguments.corpus or ""
    print(store_export.export(arguments.store, arguments.output, corpus, configuration.default()))


def _adapt(arguments: argparse.Namespace) -> None:
    """Adapt an output to its sites by labels of a few pages, round by round: correct the classifier by all labels in
    the store, extract the sites of labelled pages again, report what has changed, and add pages of the most doubtful
    templates (docs/annotation.md)."""
    adapt_command.adapt(arguments, _settings(arguments, "corpus", "pages_a_round"))


def _settings(arguments: argparse.Namespace, *names: str) -> "WorkbenchSettings":
    """Return the settings of the workbench, overlaid by those that options give, once the packages that it needs are
    there."""
    try:
        import argon2  # noqa: F401
        import flask  # noqa: F401
        import tinycss2  # noqa: F401
        import waitress  # noqa: F401
    except ImportError as error:
        raise PlatformError(f"{error.name} is not installed; run {installs('annotate')}") from error
    from dbce_spark.annotation.store.workbench_settings import settings

    return settings({name: getattr(arguments, name) for name in names})
