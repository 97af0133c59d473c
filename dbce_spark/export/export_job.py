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
class Task:
    """A part of the output to be written into a folder by one process."""

    part: output_reader.OutputPart
    folder: str
    to: str
    version: str
    wanted: WantedRows
    settings: ExportSettings

    def batches(self, columns: Iterable[str], counts: ExportCounts) -> Iterator[pa.RecordBatch]:
        """Read the wanted rows, and count them. Rows with a long text are few at once, whatever their number."""
        read = [*dict.fromkeys([*columns, *self.wanted.COLUMNS])]
        for batch in self.part.batches(read, rows=self.settings.rows):
            wanted = self.wanted.select(batch)
            counts.documents += len(wanted)
            counts.left_out += len(batch) - len(wanted)
            yield wanted

    def shard(self, folder: str, number: int) -> str:
        """Build the path of a shard from the number of its part, and its own there."""
        return f"{self.folder}/{folder}/{self.part.number:05}-{number:05}.jsonl.{self.settings.compression}"

    def lines(self, batch: pa.RecordBatch, text: str) -> Iterator[bytes]:
        return documents.documents(batch, text=text, source=self.settings.source, version=self.version)


def write_jsonl(task: Task) -> ExportCounts:
    """Write main texts as documents."""
    counts = ExportCounts()
    rows = task.batches([*documents.COLUMNS, *kept_formats.FORMATS, "text"], counts)
    found = ((line,) for batch in rows for line in task.lines(batch, "text"))
    shards.write(found, lambda number: [task.shard("documents", number)], task.settings)
    return counts


def write_dolma(task: Task) -> ExportCounts:
    """Write whole pages as documents, and beside them labels and evidence of each piece of their text."""
    counts = ExportCounts()
    source = task.settings.source
    rows = task.batches([*documents.COLUMNS, *attributes.COLUMNS], counts)
    found = (
        lines
        for batch in rows
        for lines in zip(
            task.lines(batch, "page_text"),
            attributes.labels(batch, source),
            attributes.evidence(batch, source),
            strict=True,
        )
    )
    folders = ["documents", *(f"attributes/{name}" for name in attributes.FOLDERS)]
    shards.write(found, lambda number: [task.shard(folder, number) for folder in folders], task.settings)
    return counts


def write_text(task: Task) -> ExportCounts:
    """Write main texts as plain text, by site."""
    counts = ExportCounts()
    found = (page for batch in task.batches(site_texts.COLUMNS, counts) for page in site_texts.pages(batch))
    site_texts.write(found, task.folder, task.settings.name_bytes)
    return counts


FORMATS: Mapping[str, Callable[[Task], ExportCounts]] = {"jsonl": write_jsonl, "text": write_text, "dolma": write_dolma}


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
        tasks = [
            Task(
                part=part,
                folder=folder,
                to=request.to,
                version=version,
                wanted=request.wanted,
                settings=request.settings,
            )
            for part in extracted.parts()
        ]
        for counts in _done(tasks, request):
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


def _done(tasks: list[Task], request: ExportRequest) -> Iterator[ExportCounts]:
    processes = min(request.processes, len(tasks))
    if processes < 2:
        yield from map(_write, tasks)
        return
    with ExitStack() as stack:
        # Not by a fork: Arrow and the drivers of object stores have threads.
        pool: Executor = stack.enter_context(ProcessPoolExecutor(processes, get_context("spawn")))
        # Not by `map`, which cancels what waits when it is stopped: a pool that is ended then has an error of its own.
        with _deaf_processes():
            waiting = [pool.submit(_write, task) for task in tasks]
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
def _deaf_processes() -> Iterator[None]:
    """Leave Ctrl-C, which all processes of a terminal get, to this one: those begun within the block do not hear it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _write(task: Task) -> ExportCounts:
    return FORMATS[task.to](task)


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
