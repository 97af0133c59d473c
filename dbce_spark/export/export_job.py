"""Run `dbce export`: write the parts of an output side by side, each by itself."""

import json
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import active_children, get_context

import pyarrow as pa

import dbce_spark
from dbce_spark.dbce import kept_formats
from dbce_spark.errors import InputError, OutputError
from dbce_spark.export import attributes, documents, shards, site_texts
from dbce_spark.export.export_settings import ExportSettings, WantedRows
from dbce_spark.files import storage
from dbce_spark.log import counted
from dbce_spark.output import output_reader

EXPORT_FILE = "export.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """The parameters of an export: the output or collection to read (`extracted`, of which a `version`), the folder or
    URL to write (`target`), and the format (`to`)."""

    extracted: str
    target: str
    to: str
    wanted: WantedRows
    settings: ExportSettings
    processes: int
    version: int | None = None


@dataclass(slots=True)
class ExportCounts:
    """The number of documents written, and of rows that were not wanted."""

    documents: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PartExport:
    """The export of one part of the output into a folder, by one process. `extracted_by` is the version of the program
    that extracted it."""

    request: ExportRequest
    part: output_reader.OutputPart
    folder: str
    extracted_by: str

    def batches(self, columns: Iterable[str], counts: ExportCounts) -> Iterator[pa.RecordBatch]:
        """Read the wanted rows, and count them. Rows with a long text are few at once, whatever their number."""
        read = [*dict.fromkeys([*columns, *WantedRows.COLUMNS])]
        for batch in self.part.batches(read, rows=self.request.settings.rows):
            wanted = self.request.wanted.select(batch)
            counts.documents += len(wanted)
            counts.left_out += len(batch) - len(wanted)
            yield wanted

    def shard(self, folder: str, number: int) -> str:
        """Build the path of a shard from the number of its part, and its own there."""
        return f"{self.folder}/{folder}/{self.part.number:05}-{number:05}.jsonl.{self.request.settings.compression}"

    def lines(self, batch: pa.RecordBatch, text: str) -> Iterator[bytes]:
        """Write the rows of a batch as documents with the column `text`."""
        return documents.documents(batch, text=text, source=self.request.settings.source, version=self.extracted_by)


def write_jsonl(part: PartExport) -> ExportCounts:
    """Write main texts as documents."""
    counts = ExportCounts()
    rows = part.batches([*documents.COLUMNS, *kept_formats.FORMATS, "text"], counts)
    found = ((line,) for batch in rows for line in part.lines(batch, "text"))
    shards.write(found, lambda number: [part.shard("documents", number)], part.request.settings)
    return counts


def write_dolma(part: PartExport) -> ExportCounts:
    """Write whole pages as documents, and beside them labels and evidence of each piece of their text."""
    counts = ExportCounts()
    source = part.request.settings.source
    rows = part.batches([*documents.COLUMNS, *attributes.COLUMNS], counts)
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
    found = (page for batch in part.batches(site_texts.COLUMNS, counts) for page in site_texts.pages(batch))
    site_texts.write(found, part.folder, part.request.settings.name_bytes)
    return counts


FORMATS: Mapping[str, Callable[[PartExport], ExportCounts]] = {
    "jsonl": write_jsonl,
    "text": write_text,
    "dolma": write_dolma,
}


def export(request: ExportRequest) -> str:
    """Write an output in another format, whole or not at all. Return a summary for a person.

    Raises:
        OutputError: what is to be exported is no finished output or is damaged, or the target is not empty or cannot be
            written.
        InputError: there is no such version, or it has no row that is asked for.
    """
    extracted = output_reader.open_output(request.extracted, request.version)
    version = str(extracted.run.get("versions", {}).get("dbce_spark", ""))
    total = ExportCounts()
    with storage.atomic_folder(request.target) as folder:
        extracted.check()
        parts = [
            PartExport(request=request, part=part, folder=folder, extracted_by=version) for part in extracted.parts()
        ]
        for counts in _written(parts, request):
            total.documents += counts.documents
            total.left_out += counts.left_out
        if total.left_out and not total.documents:
            raise InputError(
                f"{request.extracted}: none of its {total.left_out:,} rows is asked for; nothing is written"
            )
        storage.write(f"{folder}/{EXPORT_FILE}", _account(request, extracted, total).encode())
    return f"{counted(total.documents, 'document')} in {request.target}" + (
        f"; {total.left_out:,} were not asked for" if total.left_out else ""
    )


def _written(parts: list[PartExport], request: ExportRequest) -> Iterator[ExportCounts]:
    """Write all parts; iterate over their counts in order."""
    processes = min(request.processes, len(parts))
    if processes < 2:
        yield from map(_write, parts)
        return
    with ExitStack() as stack:
        # Not by a fork: Arrow and the drivers of object stores have threads.
        pool: Executor = stack.enter_context(ProcessPoolExecutor(processes, get_context("spawn")))
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
    return FORMATS[part.request.to](part)


def _account(request: ExportRequest, extracted: output_reader.Output, total: ExportCounts) -> str:
    """Write export.json: the run it was made of, and the settings. Nothing in it depends on the time or the place."""
    account = {
        "to": request.to,
        **asdict(total),
        "plan": extracted.run.get("plan"),
        **({"collection": extracted.run["collection"]} if "collection" in extracted.run else {}),
        "wanted": {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in asdict(request.wanted).items()
        },
        "settings": asdict(request.settings),
        "versions": {"dbce_spark": dbce_spark.__version__, "extracted_by": extracted.run.get("versions", {})},
    }
    return json.dumps(account, indent=1, ensure_ascii=False) + "\n"
