"""The main job without Spark, for inputs that one process holds: the same tables with the same bytes.

It reads, compares, labels and writes as the stages of `extract_job` do, by the same functions, in lists and dicts. It
keeps no checkpoints: a run that was ended is done again. PySpark need not be installed.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa

from dbce_spark.archive.revisits import Resolved, fetch_times, lost_original
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import duplicates, sites
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.dbce.pages import losses, unique
from dbce_spark.errors import OutputError
from dbce_spark.files import storage, timestamps
from dbce_spark.log import Log, repeat
from dbce_spark.model import ComparedPage, Page, Reject, Revisit, Seen
from dbce_spark.output.schemas import capture_rows, duplicate_rows, reject_rows
from dbce_spark.spark.engine import merge_tasks, sandbox, worker
from dbce_spark.spark.run import (
    duplicate_files,
    extraction_files,
    heartbeat,
    matched_revisits,
    merged_pages,
    plan,
    run_lock,
    run_output,
    run_report,
    single_files,
)
from dbce_spark.spark.run.extraction_files import ExtractionFiles
from dbce_spark.spark.run.merged_pages import MergedPages
from dbce_spark.spark.run.record_counts import RecordCounts
from dbce_spark.spark.run.record_outcomes import RecordOutcomes, page_batches
from dbce_spark.spark.run.run_account import ORIGINAL_LOST, RunAccount, count_unlabelled
from dbce_spark.spark.run.run_report import Effort
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.spark.run.stage_counts import ComparedSites


@dataclass(slots=True)
class SourceRecords:
    """The records that were read of one file; `htmls` has the HTML of each page where that is kept."""

    pages: list[Page] = field(default_factory=list)
    htmls: list[bytes | None] = field(default_factory=list)
    revisits: list[Revisit] = field(default_factory=list)
    counts: RecordCounts = field(default_factory=RecordCounts)
    rejects: list[Reject] = field(default_factory=list)


@dataclass(slots=True)
class _Extracted:
    """Further products of writing the extractions: the TEXTS rows of each part, and the rejects of pages that could not
    be labelled, by capture id."""

    texts: list[pa.RecordBatch] = field(default_factory=list)
    unlabelled: dict[str, Reject] = field(default_factory=dict)


def run(request: RunRequest, config: DbceConfig, log: Log | None = None) -> dict[str, Any]:
    """Do all of a run that reads whole files; return the content of run.json.

    Raises:
        OutputError: as `extract_job.run`.
    """
    with run_lock.hold(request.work), heartbeat.keeping_failure(request.work):
        try:
            return _Work(request, config, log or run_output.identify(Log(), request, config)).run()
        except OSError as error:
            raise OutputError(f"{request.output}: {error}; {storage.remedy(error)}") from error


class _Work:
    """A run at work: its stages, with the seconds of each."""

    def __init__(self, request: RunRequest, config: DbceConfig, log: Log):
        self._request, self._config, self._log = request, config, log
        self._output = request.output.rstrip("/")
        self._seconds: dict[str, float] = {}
        self._beat = replace(heartbeat.begin(log), keeps=False)
        self._account = RunAccount(sources=len(request.files), is_increment=False)

    def run(self) -> dict[str, Any]:
        self._request.goes_on(self._config)  # raises where another run has ended since this one was checked
        run_output.begin(self._request, self._config)
        self._spent("start", time.monotonic() - self._request.started)
        with self._stage("pages"):
            sources = self._read()
        with self._stage("revisits"):
            shared, lost = self._revisits(sources)
        with self._stage("sites"):
            kept = unique(page for source in sources for page in source.pages)
            compared = self._compare(kept)
        with self._stage("extractions"):
            seen = fetch_times([page.capture for page in kept], shared)
            extracted = self._write_extractions(sources, compared, seen)
            without_labels = [lost_original(one) for one in shared if one.original_id in extracted.unlabelled]
            self._account.statuses[ORIGINAL_LOST] = len(without_labels)
            read = [one for source in sources for one in source.rejects]
            rejects = reject_rows.rejects_batch([*read, *lost, *extracted.unlabelled.values(), *without_labels])
            single_files.write_rejects(self._output, pa.Table.from_batches([rejects]))
        if self._config.duplicates.find:
            with self._stage("duplicates"):
                self._write_duplicates(extracted.texts)
        with self._stage("captures"):
            self._write_captures(
                [page for page in kept if page.capture_id not in extracted.unlabelled],
                [one for one in shared if one.original_id not in extracted.unlabelled],
            )
        return self._end()

    def _read(self) -> list[SourceRecords]:
        """Read all files, each in a process that can be spared."""
        sandbox.load_parser(self._config)
        worker.prepare()
        work = partial(read_source, config=self._config, with_html=self._request.keeps_html(self._config))
        reader = sandbox.Sandbox[str, SourceRecords](partial(work, attempt=0), self._config.page.max_seconds)
        sources = []
        with reader:
            for path in sorted(self._request.files):
                try:
                    sources.append(reader.result(path))
                except sandbox.Lost:  # a page ends its process, and then costs no more than itself
                    sources.append(work(path, attempt=2))
        self._account.read([source.counts for source in sources])
        return sources

    def _revisits(self, sources: Sequence[SourceRecords]) -> tuple[list[Resolved], list[Reject]]:
        """Find the originals of revisits: those that share an extraction, and those without an original."""
        captures = [page.capture for source in sources for page in source.pages]
        matched = matched_revisits.match(captures, [revisit for source in sources for revisit in source.revisits])
        self._account.revisits = matched.counts
        return matched.shared, matched.rejects

    def _compare(self, kept: Sequence[Page]) -> dict[str, ComparedPage]:
        """Compare the pages of each site with each other, by their ids."""
        by_site: dict[str, list[Page]] = defaultdict(list)
        for page in kept:
            by_site[page.capture.site].append(page)
        compared: dict[str, ComparedPage] = {}
        sizes = BucketSizes()
        for pages in by_site.values():
            of_site, of_buckets = sites.compare_pages(pages, self._config)
            compared |= {one.page.capture_id: one for one in of_site}
            sizes += of_buckets
        self._account.compared = ComparedSites(sizes)
        return compared

    def _write_extractions(
        self, sources: Sequence[SourceRecords], compared: Mapping[str, ComparedPage], seen: Mapping[str, Seen]
    ) -> _Extracted:
        """Label and write the pages, in parts as Spark's tasks write them."""
        cut = merge_tasks.cut([len(source.pages) for source in sources], self._config.output.rows_per_file)
        left = set(compared)
        statuses: Counter[str] = Counter()
        extracted = _Extracted()

        def gather(page: Page) -> ComparedPage:
            return compared[page.capture_id]

        for task, groups in enumerate(cut.by_task()):
            batches = (_first_ones(source, start, left) for source, start in _starts(sources, groups))
            merged = (
                merged_pages.merge(lot, gather, seen, self._config, self._request.with_html)
                for lot in chain.from_iterable(map(merged_pages.lots, batches))
            )
            statuses += self._write_part(task, merged, extracted)
        if not statuses:
            extraction_files.write_none(self._output)
        self._account.statuses = statuses + count_unlabelled(extracted.unlabelled.values())
        return extracted

    def _write_part(self, task: int, merged: Iterable[MergedPages], extracted: _Extracted) -> Counter[str]:
        """Write the pages of a part, and add its texts and rejects to `extracted`; return the counts of its rows."""
        statuses: Counter[str] = Counter()
        count = 0
        with ExitStack() as open_files:
            files = ExtractionFiles(self._output, task, open_files)
            for one in merged:
                extracted.unlabelled |= one.unlabelled
                if not one.rows.num_rows:
                    continue
                statuses += one.counts()
                files.write_merged(one.rows)
                if self._config.duplicates.find:
                    texts = duplicate_rows.texts_batch(one.rows, self._config.duplicates, task=task, first_row=count)
                    extracted.texts.append(texts)
                    count += len(texts)
        return statuses

    def _write_duplicates(self, texts: Sequence[pa.RecordBatch]) -> None:
        """Mark the texts that are like earlier ones, and write the marks beside the extractions."""
        rows = pa.Table.from_batches(texts, duplicate_rows.TEXTS)
        found = duplicates.mark_texts([], duplicate_rows.texts_from(rows), self._config.duplicates)
        marks = pa.Table.from_batches([duplicate_rows.marks_batch(found, rows)])
        self._account.duplicates = duplicate_files.write_all(self._output, rows, marks)

    def _write_captures(self, kept: Sequence[Page], shared: Sequence[Resolved]) -> None:
        """Write when each URL was fetched, by URL key and time."""
        own = capture_rows.captures_batch([page.capture for page in kept])
        rows = pa.Table.from_batches([own, capture_rows.revisited_batch(shared)])
        single_files.write_captures(self._output, rows)

    def _end(self) -> dict[str, Any]:
        effort = Effort(engine="local", cores=1, seconds=self._seconds, versions=plan.versions())
        report = run_report.report(self._request, self._config, self._log, self._account, effort)
        run_output.finish(self._request, self._log, report)
        return report

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        """Measure a stage, and show that it is at work."""
        began = time.monotonic()
        self._log.stage = name
        beat = replace(self._beat, stage=name, stage_began=timestamps.now())
        show = partial(heartbeat.write, self._request.work, beat)
        show()
        self._log.write("stage_begin", f"{name} begins")
        with self._log.waiting(name), repeat(heartbeat.SECONDS, show):
            yield
        seconds = time.monotonic() - began
        self._log.write("stage_end", f"{name}: {seconds:,.1f} s", {"seconds": round(seconds, 3)})
        self._log.stage = ""
        self._spent(name, seconds)

    def _spent(self, name: str, seconds: float) -> None:
        self._seconds[name] = round(seconds, 3)


def read_source(path: str, config: DbceConfig, *, with_html: bool, attempt: int) -> SourceRecords:
    """Read all records of one file, as the nth attempt at it (`sandbox.reading`)."""
    read = SourceRecords()
    outcomes = RecordOutcomes(read.revisits.append, read.counts, read.rejects)
    with sandbox.reading(path, config, attempt) as reading:
        for pages, htmls in page_batches(reading, outcomes, with_html=with_html, limit=None):
            read.pages += pages
            read.htmls += htmls
    read.counts.losses = losses(path, read.rejects)
    return read


def _starts(sources: Sequence[SourceRecords], groups: Sequence[tuple[int, int]]) -> Iterator[tuple[SourceRecords, int]]:
    """Iterate over the batches of some row groups (file, number): their files, and the numbers of their first pages."""
    for file_no, group in groups:
        first = group * merge_tasks.ROWS_PER_GROUP
        end = min(first + merge_tasks.ROWS_PER_GROUP, len(sources[file_no].pages))
        for start in range(first, end, merge_tasks.BATCH_CAPTURES):
            yield sources[file_no], start


def _first_ones(source: SourceRecords, start: int, left: set[str]) -> list[tuple[Page, bytes | None]]:
    """Take the pages of a batch that did not come before: those that are left, which they are taken from."""
    chosen = []
    stop = start + merge_tasks.BATCH_CAPTURES
    for page, html in zip(source.pages[start:stop], source.htmls[start:stop], strict=True):
        if page.capture_id in left:
            left.remove(page.capture_id)
            chosen.append((page, html))
    return chosen
