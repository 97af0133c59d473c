"""Run `dbce labels`: from submissions to merged labels, their agreement, and a gold set."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan

from dbce_spark.annotation.labels import agreement, annotator_report, annotators, gold_export, majority
from dbce_spark.annotation.labels.agreement import CorpusAgreement, PageAgreement
from dbce_spark.annotation.labels.labels_settings import LabelsSettings
from dbce_spark.annotation.labels.majority import Master, Merge, MergedPage
from dbce_spark.annotation.markup import cross_tasks, offline_task, page_file, submission
from dbce_spark.annotation.markup.page_file import Sheet
from dbce_spark.annotation.markup.submission import Submission
from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.pages import fetches as archived
from dbce_spark.errors import InputError
from dbce_spark.files import jsonl, sources, storage
from dbce_spark.files.jsonl import Fields
from dbce_spark.log import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelsRequest:
    """The input of a merge: files of pages and of submissions, and annotators who are left out in any case."""

    pages: Sequence[str]
    submissions: Sequence[str]
    excluded: Sequence[str]
    output: str  # a folder
    rules: LabelsSettings


def merge(request: LabelsRequest) -> str:
    """Write merged.jsonl and refused.jsonl, and return a line that counts them.

    Raises:
        InputError: an input cannot be read, or no page has enough submissions.
    """
    found, _ = _merged(request)
    return f"{write_merged(found, request.output)}\nin {request.output}"


def agree(request: LabelsRequest) -> str:
    """Write agreement.jsonl and report.html, and return a line that sums them up.

    Raises:
        InputError: as of `merge`.
    """
    found, words = _merged(request)
    return f"{write_agreement(found, words, request.output, request.rules)}\nin {request.output}"


def export(pages: Sequence[str], merged: str, output: str, *, dataset: str) -> str:
    """Write a gold set, plain or by its name as .xz or .gz, and return a line that counts its pages.

    Raises:
        InputError: an input cannot be read, or they do not fit each other.
    """
    labels = by_page(majority.read(merged))
    jsonl.write(output, gold_export.entries(sheets(pages), labels, dataset=dataset))
    return f"{counted(len(labels), 'page')} in {output}"


def choose_crosses(inputs: Sequence[str], output: str, tasks: str, rules: LabelsSettings, config: DbceConfig) -> str:
    """Write crosses of these archives to be labelled, and return a line that counts them.

    tasks: a folder for a file a cross, to label it in a browser; "" for none.

    Raises:
        InputError: there is no such file, or no capture in them has a neighbour.
    """
    files = sources.expand(inputs, config.input.patterns)
    fetched = (one for path in files for one in archived(path, config) if isinstance(one, Fetch))
    chosen = cross_tasks.sample_tasks(cross_tasks.annotate_crosses(fetched, config), rules)
    if not chosen:
        raise InputError("no page of these archives has a similar page of its site; give archives of whole sites")
    cross_tasks.write(output, chosen)
    if tasks:
        offline_task.write(tasks.rstrip("/"), chosen)
    sites = len({one.sheet.site for one in chosen})
    segments = sum(len(one.sheet.segments) for one in chosen)
    return f"{len(chosen):,} crosses of {counted(sites, 'site')} with {counted(segments, 'segment')} in {output}"


def write_merged(found: Merge, output: str) -> str:
    """Write merged.jsonl and refused.jsonl to a folder, and return a line that counts them."""
    folder = output.rstrip("/")  # may be a URL
    majority.write(f"{folder}/merged.jsonl", found.pages)
    jsonl.write(f"{folder}/refused.jsonl", map(asdict, found.refused))
    return (
        f"{counted(len(found.counted), 'submission')} to {counted(len(found.pages), 'page')};"
        f" {len(found.refused):,} refused, {len(found.too_few):,} pages have too few"
    )


def write_agreement(found: Merge, words: Mapping[str, Sequence[int]], output: str, rules: LabelsSettings) -> str:
    """Write agreement.jsonl and report.html to a folder, and return a line with the agreement.

    words: of each page the words of its segments.
    """
    agreed = agreement.measure_corpus([(page, words[page.page]) for page in found.pages])
    times = annotators.times(found.counted, whisker=rules.whisker)
    folder, report = output.rstrip("/"), annotator_report.html(found, agreed, times, smoothing=rules.smoothing)
    jsonl.write(f"{folder}/agreement.jsonl", map(_agreement_fields, agreed.pages))
    storage.write(f"{folder}/report.html", report.encode())
    return _summary(agreed)


def sheets(paths: Iterable[str]) -> Iterator[Sheet]:
    """Yield the pages of several files."""
    return (one for path in paths for one in page_file.read(path))


def by_page(pages: Iterable[MergedPage]) -> dict[str, MergedPage]:
    """Return merged pages by their ids.

    Raises:
        InputError: one is there twice.
    """
    found: dict[str, MergedPage] = {}
    for one in pages:
        if one.page in found:
            raise InputError(f"{one.page} is merged twice; give each page once")
        found[one.page] = one
    return found


def _merged(request: LabelsRequest) -> tuple[Merge, Mapping[str, Sequence[int]]]:
    """Return the merge, and the number of words of each segment by page. Pages are read one at a time: their HTML is
    large."""
    corpus: dict[str, Master] = {}
    words: dict[str, Sequence[int]] = {}
    for one in sheets(request.pages):
        if one.page in corpus:
            raise InputError(f"two pages have the id {one.page}; give each once")
        corpus[one.page] = majority.master(one)
        words[one.page] = [len(text.split()) for text in one.texts]
    submissions: list[Submission] = [one for path in request.submissions for one in submission.read(path)]
    excluded = dict.fromkeys(request.excluded, "asked for")
    found = annotators.without_outliers(corpus, submissions, excluded=excluded, rules=request.rules)
    if not found.pages:
        raise InputError(
            f"none of {len(corpus)} pages has {request.rules.minimum_submissions} submissions that count; see"
            " --min-submissions"
        )
    return found, words


def _agreement_fields(agreement: PageAgreement) -> Fields:
    return {
        "page": agreement.page,
        "annotators": agreement.annotators,
        "segments": agreement.by_segments.items,
        "words": agreement.words,
        "observed": agreement.by_segments.observed,
        "expected": agreement.by_segments.expected,
        "pi": agreement.by_segments.pi,
        "pi_by_words": agreement.by_words.pi,
    }


def _summary(agreed: CorpusAgreement) -> str:
    """Return the line that sums up an agreement."""
    averaged = sum(not isnan(page.by_segments.pi) for page in agreed.pages)
    return (
        f"pi {annotator_report.number(agreed.mean)} (by words {annotator_report.number(agreed.mean_by_words)}),"
        f" the mean of {counted(averaged, 'page')};"
        f" of all segments at once {annotator_report.number(agreed.pooled.pi)}"
    )
