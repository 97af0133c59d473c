"""Run `dbce export`: write the parts of an output side by side, each by itself."""

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from multiprocessing import active_children, get_context

import pyarrow as pa

import dbce_spark
from dbce_spark.dbce.kept import kept_formats
from dbce_spark.errors import InputError, OutputError
from dbce_spark.export import attributes, documents, row_filters, shards, site_texts
from dbce_spark.export.export_settings import ExportSettings
from dbce_spark.export.relative_paths import relative_paths
from dbce_spark.export.row_filters import Filter, Values
from dbce_spark.files import storage
from dbce_spark.log import counted
from dbce_spark.output import output_reader
from dbce_spark.output.collection import check_outside

EXPORT_FILE = "export.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """The parameters of an export: the output or collection to read (`extracted`, of which a `version`), the folder or
    URL to write (`target`), and the format (of FORMATS)."""

    extracted: str
    target: str
    format: str
    settings: ExportSettings
    processes: int
    version: int | None = None
    relative_to: str = ""

    def filters(self) -> list[Filter]:
        """List the filters of rows. Raises as `row_filters.chosen`."""
        return [*row_filters.chosen(self.settings.filters, "filters"), *FORMATS[self.format].filters]


@dataclass(slots=True)
class ExportCounts:
    """The number of documents written, of the rows that each filter removed, and of their values, where filters list
    them."""

    documents: int = 0
    removed: Counter[str] = field(default_factory=Counter)
    values: Values = field(default_factory=dict)

    def add(self, other: "ExportCounts") -> None:
        """Add the counts of a part."""
        self.documents += other.documents
        self.removed += other.removed
        for name, counts in other.values.items():
            self.values.setdefault(name, Counter()).update(counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartExport:
    """The export of one part of the output into a folder, by one process. `stored` are the columns that there are,
    `extracted_by` is the version of the program that extracted it, `site_kind` the `input.site` that it had."""

    request: ExportRequest
    part: output_reader.OutputPart
    folder: str
    stored: frozenset[str]
    extracted_by: str
    site_kind: str

    def batches(
        self, counts: ExportCounts, needed: Iterable[str], also: Iterable[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows that filters leave, and count all. Of the columns `also` those are read that there are. Rows
        with a long text are few at once, whatever their number."""
        filters = self.request.filters()
        there = (name for name in also if name in self.stored)
        read = [*dict.fromkeys([*needed, *there, *(one.column for one in filters)])]
        for batch in self.part.batches(read, rows=self.request.settings.rows):
            outcome = row_filters.outcomes(batch, filters)
            is_left = outcome == len(filters)
            counts.documents += int(is_left.sum())
            counts.removed.update(filters[at].name for at in outcome[~is_left])
            row_filters.count_values(counts.values, batch, filters)
            left = batch if is_left.all() else batch.filter(pa.array(is_left))
            yield relative_paths(left, self.request.relative_to)

    def shard(self, folder: str, number: int) -> str:
        """Build the path of a shard from the number of its part, and its own there."""
        return f"{self.folder}/{folder}/{self.part.number:05}-{number:05}.jsonl.{self.request.settings.compression}"

    def lines(self, batch: pa.RecordBatch, text: str) -> Iterator[bytes]:
        """Write the rows of a batch as documents with the column `text`."""
        return documents.documents(batch, text=text, source=self.request.settings.source, version=self.extracted_by)


def write_documents(part: PartExport, text: str) -> ExportCounts:
    """Write main texts, from the column `text`, as documents."""
    counts = ExportCounts()
    rows = part.batches(counts, [*documents.NEEDED, text], [*documents.ALSO, *kept_formats.FORMATS])
    found = ((line,) for batch in rows for line in part.lines(batch, text))
    shards.write(found, lambda number: [part.shard("documents", number)], part.request.settings)
    return counts


def write_dolma(part: PartExport) -> ExportCounts:
    """Write whole pages as documents, and beside them labels and evidence of each piece of their text."""
    counts = ExportCounts()
    source = part.request.settings.source
    rows = part.batches(counts, attributes.NEEDED, documents.ALSO)
    found = (
        lines
        for batch in rows
        for lines in zip(
            part.lines(batch, "page_text"),
            attributes.labels(batch, source),
            attributes.evidence(batch, source),
            strict=True,
        )
    )
    folders = ["documents", *(f"attributes/{name}" for name in attributes.FOLDERS)]
    shards.write(found, lambda number: [part.shard(folder, number) for folder in folders], part.request.settings)
    return counts


def write_text(part: PartExport) -> ExportCounts:
    """Write main texts as plain text, by site."""
    counts = ExportCounts()
    rows = part.batches(counts, site_texts.NEEDED, site_texts.ALSO)
    found = (page for batch in rows for page in site_texts.pages(batch, part.site_kind))
    site_texts.write(found, part.folder, part.request.settings.name_bytes)
    return counts


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format: the function that writes a part in it, the filters that it adds, and whether it is of documents in
    shards, which `source`, `compression` and `shard_bytes` are for."""

    write: Callable[[PartExport], ExportCounts]
    filters: tuple[Filter, ...] = ()
    has_shards: bool = True


FORMATS: Mapping[str, ExportFormat] = {
    "jsonl": ExportFormat(partial(write_documents, text="text")),
    "markdown": ExportFormat(
        partial(write_documents, text=kept_formats.MARKDOWN), filters=(row_filters.with_markdown(),)
    ),
    "text": ExportFormat(write_text, has_shards=False),
    "dolma": ExportFormat(write_dolma),
}


def export(request: ExportRequest) -> str:
    """Write an output in another format, whole or not at all. Return a summary for a person.

    Raises:
        OutputError: what is to be exported is no finished output, is damaged or lacks a column, or the target is not
            empty or cannot be written.
        InputError: there is no such version, or no such site can be there, or filters leave no row.
    """
    filters = request.filters()
    extracted = output_reader.open_output(request.extracted, request.version)
    row_filters.check_sites(request.settings.filters.sites, request.extracted, extracted.run)
    version = str(extracted.run.get("versions", {}).get("dbce_spark", ""))
    site_kind = row_filters.site_kind(extracted.run) or "domain"
    total = ExportCounts()
    check_outside(request.target)
    with storage.atomic_folder(request.target) as folder:
        extracted.check()
        parts, stored = extracted.parts(), frozenset(extracted.schema().names)
        if parts:
            row_filters.check_columns(filters, request.extracted, stored)
        of_parts = (
            PartExport(
                request=request, part=part, folder=folder, stored=stored, extracted_by=version, site_kind=site_kind
            )
            for part in parts
        )
        for counts in _written([*of_parts], request):
            total.add(counts)
        removed = {one.name: total.removed[one.name] for one in filters}
        if removed.get(kept_formats.MARKDOWN) and not total.documents:
            raise InputError(
                f"{request.extracted}: no row that is left has Markdown, so nothing is written; extract it with"
                " --format text,markdown"
            )
        if not total.documents:
            raise row_filters.nothing_left(request.extracted, removed, total.values)
        storage.write(f"{folder}/{EXPORT_FILE}", _account(request, extracted, total.documents, removed).encode())
    took = ", ".join(f"{count:,} by {name}" for name, count in removed.items() if count)
    return f"{counted(total.documents, 'document')} in {request.target}" + (f"; removed are {took}" if took else "")


def _written(parts: list[PartExport], request: ExportRequest) -> Iterator[ExportCounts]:
    """Write all parts; iterate over their counts in order."""
    processes = min(request.processes, len(parts))
    if processes < 2:
        yield from map(_write, parts)
        return
    others = active_children()  # of a program that calls this
    # Not by a fork: Arrow and the drivers of object stores have threads.
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        # Not by `map`, which cancels what waits when it is stopped: a pool that is ended then has an error of its own.
        with _without_interrupts():
            waiting = [pool.submit(_write, part) for part in parts]
        try:
            for one in waiting:
                yield one.result()
        except BrokenProcessPool as error:
            raise OutputError(
                f"{request.target}: a process that was writing it was ended from outside, most likely for want of"
                " memory; give fewer --processes"
            ) from error
        except BaseException:
            for child in active_children():
                if child not in others:
                    child.terminate()
            raise


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Leave Ctrl-C, which all processes of a terminal get, to this one: those begun within the block ignore it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _write(part: PartExport) -> ExportCounts:
    return FORMATS[part.request.format].write(part)


def _account(
    request: ExportRequest, extracted: output_reader.Output, documents: int, removed: Mapping[str, int]
) -> str:
    """Write export.json: the run it was made of, and the settings. Nothing in it depends on the time or the place."""
    account = {
        "format": request.format,
        "documents": documents,
        "removed": removed,
        "plan": extracted.run.get("plan"),
        **({"collection": extracted.run["collection"]} if "collection" in extracted.run else {}),
        "settings": asdict(request.settings),
        "versions": {"dbce_spark": dbce_spark.__version__, "extracted_by": extracted.run.get("versions", {})},
    }
    return json.dumps(account, indent=1, ensure_ascii=False) + "\n"
