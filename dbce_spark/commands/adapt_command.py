"""`dbce annotate adapt`: add the pages that are worth labelling, and extract their sites anew by their labels."""

import argparse
import shlex
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import add_in, add_local_output, count_or_none, default_of
from dbce_spark.commands.terminal import without_controls
from dbce_spark.config import DbceConfig, SelectConfig
from dbce_spark.dbce.classifier.classifier_file import load_classifier, save_classifier
from dbce_spark.errors import InputError, OutputError
from dbce_spark.files import jsonl
from dbce_spark.log import counted

if TYPE_CHECKING:
    from dbce_spark.annotation.doubtful_pages import DoubtfulPage, LabelledOutput
    from dbce_spark.annotation.labelled_pages import ScoredLabels
    from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings
    from dbce_spark.output.output_reader import Output

_CLASSIFIER, _EXTRACTED, _ACCOUNT = "classifier.npz", "extracted", "account.jsonl"
"""Names in the output folder: the corrected classifier, what it extracts of the labelled sites, and the account."""


def add_arguments(step: argparse.ArgumentParser) -> None:
    """Add the arguments behind the store."""
    add_in(step, "read the output or collection here")
    add_local_output(step, "DIR", "write the corrected classifier, what it extracts and the account to this folder")
    step.add_argument(
        "--pages", type=count_or_none, dest="pages_a_round", metavar="N", help="add N pages, of as many templates as"
        f" there are; 0 adds none {default_of('pages_a_round', 'annotate.toml')}",
    )  # fmt: skip
    step.add_argument(
        "--overwrite",
        action="store_true",
        help=f"replace {_CLASSIFIER}, {_EXTRACTED}/ and {_ACCOUNT} of an earlier round",
    )


def adapt(arguments: argparse.Namespace, settings: "WorkbenchSettings") -> None:
    """Do a round with the labels that are there, and prepare the next.

    Raises:
        InputError: the output is not labelled by a classifier, or by one with corrections; its archives are gone; the
            corpus is not in the store, though others are; or the labels are of sites that the output does not have.
        OutputError: an earlier round has written to the folder, and nothing may be replaced.
    """
    from dbce_spark.annotation import doubtful_pages, labelled_pages
    from dbce_spark.annotation.doubtful_pages import LabelledOutput
    from dbce_spark.annotation.store import corpora, stored_pages, stored_submissions, workbench_store
    from dbce_spark.output.output_reader import open_output

    output = open_output(arguments.place)
    config = _config(output)
    if Path(arguments.output).resolve() == Path(arguments.place).resolve():
        raise InputError(f"--in and --output are both {arguments.output}; give another --output")
    workbench_store.create(arguments.store)
    with closing(workbench_store.open_store(arguments.store)) as opened:
        if corpora.names(opened):
            corpora.refuse_unknown(opened, arguments.store, settings.corpus)
        labelled = labelled_pages.read(opened, settings.corpus, config)
        there = {*stored_pages.ids(opened, stored_pages.CORPUS)}
        of_corpus = {*stored_pages.ids(opened, stored_pages.CORPUS, settings.corpus)}
        waiting = len(of_corpus - {one.page for one in stored_submissions.read_submissions(opened)})
    now = _extract_again(arguments, output, labelled, config) if labelled else LabelledOutput(output)
    asked = settings.pages_a_round
    chosen = doubtful_pages.choose(now, there, asked, most_words=settings.max_words)
    if chosen:
        waiting += _add_pages(arguments, settings, config, now, chosen)
    if not chosen:
        print("no page is left to label" if asked else "no page was added")
    elif len(chosen) < asked:
        print(f"{counted(asked, 'page')} were asked for, and no other is left to label")
    for line in _last_lines(arguments, bool(labelled), waiting, asked):
        print(line)


def _add_pages(
    arguments: argparse.Namespace,
    settings: "WorkbenchSettings",
    config: DbceConfig,
    now: "LabelledOutput",
    chosen: Sequence["DoubtfulPage"],
) -> int:
    """Add the chosen pages to the store, and print what labels of each would do; return how many were added."""
    from dbce_spark.annotation import doubtful_pages
    from dbce_spark.annotation.store import page_import
    from dbce_spark.annotation.store.wanted_pages import WantedPages

    wanted = WantedPages(
        capture_ids=frozenset(one.capture_id for one in chosen),
        min_words=settings.min_words,
        max_words=settings.max_words,
        seed=settings.seed,
    )
    archives = page_import.read(doubtful_pages.archives(now.output, {one.site for one in chosen}), config)
    added = page_import.add(arguments.store, archives, wanted, config, settings)
    print(added)
    for one, reached in zip(chosen, doubtful_pages.count_reached(now, chosen, archives.pages), strict=True):
        template = f"its template has {counted(one.pages, 'page')}, {one.doubt:.1f} in doubt"
        print(f"  {without_controls(one.url)}  labels of it reach {counted(reached, 'other page')}; {template}")
    return added.added


def _last_lines(arguments: argparse.Namespace, is_written: bool, waiting: int, asked: int) -> Iterator[str]:
    """Say what was written, what is to be done next with the pages that wait for a label, and what can be done now."""
    folder = Path(arguments.output)
    shown, store = (without_controls(str(one)) for one in (folder, arguments.store))
    needed = "--overwrite" if _holds_something(folder) and not arguments.overwrite else ""
    if is_written:
        yield f"written to {shown}: {_CLASSIFIER}, {_EXTRACTED}/ and {_ACCOUNT}"
    else:
        yield f"nothing was written to {shown}: no page of the store has a label"
    if waiting:
        again = f"then give the same command again{needed and f', with {needed}'}"
        yield f"next: label {counted(waiting, 'page')} (dbce annotate serve {shlex.quote(store)}), {again}"
    elif not asked:
        yield f"next: add pages to label, by the same command with --pages N{needed and f' {needed}'}"
    if is_written:
        path = shlex.quote(f"{shown}/{_CLASSIFIER}")
        yield f"to use the classifier: dbce extract ... --set label.classifier={path}"


def _holds_something(folder: Path) -> bool:
    """Tell whether a folder holds what an earlier round may have written."""
    return folder.is_dir() and any(folder.iterdir())


def _config(output: "Output") -> DbceConfig:
    """Read the parameters that an output was made with.

    Raises:
        InputError: it was not labelled by a classifier, or by one that has corrections.
    """
    config = configuration.fill(DbceConfig, "dbce.toml", given=output.run.get("config"))
    if config.label.by != "classifier":
        raise InputError(f"{output.root} is labelled by {config.label.by}; only a classifier can be corrected")
    if load_classifier(config.label.classifier).corrections.sites:
        raise InputError(
            f"{output.root} is labelled by a classifier with corrections; give the output that was there before, and"
            " the same store: all labels in it are learned again"
        )
    return config


def _extract_again(
    arguments: argparse.Namespace, output: "Output", labelled: Sequence["ScoredLabels"], config: DbceConfig
) -> "LabelledOutput":
    """Extract the sites of labelled pages by a classifier with their corrections, and print and write the account."""
    from dbce_spark.annotation import adaptation_account, doubtful_pages, labelled_pages
    from dbce_spark.output.output_reader import open_output
    from dbce_spark.spark.jobs import local_job
    from dbce_spark.spark.run import run_output
    from dbce_spark.spark.run.run_request import RunRequest

    folder = Path(arguments.output).absolute()
    if _holds_something(folder) and not arguments.overwrite:
        raise OutputError(
            f"{folder} is not empty; give another --output, or --overwrite to replace {_CLASSIFIER}, {_EXTRACTED}/ and"
            f" {_ACCOUNT} in it"
        )
    sites = frozenset(one.labelled.site for one in labelled)
    files = doubtful_pages.archives(output, sites)
    if not files:
        raise InputError(
            f"none of the labelled sites is in {output.root}, such as {min(sites)}; give the output that the pages were"
            " chosen from, or another store"
        )
    request = RunRequest(
        files=files,
        output=str(folder / _EXTRACTED),
        with_html=False,
        limit=None,
        started=time.monotonic(),
        overwrite=arguments.overwrite,
    )
    corrected = replace(
        config,
        label=replace(config.label, classifier=_write_classifier(labelled, config, folder / _CLASSIFIER)),
        select=_only_sites(config, sites),
    )
    run_output.check(request, corrected)
    local_job.run(request, corrected, arguments.log)
    after = open_output(request.output)
    scores = labelled_pages.f1_before_and_after(labelled, config.label)
    account = adaptation_account.account(output, after, scores, sites)
    jsonl.write(str(folder / _ACCOUNT), map(asdict, account))
    print(adaptation_account.as_table(account))
    return doubtful_pages.LabelledOutput(output, after, sites)


def _write_classifier(labelled: Sequence["ScoredLabels"], config: DbceConfig, path: Path) -> str:
    """Write the classifier of an output with what the labels correct; return its path."""
    from dbce_spark.dbce.classifier import site_corrections

    base = load_classifier(config.label.classifier)
    corrections = site_corrections.learn([one.labelled for one in labelled])
    card = {**base.card, "corrected": {"sites": len(corrections.sites), "pages": len(labelled)}}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_classifier(replace(base, corrections=corrections, card=card), path)
    return str(path)


def _only_sites(config: DbceConfig, sites: Collection[str]) -> SelectConfig:
    """Select captures of some sites among those that the output has."""
    named = tuple(sorted(sites))
    if config.input.site == "none":
        return config.select
    if config.input.site == "host":
        return replace(config.select, hosts=named)
    return replace(config.select, domains=named)
