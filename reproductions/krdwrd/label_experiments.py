"""Experiments on labels: the thesis's test cases, machine learning, and KrdWrd's corpus."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from dbce_spark.annotation.labels import labelling, labels_job, majority
from dbce_spark.annotation.labels.labels_settings import rules
from dbce_spark.annotation.markup import cross_tasks, page_file, rendering
from dbce_spark.annotation.markup.submission import tag_words
from dbce_spark.config import DbceConfig
from dbce_spark.errors import InputError
from dbce_spark.files import jsonl, storage
from reproductions.krdwrd import canola, labelled_crosses, svm


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnRequest:
    """The files that machines learn from, and those that are written."""

    pages: Sequence[str]
    labels: str
    output: str
    renderings: str = ""  # what `render` wrote, "" for none: then nothing is learnt of how pages look
    screenshots: str = ""  # the folder of its pictures, "" for none: then nothing is learnt of pixels
    predictions: str = ""  # a folder for the labels that each machine gives every page; "" for none


def score_crosses(paths: Sequence[str], labels: str, output: str, config: DbceConfig) -> str:
    """Write tables of T001 to T006 on labelled crosses as Markdown, and return them.

    Raises:
        InputError: an input cannot be read, or no cross has labels.
    """
    some = (one for path in paths for one in cross_tasks.read(path))
    report = labelled_crosses.report(labelled_crosses.measure(some, labelling.read(labels), config))
    storage.write(output, report.encode())
    return report


def learn(request: LearnRequest) -> str:
    """Write a table of what machines learn of the labels as Markdown, and return it.

    Raises:
        InputError: an input cannot be read, or they do not belong together.
    """
    if request.screenshots and not request.renderings:
        raise InputError("pictures say nothing without the boxes of segments; give --rendering, too")
    shown = {one.page: one for one in rendering.read(request.renderings)} if request.renderings else {}
    seen = svm.vectors(labels_job.sheets(request.pages), labelling.read(request.labels), shown, request.screenshots)
    by = svm.plan()
    with tqdm(desc="trained", unit=" machines", disable=None) as bar:
        compared = svm.compare(seen, by, lambda _: bar.update())
    report = svm.table(compared.results)
    for one in compared.results if request.predictions else ():
        found = compared.labelling(seen, one.name)
        jsonl.write(
            str(Path(request.predictions) / f"{one.name.replace(' ', '-')}.jsonl"),
            ({"page": page, "tags": tag_words(tags)} for page, tags in found.items()),
        )
    storage.write(request.output, report.encode())
    return f"{report}{len(seen.is_content):,} segments of {seen.pages.max() + 1:,} pages, {by.folds} folds by pages\n"


def convert_canola(corpus: str, votes: str, output: str) -> str:
    """Write KrdWrd's corpus as pages.jsonl and gold.jsonl, and its votes, merged, as votes.jsonl; with the report.

    corpus: its pages as JSON lines with `html_annotated`; votes: the folder of its votes.

    Raises:
        InputError: one cannot be read.
    """
    by = rules({})
    read = list(canola.read(votes))
    some = [one for page in read for one in page.submissions]
    found = majority.merge({one.page: one.master for one in read}, some, minimum=by.minimum_submissions, excluded={})
    majority.write(str(Path(output) / "votes.jsonl"), found.pages)
    pages = list(canola.pages(corpus))
    page_file.write(str(Path(output) / "pages.jsonl"), (page for page, _ in pages))
    gold = ({"page": page.page, "tags": tag_words(tags)} for page, tags in pages)
    jsonl.write(str(Path(output) / "gold.jsonl"), gold)
    report = labels_job.write_agreement(found, {one.page: one.words for one in read}, output, by)
    return f"{len(pages):,} pages, {len(found.counted):,} submissions of {len(found.pages):,}; {report}\nin {output}"
