"""`dbce annotate`: a store of archived pages that people label in their browsers."""

import argparse
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import INPUT_HELP, count, names, stoppable
from dbce_spark.errors import PlatformError

if TYPE_CHECKING:
    from dbce_spark.annotation.workbench_settings import Settings

_STORE_HELP = "the store: one SQLite file"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds it to the commands of `dbce`."""
    command = commands.add_parser(
        "annotate",
        help="let people label archived pages in their browsers",
        description="Let people label archived pages in their browsers (docs/annotation.md). Needs pip install"
        " 'dbce-spark[annotate]'. What is not said otherwise is in conf/annotate.toml.",
    )
    steps = command.add_subparsers(title="steps", required=True, metavar="STEP")
    _add_add(steps)
    _add_take(steps)
    _add_account(steps)
    _add_serve(steps)
    _add_status(steps)
    _add_backup(steps)
    _add_export(steps)


def _add_add(steps: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    step = steps.add_parser(
        "add",
        help="put pages of web archives into a store",
        description="Put pages of web archives into a store, with all that they load. It is made if it is not there.",
    )
    step.add_argument("store", metavar="STORE", help=_STORE_HELP)
    step.add_argument("--archive", action="extend", nargs="+", required=True, metavar="PATH", help=INPUT_HELP)
    step.add_argument(
        "--min-words", type=count, metavar="N", help="words of a page's text (default: as configured, 500)"
    )
    step.add_argument("--max-words", type=count, metavar="N", help="and at most (default: as configured, 6000)")
    step.add_argument("--site", type=names, default=[], metavar="NAME,...", help="pages of these sites only")
    step.add_argument(
        "--language", type=names, default=[], metavar="TAG,...", help="pages that say they are in one of these"
    )
    step.add_argument(
        "--url", action="append", default=[], metavar="REGEX", help="pages whose URL holds this; may be repeated"
    )
    how_many = step.add_mutually_exclusive_group()
    how_many.add_argument("--one-per-site", action="store_true", help="of each site one page, chosen by the seed")
    how_many.add_argument(
        "--whole-sites", action="store_true", help="of a site that has such a page, all pages and all their snapshots"
    )
    step.add_argument("--sample", type=count, metavar="N", help="N of these pages, or of these sites if they are whole")
    step.add_argument("--seed", type=int, metavar="N", help="of the sample (default: as configured)")
    step.add_argument("--list", metavar="FILE", help="the pages whose URLs stand in FILE, one a line, and no others")
    step.set_defaults(run=_add)


def _add_take(steps: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    step = steps.add_parser(
        "take",
        help="put pages of JSON lines into a store",
        description="Put pages of JSON lines, as export writes them, into a store, which is made if it is not there."
        " They keep their segments. Crosses, as `labels crosses` writes them, have their neighbours beside them. What"
        " pages load is copied from the archives that are given.",
    )
    step.add_argument("store", metavar="STORE", help=_STORE_HELP)
    step.add_argument("pages", nargs="+", metavar="PAGES", help="JSON lines with id, html, text and segments")
    step.add_argument(
        "--archive", action="extend", nargs="+", default=[], metavar="PATH", help=f"with what they load: {INPUT_HELP}"
    )
    step.set_defaults(run=_take)


def _add_account(steps: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    step = steps.add_parser(
        "account",
        help="make an account, or give one another password",
        description="Make an account, or give one that is there another password. The password is printed, once.",
    )
    step.add_argument("store", metavar="STORE", help=_STORE_HELP)
    step.add_argument("name", metavar="NAME", help="what somebody logs in with; no export names it")
    step.add_argument("--admin", action="store_true", help="may see progress, and make and shut accounts")
    step.add_argument("--password-stdin", action="store_true", help="read the password from the first line of stdin")
    step.set_defaults(run=_account)


def _add_serve(steps: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    step = steps.add_parser(
        "serve",
        help="serve a store to browsers",
        description="Serve a store to browsers, on two ports of one process, until it is stopped. What was tagged is"
        " kept, however it is stopped.",
    )
    step.add_argument("store", metavar="STORE", help=_STORE_HELP)
    step.add_argument("--host", metavar="NAME", help="where to listen (default: as configured, this machine only)")
    step.add_argument("--port", type=int, metavar="N", help="for people (default: as configured, 8420)")
    step.add_argument("--replay-port", type=int, metavar="N", help="for archived pages (default: as configured, 8421)")
    step.set_defaults(run=_serve)


def _add_status(steps: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    step = steps.add_parser("status", help="tell how far a store is", description="Tell how far a store is.")
    step.add_argument("store", metavar="STORE", help=_STORE_HELP)
    step.set_defaults(run=_status)


def _add_backup(steps: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    step = steps.add_parser(
        "backup",
        help="copy a store, also while it is served",
        description="Copy a store as it is at this moment, also while it is served. Nobody has to wait.",
    )
    step.add_argument("store", metavar="STORE", help=_STORE_HELP)
    step.add_argument("target", metavar="FILE", help="a file that is not there yet")
    step.set_defaults(run=_backup)


def _add_export(steps: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    step = steps.add_parser(
        "export",
        help="write the pages and what was submitted of them as JSON lines",
        description="Write the pages and what was submitted of them as JSON lines: pages.jsonl and submissions.jsonl,"
        " which merging and agreement read.",
    )
    step.add_argument("store", metavar="STORE", help=_STORE_HELP)
    step.add_argument("target", metavar="DIR", help="a folder; files of these names in it are replaced")
    step.set_defaults(run=_export)


def _add(arguments: argparse.Namespace) -> None:
    settings = _settings(min_words=arguments.min_words, max_words=arguments.max_words, seed=arguments.seed)
    from dbce_spark.annotation import page_import

    wanted = page_import.Wanted(
        sites=tuple(arguments.site),
        languages=tuple(arguments.language),
        urls=tuple(arguments.url),
        listed=page_import.listed(arguments.list) if arguments.list else frozenset(),
        min_words=settings.min_words,
        max_words=settings.max_words,
        one_per_site=arguments.one_per_site,
        whole_sites=arguments.whole_sites,
        sample=arguments.sample,
        seed=settings.seed,
    )
    print(page_import.add(arguments.store, arguments.archive, wanted, configuration.default(), settings))


def _take(arguments: argparse.Namespace) -> None:
    settings = _settings()
    from dbce_spark.annotation import import_export

    print(import_export.take(arguments.store, arguments.pages, arguments.archive, configuration.default(), settings))


def _account(arguments: argparse.Namespace) -> None:
    settings = _settings()
    from dbce_spark.annotation import accounts, workbench_store

    given = sys.stdin.readline().rstrip("\n") if arguments.password_stdin else ""
    with closing(workbench_store.opened(arguments.store)) as opened:
        known = {one.name.lower(): one for one in accounts.all_of(opened)}
        found = known.get(arguments.name.strip().lower())
        if found:
            made = accounts.set_password(opened, found.number, settings, given)
        else:
            made = accounts.add(opened, arguments.name, settings, password=given, is_admin=arguments.admin)
    told = "" if given else f"; the password is {made}"
    print(f"{arguments.name}: {'another password' if found else 'an account'}{told}")


def _serve(arguments: argparse.Namespace) -> None:
    settings = _settings(host=arguments.host, port=arguments.port, replay_port=arguments.replay_port)
    from dbce_spark.annotation.web import workbench_server

    def ready(address: str) -> None:
        print(f"{address}  (archived pages on port {settings.replay_port}; stop with Ctrl-C)", flush=True)

    with stoppable():
        workbench_server.serve(arguments.store, settings, configuration.default(), ready)


def _status(arguments: argparse.Namespace) -> None:
    _settings()
    from dbce_spark.annotation import accounts, drafts, workbench_store

    with closing(workbench_store.opened(arguments.store)) as opened:
        progress, people = drafts.progress(opened), accounts.all_of(opened)
    print(f"{progress.pages:,} pages, {len(people)} accounts, {progress.submissions:,} submissions")
    for submissions, pages in progress.pages_by_submissions.items():
        print(f"{pages:8,} pages with {submissions} submissions")
    for one in people:
        pages, seconds = progress.by_account.get(one.number, (0, 0.0))
        each = f", {seconds / pages:.0f} s each" if pages else ""
        print(f"{one.annotator:>16}  {one.name}: {pages:,} pages{each}")


def _backup(arguments: argparse.Namespace) -> None:
    _settings()
    from dbce_spark.annotation import workbench_store

    workbench_store.backup(arguments.store, arguments.target)
    print(f"{arguments.target}: {Path(arguments.target).stat().st_size:,} bytes")


def _export(arguments: argparse.Namespace) -> None:
    _settings()
    from dbce_spark.annotation import import_export

    print(import_export.export(arguments.store, arguments.target, configuration.default()))


def _settings(**given: object) -> "Settings":
    """What the workbench works with; the packages that it needs are asked for first."""
    try:
        import argon2  # noqa: F401
        import flask  # noqa: F401
        import tinycss2  # noqa: F401
        import waitress  # noqa: F401
    except ImportError as error:
        raise PlatformError(f"{error.name} is not installed; run pip install 'dbce-spark[annotate]'") from error
    from dbce_spark.annotation.workbench_settings import settings

    return settings(given)
